"""The numbers in the README's picture, which a command in docs/measure/report.md draws from a record."""

import re
from html import unescape

import quantities
import rounds
from digits import FIGURE, Figure, shown_like
from quantities import Measured

PAGE = "docs/measure/report.md"
COMMAND = re.compile(
    r'bookend report --record records/(?:[a-z0-9-]+/)?([a-z-]+)/full\.\S+ [^`]*?--case "([^"]+)"'
)
FILE = re.compile(r"docs/pictures/[a-z-]+\.svg")
BETWEEN = rf"({FIGURE}) × \[({FIGURE}) - ({FIGURE})\]"
RATIO = re.compile(rf"(\S+) / (\S+): [~?]?{BETWEEN} by rate, {BETWEEN} per CPU-second of the server")
READING = "~ not told apart from 1."
METRICS = ("requests_per_second", "requests_per_cpu_second")


def check(readme, root, ours, findings):
    command = COMMAND.search((root / PAGE).read_text())
    if not command:
        findings.unknown(PAGE, "no command that draws the picture of the README")
        return
    suite, case = command.groups()
    record = rounds.read(ours.records, suite)
    for file in sorted(set(FILE.findall(readme))):
        check_picture(file, (root / file).read_text(), record, case, findings)


def check_picture(file, svg, record, case, findings):
    """Its texts: `measured with INSTRUMENT`, then names with their rates, then ratios.
    Those of CPU time are in no page, so they are not checked here."""
    texts = [unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]
    instrument = name = None
    for text in texts[1:]:
        place = f"{file}, {name} via {instrument}"
        if text == f"{case}: requests per second (longer is better), median of {record.rounds} rounds":
            findings.figures += 1
        elif text.startswith("measured with "):
            instrument = text.removeprefix("measured with ")
        elif ratio := RATIO.fullmatch(text):
            check_ratio(file, ratio.groups(), instrument, record, case, findings)
        elif rate := re.fullmatch(rf"({FIGURE}) /s", text):
            quantity = {"metric": METRICS[0], "of": f"{name} via {instrument}", "cases": [case]}
            compare(place, rate.groups(), quantity, record, findings)
        elif is_subject(text, record):
            name = text
        elif text == READING:
            continue
        elif re.search(r"\d", text) and not re.fullmatch(r"[\d,.]+[kM]?", text):
            findings.unknown(place, text)


def is_subject(text, record):
    return any(text == one["name"] for one in record.facts["plan"]["subjects"])


def check_ratio(file, groups, instrument, record, case, findings):
    own, other, *figures = groups
    names = {"of": f"{own} via {instrument}", "over": f"{other} via {instrument}"}
    for metric, told in zip(METRICS, (figures[:3], figures[3:])):
        place = f"{file}, {own} over {other} via {instrument}, {metric}"
        compare(place, told, {"metric": metric, **names, "cases": [case]}, record, findings)


def compare(place, told, quantity, record, findings):
    """A figure, and the ends of its interval where they are told."""
    estimates = quantities.evaluate(quantity, Measured(record)).estimates
    own = (estimates[0].value, *(estimates[0].interval or ())) if estimates else ()
    for text, value in zip(told, own):
        findings.figures += 1
        if not Figure.parse(text).shows(value):
            findings.differs(place, text, f"{shown_like(text, value)} ({value:.6g})")
    if len(told) > len(own):
        findings.differs(place, told, own)
