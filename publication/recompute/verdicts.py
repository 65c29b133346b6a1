"""The verdicts on a suite's RESULTS.md: the findings, their tally, and a line for each claim."""

import re

import failed
import heads
import pages
import tables
from digits import FIGURE
from findings import Findings


def check(page, suite, judged, findings):
    section = pages.section(page, "Verdicts") or ""
    heads.check_findings(section, [judged], findings)
    check_tally(f"{suite}/RESULTS.md, tally", heads.words(section), judged, findings)
    rows = tables.table_rows(section)
    for one in heads.sentences(judged):
        place = f"{suite}/RESULTS.md: {one.claim['id']}"
        row = tables.claim_row(rows, one.claim)
        if row is None or len(row) not in (5, 6):
            findings.unknown(place, row or "it has no line in the table")
        else:
            check_line(place, row, one, findings)


def check_line(place, row, one, findings):
    """Here the outcome of the first question is apart from its figure, and the one that counts."""
    mark, published, figure, other, outcome, *field = row
    if mark != failed.mark(one.answers):
        findings.differs(f"{place}, mark", mark or "none", failed.mark(one.answers) or "none")
    if not is_start(published, one.claim["published"]):
        findings.differs(f"{place}, printed", published, one.claim["published"])
    failed.check_field(place, field[0] if field else "-", one.answers, findings)
    check_figure(place, figure.removeprefix("-"), one.answers[0], one.claim, findings)
    check_outcome(place, outcome, one.answers[0], findings)
    words = "|".join(sorted(tables.SHORT.values(), key=len, reverse=True))
    if match := re.fullmatch(rf"(.*?) ?({words})", other):
        figure, outcome = match.groups()
        check_outcome(place, outcome, one.answers[-1], findings)
        if figure:  # one that is too wide is left out
            check_figure(place, figure, one.answers[1], one.claim, findings)
    if (other == "-") != (len(one.answers) == 1) or not (match or other == "-"):
        findings.unknown(place, other)


def is_start(told, text):
    return told == text or (told.endswith("…") and text.startswith(told[:-1].strip()))


def check_outcome(place, told, answer, findings):
    findings.outcomes += 1
    if told != tables.SHORT[answer.counted()]:
        findings.differs(f"{place}, outcome", told, answer.counted())


def check_figure(place, text, answer, claim, findings):
    """As claims.md has it, or without the ratio behind what it is of, which is too wide."""
    trial = Findings()
    tables.check_field(place, text, answer, trial, claim)
    alone = re.fullmatch(rf"({FIGURE})(?: to ({FIGURE}))?", tables.with_units(text))
    if trial.wrong and alone and answer.evaluation:
        tables.check_beside(place, *alone.groups(), answer, findings)
    else:
        findings.add(trial)


def check_tally(place, text, judged, findings):
    told = re.search(r"Of (\d+) claims: ([^.]*)\.(?: Is it so\? ([^.]*)\.)?", text)
    total, *texts = told.groups() if told else (None, None, None)
    asked = [one.answers for one in heads.sentences(judged)]
    findings.figures += 1
    if total != str(len(asked)):
        findings.differs(place, total, len(asked))
    for question, words in enumerate(texts):
        counts = re.findall(r"(\d+) ([a-z ]+)", words or "")
        own = heads.outcomes_counted([one[question] for one in asked if len(one) > question])
        findings.figures += len(counts)
        if {word.strip(): int(count) for count, word in counts} != own:
            findings.differs(place, words, own)
