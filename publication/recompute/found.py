"""What pages of suites say was found: sentences of results.toml with figures of a record in them
(docs/measure/results.md, How a page looks)."""

import re
import tomllib

import failed
import quantities
import rounds
from digits import FIGURE, Figure, shown_like
from quantities import Measured

FAILED = rf"({failed.SHARE}) of the calls failed"
LIKE = rf"({FIGURE})(?: \((?:({FIGURE}) to ({FIGURE}))?(?:; )?(?:{FAILED})?\))?"
NO_FINDING = "No finding is printed: its figures are of two runs"
# Metrics that divide by something of the record's own choice, and what is divided.
RATIOS = {"cost_ratio": "requests_per_cpu_second", "rate_ratio": "requests_per_second"}
OF_INSTRUMENTS = {"instrument_cost_ratio": "requests_per_client_cpu_second"}


def check_pages(root, ours, findings):
    for file in sorted(root.glob("suites/*/results.toml")):
        declared = tomllib.loads(file.read_text())
        page, suite = file.with_name("RESULTS.md"), file.parent.name
        if declared.get("found") and page.is_file():
            text = " ".join(page.read_text().split())
            if NO_FINDING in text and rounds.read(ours.records, suite).facts.get("joined"):
                findings.take("findings that wait for one run")
            elif check_found(text, suite, declared, ours, findings) == text:
                findings.unknown(f"{suite}/RESULTS.md", "it does not say what was found")


def check_found(text, suite, declared, ours, findings):
    """The text without the sentence of a suite, whose figures are compared."""
    record = rounds.read(ours.records, suite) or rounds.read(ours.records, suite, "quick")
    names = re.findall(r"\{([^}]+)\}", declared["found"])
    match = sentence_in(text, declared)
    if not match:
        return text
    groups = iter(match.groups())
    for name in names:
        place = f"{suite}, found: {name}"
        if is_words(name):
            check_words(place, next(groups), record, findings)
        else:
            told = [next(groups) for _ in range(4)]
            check_figure(place, told, declared["figures"][name], record, findings)
    return text.replace(match.group(), " ")


def sentence_in(text, declared):
    """Where `text` says what was found: a group for words, four for a figure."""
    pattern = re.escape(" ".join(declared["found"].split()))
    return re.search(re.sub(r"\\\{.+?\\\}", piece, pattern), text)


def is_words(name):
    """`ghz.via` and `version of tonic` stand for words, with versions in them."""
    return "." in name or " " in name


def piece(match):
    name = re.sub(r"\\(.)", r"\1", match.group())[1:-1]
    return "([^:()]{1,90}?)" if is_words(name) else LIKE


def check_words(place, words, record, findings):
    """Each version must be one that a program of the record printed."""
    known = str(record.facts["versions"])
    for version in re.findall(r"\d+(?:\.\d+)+", words):
        findings.figures += 1
        if version not in known:
            findings.differs(place, version, "no such version")


def check_figure(place, told, figure, record, findings):
    quantity = quantity_of(figure, record)
    evaluation = quantities.evaluate(quantity, Measured(record))
    estimates, (*told, share) = evaluation.estimates, told
    most = max(failed.shares_of(evaluation, record).values(), default=None)
    findings.figures += 1 if share else 0
    if (share is None) != (most is None) or (share and not failed.shows(share, most)):
        findings.differs(f"{place}, failed calls", share, most)
    if not estimates:
        findings.differs(place, told[0], "nothing")
        return
    ends = estimates[0].interval or (None, None)
    for text, value in zip(told, (estimates[0].value, *ends)):
        if text is not None:
            findings.figures += 1
            if value is None or not Figure.parse(text).shows(value):
                findings.differs(place, text, value and shown_like(text, value))


def quantity_of(figure, record):
    """As claims.toml has it: with the instrument of each subject, and what ratios divide by."""
    case, metric, via = figure["case"], figure["metric"], figure.get("via")
    own, other = figure["of"], figure.get("over")
    if metric in RATIOS:
        other = next(one["name"] for one in record.facts["plan"]["subjects"] if one["baseline"])
    first = instruments(record, own, case)[0]
    quantity = {"metric": metric, "of": f"{own} via {via or first}", "cases": [case]}
    if metric in OF_INSTRUMENTS:
        quantity |= {"metric": OF_INSTRUMENTS[metric], "over": f"{own} via {first}"}
    elif other:
        quantity |= {"metric": RATIOS.get(metric, metric)}
        quantity |= {"over": f"{other} via {instrument_of(record, other, case, via or first)}"}
    return quantity


def instruments(record, subject, case):
    """The subject's own client first, then in the order in which the record has them."""
    own = (row["cell"] for row in record.rows if row["cell"]["subject"] == subject)
    names = dict.fromkeys(cell["instrument"] for cell in own if cell["case"] == case)
    family = lambda name: name.partition("/")[0]
    return sorted(names, key=lambda name: family(name) != family(subject))


def instrument_of(record, subject, case, wanted):
    """The same instrument, or for subjects with clients of their own, that of the same name."""
    own = instruments(record, subject, case)
    kind = wanted.partition("/")[2]
    same_kind = (one for one in own if one.partition("/")[2] == kind)
    return wanted if wanted in own else next(same_kind, own[0])
