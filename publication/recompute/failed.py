"""The share of calls that failed in the cells that an answer rests on (docs/measure/metrics.md,
Failed calls): above 1 % its outcome says it, below in a sentence of its own."""

import re

import metrics
import quantities
from digits import Figure
from rounds import Name
from sentences import CASE

TOLD_ABOVE, MARKED_ABOVE = 0.01, 0.001
SHARE = r"[<>]?\d+(?:\.\d+)? %"
CASES = rf"{CASE}(?:(?:, | and ){CASE})*"
CLAUSE = re.compile(rf"({SHARE})(?: to ({SHARE}))? of ([\w./-]+)'s calls failed at ({CASES})")
CELL = rf"{SHARE} of [\w./-]+ at {CASE}"
FEW = re.compile(rf"Some calls failed: ({CELL}(?:(?:, | and ){CELL})*)\.")
ONE = re.compile(rf"({SHARE}) of ([\w./-]+) at ({CASE})")


def shares(answer):
    """Of the cells that an answer rests on."""
    return shares_of(answer.evaluation, answer.record)


def shares_of(evaluation, record):
    """By (subject, case): of all measured rounds together; without cells in which none failed."""
    found = {}
    if evaluation is None or record is None:
        return found
    quantity = evaluation.quantity
    died = [one.partition(": ")[0] for one in evaluation.died]
    for case in quantity["cases"] + died:
        own = (Name.parse(quantity["of"]), case)
        divisor = quantities.divisor_of(quantity, case)
        pairs = [(own, divisor and divisor[1])] + ([(divisor[1], own)] if divisor else [])
        for cell, other in pairs:
            rows = [row["outcome"] for row in record.rows_of(cell, other)]
            windows = [one for one in rows if one["outcome"] == "measured"]
            lost = sum(map(metrics.failed, windows))
            if lost:
                ended = lost + sum(one["ok"] for one in windows)
                found[cell[0].subject, cell[1]] = lost / ended
    return found


def shows(text, share):
    """Neither none nor all is printed of a share that is not."""
    if text == "<0.1 %":
        return 0 < share < 0.0005
    if text == ">99.9 %":
        return 0.9995 <= share < 1
    if text[0] in "<>":
        return False
    return Figure.parse(text).shows(share)


def mark(answers):
    """In front of a name: more calls failed in a cell than may fail without one."""
    most = max((share for answer in answers for share in shares(answer).values()), default=0)
    return "!" if most > MARKED_ABOVE else ""


def check_clauses(place, text, known, findings):
    """`26.4 % to 29.1 % of X's calls failed at CASE, CASE and CASE`: every cell above 1 %."""
    own = {cell: share for cell, share in known.items() if share > TOLD_ABOVE}
    told = set()
    for low, high, subject, cases in CLAUSE.findall(text):
        cells = [(subject, case) for case in re.findall(CASE, cases)]
        told |= set(cells)
        ends = [own[cell] for cell in cells if cell in own]
        findings.figures += 2 if high else 1
        if ends and not (shows(low, min(ends)) and shows(high or low, max(ends))):
            findings.differs(f"{place}, failed calls", (low, high), (min(ends), max(ends)))
    if told != own.keys():
        findings.differs(f"{place}, failed calls", sorted(told), sorted(own))
    left = CLAUSE.sub(" ", text)
    if re.search(r"\d", left):
        findings.unknown(place, left)


def check_few(place, text, answer, findings):
    """Takes the sentence on cells with fewer failed calls out of a text."""
    own = {cell: share for cell, share in shares(answer).items() if share <= TOLD_ABOVE}
    match = FEW.search(text)
    each = ONE.findall(match.group(1)) if match else []
    told = {(name, case): share for share, name, case in each}
    findings.figures += len(told)
    is_same = told.keys() == own.keys() and all(shows(told[cell], own[cell]) for cell in told)
    if not is_same:
        findings.differs(f"{place}, few failed calls", told, own)
    return text.replace(match.group(), " ") if match else text


def check_field(place, field, answers, findings):
    """The largest share in the cells that any answer rests on; `-`: none failed."""
    most = max((share for answer in answers for share in shares(answer).values()), default=0)
    findings.figures += field != "-"
    if not (field == "-" if most == 0 else field != "-" and shows(field, most)):
        findings.differs(f"{place}, failed", field, most)


def without(text):
    """A text without its clauses on failed calls."""
    clause = rf"{CLAUSE.pattern}(?: and {CLAUSE.pattern})*"
    return re.sub(rf"(?:, while|;? But|;) {clause}|{clause}", "", text)
