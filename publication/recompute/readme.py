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
from quantities import Measured, Printed
from rounds import Name

DECLARED = Path(__file__).with_name("readme.toml")
TABLE = re.compile(r"^\| CPU time per call .*?(?=^$)", re.MULTILINE | re.DOTALL)
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
NO_PROSE = re.compile(
    r"```.*?```"  # commands and what they print
    r"|<[^>]*>"
    r"|\]\([^)]*\)"  # where links lead
    r"|https?://\S+",
    re.DOTALL,
)
CIRCUMSTANCES = re.compile(
    r"\[record\]\(records/(?:[a-z0-9-]+/)?([a-z-]+)/[^)]*\): (\d{4}-\d\d-\d\d), (?:quick, )?(\d+) rounds?"
    r"(?: of ([\d.]+ m?s))?"
)
def check(text, ours, findings, declared=None):
    declared = declared or tomllib.loads(DECLARED.read_text())
    parts = tomllib.loads((ours.root / "publication" / "readme.toml").read_text())["parts"]
    tables = [part for part in parts if "table" in part]
    for table, part in zip(TABLE.findall(text), tables, strict=True):
        check_table(table, part, ours, findings)
    text = heads.words(TABLE.sub(" ", text))
    text = heads.words(NO_PROSE.sub(" ", check_suites(text, parts, ours, findings)))
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


def check_suites(text, parts, ours, findings):
    """`FINDING ([page](...), [record](records/SUITE/...): DATE, N rounds of WINDOW`."""
    for match in list(CIRCUMSTANCES.finditer(text)):
        suite, *told = match.groups()
        record = rounds.read(ours.records, suite) or rounds.read(ours.records, suite, "quick")
        findings.figures += 3
        if told != circumstances(record, told[2] is not None):
            findings.differs(f"README.md, record of {suite}", match.group(), circumstances(record))
        text = text.replace(match.group(), " ")
    of_part = lambda part: part.get("findings", []) + [part[key] for key in part if key == "sentence"]
    for finding in (one for part in parts for one in of_part(part)):
        suite = finding["suite"]
        if "published" in finding:
            findings.take("sentences on what was published")
            text = text.replace(finding["published"], " ")
        declared = tomllib.loads((ours.root / "suites" / suite / "results.toml").read_text())
        told = declared | {"found": finding["text"]}
        left = found.check_found(text, suite, told, ours, findings)
        if left == text:
            findings.unknown("README.md", f"no finding of {suite}")
        text = left
    return text


def circumstances(record, by_time=True):
    """The day on which a run began, its rounds, and its window with a unit."""
    day = datetime.fromtimestamp(record.facts["started"] / 1e3, timezone.utc)
    window = record.facts["plan"]["window_ms"]
    window = f"{window // 1000} s" if window % 1000 == 0 else f"{window} ms"
    made = len({row["round"] for row in record.rows if row["round"] < record.rounds})
    return [f"{day:%Y-%m-%d}", str(made), window if by_time else None]


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


def check_table(table, part, ours, findings):
    """The CPU time of a call: a row a subject and a column a case, as the part declares them."""
    declared = part["table"]
    record = rounds.read(ours.records, declared["suite"])
    headings, _, *rows = [line.strip("| ").split(" | ") for line in table.strip().splitlines()]
    columns = declared["columns"]
    if headings[1:] != [column["heading"] for column in columns]:
        findings.unknown("README.md", f"no such columns: {headings[1:]}")
    for subject, row in zip(declared["subjects"], rows, strict=True):
        found.check_words(f"README.md, {subject}", row[0], record, findings)
        for column, told in zip(columns, row[1:], strict=True):
            place = f"README.md, {column['case']}, {subject}"
            cost = of_cell(record, Name(subject, declared["via"]), column["case"])
            figure, unit = told.split(" ", 1)
            check_figure(place, figure, cost and cost / UNITS.get(unit, 1.0), findings)


def check_figure(place, told, value, findings):
    findings.figures += 1
    if value is None or told is None or not Figure.parse(told).shows(value):
        has_both = told and value is not None
        findings.differs(place, told, shown_like(told, value) if has_both else value)


@functools.cache
def of_cell(record, name, case):
    """CPU seconds of a call, the median of the rounds."""
    rows = record.rows_of((name, case))
    measured = [row for row in rows if row["outcome"]["outcome"] == "measured"]
    costs = [1 / metrics.of_round("requests_per_cpu_second", row) for row in measured]
    return median(costs) if costs else None
