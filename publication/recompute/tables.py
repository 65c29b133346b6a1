"""The narrow tables of claims.md: a line with a figure and an outcome for each question."""

import re

import failed
import quantities
import shown
from digits import FIGURE, Figure, shown_like

SHORT = {
    "replicated": "replicated",
    "more than claimed": "more",
    "did not replicate": "not replicated",
    "refuted by its own table": "refuted",
    "undecided": "undecided",
    "not comparable here": "not comparable",
    "differs between runs": "differs",
}


def table_rows(text):
    """By its first field: the other fields of each line of a table."""
    lines = (line for line in text.splitlines() if line.startswith("| "))
    fields = ([field.strip() for field in line.strip("|").split("|")] for line in lines)
    return {first: rest for first, *rest in fields}


def claim_row(rows, claim):
    """The line of a claim, whose name may have a mark in front and may be cut short."""
    name = " ".join(claim.get("short", claim["claim"]).split())
    for first, rest in rows.items():
        mark, told = re.fullmatch(r"(! )?(.*)", first).groups()
        if told == name or (told.endswith("…") and name.startswith(told[:-1])):
            return [(mark or "").strip(), *rest]
    return None


def check_cells(where, row, one, findings):
    """The line of the narrow table: figure and outcome of each question."""
    if row is None or len(row) not in (4, 5):
        findings.unknown(where, "it has no line in the table")
        return
    mark, published, *cells = row
    own = failed.mark(one.answers)
    if mark != own:
        findings.differs(f"{where}, table, mark", mark or "none", own or "none")
    if cells[2:]:
        failed.check_field(f"{where}, table", cells.pop(), one.answers, findings)
    elif any(map(failed.shares, one.answers)):
        findings.differs(f"{where}, table, failed", "nothing", "a share")
    if published != one.claim["published"]:
        findings.differs(f"{where}, table, printed", published, one.claim["published"])
    if len(one.answers) == 1 and cells[1] != "-":
        findings.unknown(f"{where}, table", cells[1])
    words = "|".join(sorted(SHORT.values(), key=len, reverse=True))
    for cell, answer in zip(cells, one.answers):
        at = f"{where}, table"
        match = re.fullmatch(rf"(.*?) ?({words})(?:; again ({words}))?", cell)
        if not match:
            findings.unknown(at, cell)
            continue
        figure, word, again = match.groups()
        own = [SHORT.get(outcome) for outcome in answer.both()]
        findings.outcomes += 1
        if [word, again] != own:
            findings.differs(f"{at}, outcome", cell, own)
        check_field(at, figure, answer, findings, one.claim)


def check_field(where, text, answer, findings, claim=None):
    """A figure or a range; or the figures that a ratio is of: `A and B`, or `A to B: ratio`."""
    evaluation = answer.evaluation
    if claim and evaluation:
        evaluation = shown.shown_as(claim, evaluation.quantity).evaluation(evaluation)
    text = with_units(text)
    pair = re.fullmatch(rf"({FIGURE}) and ({FIGURE})", text)
    alone = re.fullmatch(rf"({FIGURE})(?: to ({FIGURE}))?: (.+)", text)
    plain = re.fullmatch(rf"({FIGURE})(?: to ({FIGURE}))?", text)
    if pair:
        check_pair(where, pair.groups(), answer, findings)
    elif alone:
        low, high, ratio = alone.groups()
        check_beside(where, low, high, answer, findings)
        low, high = re.fullmatch(rf"({FIGURE})(?: to ({FIGURE}))?", ratio).groups()
        check_range(where, low, high, evaluation, findings)
    elif plain or not text:
        low, high = plain.groups() if plain else (None, None)
        check_range(where, low, high, evaluation, findings)
    else:
        findings.unknown(where, text)


def with_units(text):
    """A unit that two figures share stands once."""
    shared = re.match(r"([\d.]+)(?= (?:and|to) [\d.]+( [A-Za-zµ%]+)\b)", text)
    return shared.group(1) + shared.group(2) + text[shared.end(1) :] if shared else text


def values_by_case(answer):
    """The figures that a ratio is of: (of a case, of what it is divided by), medians."""
    quantity, record = answer.evaluation.quantity, answer.record
    alone = {key: quantity[key] for key in ("metric", "of", "cases")}
    own = quantities.evaluate(alone, quantities.Measured(record)).estimates
    if "over" not in quantity:
        return [(one.value, None) for one in own]
    other = quantities.evaluate({**alone, "of": quantity["over"]}, quantities.Measured(record))
    by_place = {one.place: one.value for one in other.estimates}
    return [(one.value, by_place.get(one.place)) for one in own]


def check_pair(where, told, answer, findings):
    findings.figures += 2
    first, then = map(Figure.parse, told)
    known = [pair for pair in values_by_case(answer) if None not in pair]
    fits = any(
        (first.shows(a) and then.shows(b)) or (first.shows(b) and then.shows(a)) for a, b in known
    )
    if not fits:
        findings.differs(where, " and ".join(told), known)


def check_beside(where, low, high, answer, findings):
    """The first and the last, or the smallest and the largest, of what a ratio is of."""
    own = [value for value, _ in values_by_case(answer)]
    is_growth = answer.evaluation.quantity.get("take") == "growth"
    ends = (own[0], own[-1]) if is_growth else (min(own), max(own))
    for text, value in zip((low, high or low), ends):
        findings.figures += 1
        if not Figure.parse(text).shows(value):
            findings.differs(where, text, f"{shown_like(text, value)} ({value:.6g})")


def check_range(where, low, high, evaluation, findings):
    """The smallest and the largest figure of the cases, one where they look the same."""
    values = [one.value for one in evaluation.shown()] if evaluation else []
    if not values:
        if low:
            findings.differs(where, low, "no figure")
        return
    if low is None:
        findings.differs(where, "no figure", f"{min(values):.6g} to {max(values):.6g}")
        return
    for text, value in ((low, min(values)), (high or low, max(values))):
        findings.figures += 1
        if not Figure.parse(text).shows(value):
            findings.differs(where, text, f"{shown_like(text, value)} ({value:.6g})")
