"""Every number of the README: recomputed, declared in readme.toml to be of no record, or wrong."""

import functools
import re
import tomllib
from datetime import datetime, timezone
from pathlib import Path

import found
import heads
import metrics
import quantities
import rounds
from digits import FIGURE, Figure, shown_like
from intervals import median
from latencies import merged
from quantities import Measured, Printed
from rounds import Name

DECLARED = Path(__file__).with_name("readme.toml")
TABLE = re.compile(r"^\| name .*?(?=^-+$)", re.MULTILINE | re.DOTALL)
NO_PROSE = re.compile(
    r"```.*?```"  # commands and what they print
    r"|<[^>]*>"
    r"|\]\([^)]*\)"  # where links lead
    r"|https?://\S+",
    re.DOTALL,
)
CIRCUMSTANCES = re.compile(
    r"\[record\]\(records/([a-z-]+)/[^)]*\): (\d{4}-\d\d-\d\d), (?:quick, )?(\d+) rounds?"
    r"(?: of ([\d.]+ m?s))?"
)
COLUMNS = {
    "req/s": "requests_per_second",
    "avg. cpu": "server_cpu_mean",
    "avg. latency": "latency_mean",
    "90 % in": "latency_p90",
    "95 % in": "latency_p95",
    "99 % in": "latency_p99",
    "avg. memory": "memory_mean",
}


def check(text, ours, findings, declared=None):
    declared = declared or tomllib.loads(DECLARED.read_text())
    for table in TABLE.findall(text):
        check_table(table, declared["table"]["record"], ours, findings)
    text = heads.words(check_tallies(text, ours, findings))
    text = NO_PROSE.sub(" ", check_parts(check_suites(text, ours, findings), ours, findings))
    text = heads.words(text)
    for one in heads.check_findings(text, ours.published().values(), findings, is_head=False):
        text = text.replace(one, " ")
    for sentence in declared.get("sentences", []):
        text = check_sentence(text, sentence, declared.get("quantities", {}), ours, findings)
    for sentence in declared["no_record"]:
        findings.take("numbers of the README that no record has")
        text = text.replace(heads.words(sentence["text"]), " ")
    tokens = text.split()
    for place, token in enumerate(tokens):
        if re.search(r"(?<![\w/])\d", token):  # but HTTP/2 and h2load are names
            around = " ".join(tokens[max(place - 4, 0) : place + 4])
            findings.unknown("README.md", f"“{around}”: no record has it by readme.toml")


def check_suites(text, ours, findings):
    """`[record](records/SUITE/...): DATE, N rounds of WINDOW`, and what results.toml says of it."""
    for match in list(CIRCUMSTANCES.finditer(text)):
        suite, *told = match.groups()
        record = rounds.read(ours.records, suite) or rounds.read(ours.records, suite, "quick")
        findings.figures += 3
        if told != circumstances(record, told[2] is not None):
            findings.differs(f"README.md, record of {suite}", match.group(), circumstances(record))
        text = text.replace(match.group(), " ")
        declared = tomllib.loads((ours.root / "suites" / suite / "results.toml").read_text())
        if heads.words(declared.get("said", "")) in text and declared.get("said"):
            findings.take("sentences on what was published")
            text = text.replace(heads.words(declared["said"]), " ")
        text = found.check_found(text, suite, declared, ours, findings)
    return text


def circumstances(record, by_time=True):
    """The day on which a run began, its rounds, and its window with a unit."""
    day = datetime.fromtimestamp(record.facts["started"] / 1e3, timezone.utc)
    window = record.facts["plan"]["window_ms"]
    window = f"{window // 1000} s" if window % 1000 == 0 else f"{window} ms"
    made = len({row["round"] for row in record.rows if row["round"] < record.rounds})
    return [f"{day:%Y-%m-%d}", str(made), window if by_time else None]


def check_parts(text, ours, findings):
    """Prose of publication/readme.toml, whose figures are of cases of one suite."""
    file = ours.root / "publication" / "readme.toml"
    parts = tomllib.loads(file.read_text())["parts"] if file.is_file() else []
    for part in (part for part in parts if part.get("text")):
        pattern = re.escape(heads.words(part["text"]))
        figure = rf"({FIGURE})(?: to ({FIGURE}))?"
        match = re.search(re.sub(r"\\\{\w+\\\}", lambda _: figure, pattern), text)
        if not match:
            findings.unknown("README.md", f"no part {part['name']}")
            continue
        groups = iter(match.groups())
        for name in re.findall(r"\{(\w+)\}", part["text"]):
            place = f"README.md, {part['name']}, {name}"
            values = part_values(part["figures"][name], part["suite"], ours)
            low = next(groups)
            for told, value in ((low, min(values)), (next(groups) or low, max(values))):
                check_figure(place, told, value, findings)
        text = text.replace(match.group(), " ")
    return text


def part_values(figure, suite, ours):
    """Of each case."""
    document = ours.documents[suite]
    quantity = {key: figure[key] for key in ("metric", "cases")}
    via = f" via {figure['via']}" if "via" in figure else ""
    quantity |= {key: figure[key] + via for key in ("of", "over") if key in figure}
    is_printed = figure.get("is_printed")
    figures = Printed(document.rows) if is_printed else Measured(document.own)
    return [one.value for one in quantities.evaluate(quantity, figures).estimates]


def check_tallies(text, ours, findings):
    """`N claims: N replicated, ...` in the line that names the page of a suite."""
    left = []
    for line in text.splitlines():
        suite = re.match(r"\| \[([a-z-]+)\]", line)
        counts = re.search(r"(\d+) claims: ([^|]*)", line)
        if suite and counts and suite.group(1) in ours.judged:
            name = suite.group(1)
            parts = re.findall(r"(\d+) ([a-z ]+)", counts.group(2))
            told = {word.strip(): int(count) for count, word in parts}
            answers = [one.answers[0] for one in heads.sentences(ours.judged[name])]
            total, own = len(answers), heads.outcomes_counted(answers)
            findings.figures += 1 + len(told)
            if told != own or int(counts.group(1)) != total:
                findings.differs(f"README.md, {name}", counts.group(), own)
            line = line.replace(counts.group(), " ")
        left.append(line)
    return "\n".join(left)


def check_sentence(text, sentence, declared, ours, findings):
    """Takes a declared sentence out of the text, after a look at each of its figures."""
    pattern = re.escape(heads.words(sentence["text"])).replace(r"\{\}", f"({FIGURE})")
    match = re.search(pattern, text)
    if not match:
        findings.unknown("readme.toml", f"no such sentence: {sentence['text']}")
        return text
    for told, what in zip(match.groups(), sentence["figures"], strict=True):
        value = value_of(what, declared, ours)
        findings.figures += 1
        if not Figure.parse(told).shows(value):
            place = f"README.md, “{sentence['text']}”"
            findings.differs(place, told, f"{shown_like(told, value)} ({value:.6g})")
    return text.replace(match.group(), " ")


def value_of(what, declared, ours):
    """`smallest NAME`, `largest NAME` or `NAME`: of the cases of a quantity."""
    *word, name = what.split()
    quantity = declared[name]
    document = ours.documents[quantity["suite"]]
    figures = Printed(document.rows) if quantity.get("published") else Measured(document.own)
    own = quantities.evaluate(document.with_cases(quantity, quantity), figures)
    if own.missing:
        raise ValueError(f"{name}: {own.missing[0]}")
    values = [one.value for one in own.estimates]
    return {"smallest": min, "largest": max, "": lambda one: one[0]}["".join(word)](values)


def check_table(table, suite, ours, findings):
    """The table that `bookend report` prints, of the record of a suite."""
    record = rounds.read(ours.records, suite)
    headings, connections, case, ratio = None, None, None, None
    for line in table.splitlines():
        fields = [field.strip() for field in line.strip("|").split("|")]
        if match := re.match(r"--C=(\d+):", line):
            connections = match.group(1)
        elif match := re.match(r"----S=(\d+)-+(?:\^([\d.]+)-+)?$", line):
            case, ratio = f"C={connections} S={match.group(1)}", match.group(2)
            check_figure(f"README.md, {case}, ^", ratio, cost_ratio(record, case), findings)
        elif fields[0] == "name":
            headings = fields
        elif line.startswith("|"):
            for heading, told in zip(headings[1:], fields[1:], strict=True):
                place = f"README.md, {case}, {fields[0]}, {heading}"
                value = of_cell(record, COLUMNS[heading], Name.parse(fields[0]), case)
                check_figure(place, told.removeprefix(">= "), value, findings)


def check_figure(place, told, value, findings):
    findings.figures += 1
    if value is None or told is None or not Figure.parse(told).shows(value):
        has_both = told and value is not None
        findings.differs(place, told, shown_like(told, value) if has_both else value)


def cost_ratio(record, case):
    """Of the first subject to the baseline, round by round."""
    subjects = record.facts["plan"]["subjects"]
    baseline = next(one["name"] for one in subjects if one["baseline"])
    quantity = {"metric": "requests_per_cpu_second", "of": subjects[0]["name"], "over": baseline}
    quantity["cases"] = [case]
    own = quantities.evaluate(quantity, Measured(record)).estimates
    return own[0].value if own else None


@functools.cache
def of_cell(record, metric, name, case):
    """The median of the rounds; a latency is one of the calls of all rounds together."""
    rows = record.rows_of((name, case))
    measured = [row for row in rows if row["outcome"]["outcome"] == "measured"]
    if not measured:
        return None
    if metric.startswith("latency_"):
        together = merged([metrics.decoded(row["outcome"]) for row in measured])
        return metrics.of_histogram(metric, together)
    return median([metrics.of_round(metric, row) for row in measured])
