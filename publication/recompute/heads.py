"""The head of claims.md: the findings, and tallies of outcomes."""

import math
import re

import failed
import pages
import tables
from outcomes import DECIDED

ORDER = list(tables.SHORT)
BUT = re.compile(rf" But {failed.CLAUSE.pattern}(?:(?: and |; ){failed.CLAUSE.pattern})*\.")


def words(text):
    return " ".join(text.split())


def sentences(judged):
    return [one for one in judged if not one.claim.get("note")]


def check_findings(text, judged, findings, is_head=True):
    """Every declared sentence in `text`; at the head of claims.md, those that are due are there."""
    text, found = words(text), []
    claims = [one for document in judged for one in sentences(document)]
    for one in (one for one in claims if "finding" in one.claim):
        place = f"{one.claim['id']}, sentence at the head"
        match = pages.conclusion(one, "finding", text)
        if is_head and one.is_told("finding") != bool(match):
            findings.differs(place, "it" if match else "nothing", "nothing" if match else "it")
        if match:
            pages.check_conclusion(place, match, one, "finding", findings)
            but = BUT.match(text, match.end())
            known = failed_beside(one, "finding")
            failed.check_clauses(place, but.group() if but else "", known, findings)
            found.append(match.group() + (but.group() if but else ""))
    return found


def failed_beside(one, conclusion):
    """The shares of the cells that the figures of its conditions are of."""
    same, other = failed.shares(one.answers[0]), failed.shares(one.answers[-1])
    shares = {}
    for condition in one.claim[conclusion]["if"]:
        name = condition["figure"]
        if name in ("same", "other"):
            shares |= other if name == "other" else same
        elif "recorded" in condition:
            shares |= failed.shares_of(one.figures.get(name), one.record)
    return shares


def check_head(page, judged, findings):
    text = pages.section(page, "Findings") or ""
    found = check_findings(text, judged, findings)
    bullets = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
    for bullet in map(words, bullets):
        told = next((one for one in found if one in bullet), None)
        left = bullet.replace(told or "", " ")
        if told is None or re.search(r"\d", re.sub(r"\(\[.*", " ", left)):
            findings.unknown("claims.md, head", bullet)


def tally(answers):
    outcomes = [answer.counted() for answer in answers]
    return [len(outcomes)] + [outcomes.count(one) for one in ORDER]


def outcomes_counted(answers):
    """How many have each outcome, of those that there are."""
    return {word: count for word, count in zip(ORDER, tally(answers)[1:]) if count}


def check_tallies(page, judged, findings):
    """Two tables: of the first question, and of the second where it is asked."""
    text = pages.section(page, "The outcomes") or ""
    halves = re.split(r"^Is it so with", text, flags=re.MULTILINE)
    for question, table in enumerate(halves[:2]):
        rows = tables.table_rows(table)
        columns = rows.get("document", ["claims", *tables.SHORT.values()])
        for suite, claims in judged.items():
            asked = [one.answers for one in sentences(claims) if len(one.answers) > question]
            told = next((row for name, row in rows.items() if name.startswith(f"[{suite}]")), None)
            place = f"claims.md, tally {question + 1} of {suite}"
            total, *each = tally(answers[question] for answers in asked)
            own = dict(zip(tables.SHORT.values(), each)) | {"claims": total}
            findings.figures += len(columns)
            if told != [str(own[column]) for column in columns]:
                findings.differs(place, told, own)


def check_chance(page, judged, findings):
    """How many answers rest on an interval, and how many of them are wrong by chance."""
    sentence = r"Intervals decide (\d+) of the answers above\.[^.]*about (\d+) of"
    match = re.search(sentence, words(page))
    if not match:
        findings.unknown("claims.md", "no sentence on what intervals decide")
        return
    decided = sum(
        answer.outcome in DECIDED and not answer.is_settled and "bounds" not in one.claim
        for claims in judged.values()
        for one in sentences(claims)
        for answer in one.answers
    )
    for told, own in zip(match.groups(), (decided, math.ceil(decided * 0.05 - 1e-9))):
        findings.figures += 1
        if int(told) != own:
            findings.differs("claims.md, decided by intervals", told, own)
