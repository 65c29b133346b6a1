"""The rules of the audit that settle claims (docs/measure/metrics.md, Marks): does a document's own
table refute the sentence? Each gives None, or the figures and words that its finding is told by."""

import re

from digits import FIGURE, Figure
from intervals import Span

FINDING = re.compile(r"Its own table refutes it \((.*)\): ([a-z-]+): (.*?)(?=\.(?: Ours:|[\s.]*$))")
SECOND = 1e9
CUSTOMARY = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1.0)  # percentiles


def too_few_in_flight(row, _document):
    share, streams = row.figure("in_flight_share"), row.first("concurrency")
    if share is None or streams is None or "calls" in row.figures or share.high >= 0.5:
        return None
    return [(share * streams).value, streams.value], []


def ratio_differs(row, document):
    """The printed ratio against that of the row and the next one of its label."""
    printed = row.first("cost_ratio")
    others = (other for other in document.rows if other is not row and other.case == row.case)
    beside = next((other for other in others if other.figure("requests_per_cpu_second")), None)
    if printed is None or beside is None:
        return None
    own = row.figure("requests_per_cpu_second") / beside.figure("requests_per_cpu_second")
    if printed.low <= own.high and own.low <= printed.high:
        return None
    return [printed.value, own.value, own.low, own.high], []


def kib_printed_as_mib(row, document):
    load = ("connections", "concurrency")
    memory = row.first("memory_mean")
    if memory is None or any(name not in row.figures for name in load):
        return None
    busier = [
        (other.figures["memory_mean"], other.case)
        for other in document.rows
        if other.subject == row.subject
        and other is not row
        and all(other.figures[name].value >= row.figures[name].value for name in load)
    ]
    least, case = min(busier, key=lambda one: one[0].value, default=(None, None))
    if least is None or memory.low <= 32 * least.high:
        return None
    rescaled = memory.value / 1024
    if not 1 / 4 < rescaled / least.value < 4:
        return None
    return [memory.value, least.value, rescaled], [f"less to do than {case},", "over 1024"]


def mean_includes_failures(row, document):
    mean, fastest = row.first("latency_mean_all"), row.first("latency_min")
    slowest = row.first("latency_max")
    time_out = document.time_out_ns
    if not (mean and fastest and slowest and time_out):
        return None
    failures = row.failures()
    all_calls = row.figures["count"] * mean
    successes = (all_calls - failures * Span.exact(time_out)) / row.figures["ok"]
    if mean.low <= slowest.high or successes.high < fastest.low or successes.low > slowest.high:
        return None
    allowed = document.histogram_means(row)
    return [mean.value, slowest.value, failures.value, time_out, successes.value, *allowed], []


def rate_includes_failures(row, _document):
    rate, total = row.first("requests_per_second"), row.first("total_time")
    if not (rate and total and "count" in row.figures and "ok" in row.figures):
        return None
    seconds = total * Span.exact(1 / SECOND)
    of_all, goodput = row.figures["count"] / seconds, row.figures["ok"] / seconds

    def is_like(other):  # the rate came from a total with more digits
        return rate.low <= other.high * 1.002 and other.low <= rate.high * 1.002

    if not is_like(of_all) or is_like(goodput):
        return None
    return [rate.value, row.figures["count"].value, goodput.value], []


def not_that_percentile(row, _document):
    """With a mean so short, which share of the calls can be as slow as a percentile?"""
    mean = row.first("latency_mean")
    if mean is None:
        return None
    found = sorted(
        (float(name.removeprefix("latency_p").replace("_", ".")) / 100, span)
        for name, span in row.figures.items()
        if re.fullmatch(r"latency_p[\d_]+", name)
    )
    below, mass = (0.0, Span.exact(0.0)), 0.0
    for percent, slow in found:
        lower, latency = below[0], below[1].low
        if slow.low > latency:
            share = (mean.high - mass - (1 - lower) * latency) / (slow.low - latency)
            if share < 1 - percent:
                can_be = next(one for one in CUSTOMARY if 1 - one <= share)
                words = [f"no p{percent * 100:g};", f"it can be is p{can_be * 100:g}"]
                return [mean.high, share, slow.low], words
        mass += (percent - lower) * latency
        below = (percent, slow)
    return None


RULES = {
    "too-few-in-flight": too_few_in_flight,
    "ratio-differs": ratio_differs,
    "kib-printed-as-mib": kib_printed_as_mib,
    "mean-includes-failures": mean_includes_failures,
    "rate-includes-failures": rate_includes_failures,
    "not-that-percentile": not_that_percentile,
}


def refutation(claim, document):
    """(row, figures) of the first row that a claim's rule finds wrong; None where it finds none."""
    declared = claim["refuted_by"]
    rule = RULES[declared["rule"]]
    for row in document.rows:
        is_meant = declared.get("of", row.subject) == row.subject
        if is_meant and row.case in declared.get("cases", [row.case]):
            figures = rule(row, document)
            if figures:
                return row, figures
    return None


def check_sentence(sentence, found):
    """Takes what a page says of a finding out of the sentence, and compares its figures."""
    match = FINDING.search(sentence.text)
    if match:
        place, _, text = match.groups()
        sentence.text = sentence.text.replace(match.group(), " ")
        if found is None or place != found[0].place:
            sentence.findings.differs(f"{sentence.place}, row", place, found and found[0].place)
        else:
            figures_told(sentence, text, found[1])
    finds_nothing = re.search(r"`ratio-differs` finds nothing in the (\d+) rows", sentence.text)
    if finds_nothing:
        sentence.text = sentence.text.replace(finds_nothing.group(), " ")
        rows = sum("cost_ratio" in row.figures for row in sentence.document.rows)
        sentence.count(finds_nothing.group(1), rows, "rows")


def figures_told(sentence, text, found):
    figures, words = found
    for word in words:
        if word not in text + ".":
            sentence.findings.differs(f"{sentence.place}, finding", text, word)
        text = text.replace(word, " ")
    text = re.sub(r"C=\d+ S=\d+|\bp\d[\d.]*", " ", text)
    text = re.sub(r"([\d.]+) to ([\d.]+ s)\b", r"\1 s to \2", text)
    for told in re.findall(FIGURE, text):
        sentence.findings.figures += 1
        if not any(map(Figure.parse(told).shows, figures)):
            known = ", ".join(f"{figure:.6g}" for figure in figures)
            sentence.findings.differs(f"{sentence.place}, finding", told, f"one of {known}")
