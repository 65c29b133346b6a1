"""The pages that compare outcomes: changed-verdicts.md and repeated.md."""

import re

import failed
import pages
import tables
from heads import sentences, words
from outcomes import DECIDED
from sentences import Sentence

NOW = re.compile(rf"(no claim|{pages.OUTCOME})(, while .*?)?(?:; again ({pages.OUTCOME}))?")


def check_changes(page, judged, findings):
    """`- **id**: earlier; now OUTCOME; is it so: OUTCOME. Why.`, of those that changed."""
    for suite, claims in judged.items():
        text = words(pages.section(page, claims[0].title) or "")
        changed = 0
        known = [one for one in claims if "earlier" in one.claim]
        for one in known:
            now = "; is it so: ".join(answer.counted() for answer in one.answers)
            now = "no claim" if one.claim.get("note") else now
            is_changed = now != one.claim["earlier"]["verdict"]
            changed += is_changed
            check_change(f"changed-verdicts.md: {one.claim['id']}", text, one, is_changed, findings)
        counts = re.search(r"Of (\d+) claims (\d+) have another outcome\.", text)
        findings.figures += 2
        if not counts or list(map(int, counts.groups())) != [len(known), changed]:
            findings.differs(f"changed-verdicts.md: {suite}", counts, [len(known), changed])


def check_change(place, text, one, is_changed, findings):
    claim, why = one.claim, one.claim["earlier"].get("why", "The record is another one.")
    head = re.escape(f"**{claim['id']}**: {claim['earlier']['verdict']}; now ")
    line = re.search(rf"{head}(.*?)\. {re.escape(words(why))}", text)
    findings.outcomes += 1
    if bool(line) != is_changed or (f"**{claim['id']}**" in text) != is_changed:
        findings.differs(place, "a change" if line else "none", "one" if is_changed else "none")
    if not line:
        return
    if re.search(r"\d", why):
        findings.take("reasons with figures why an outcome changed")
    told = line.group(1).split("; is it so: ")
    answers = one.answers[:1] if claim.get("note") else one.answers
    for part, answer in zip(told, answers, strict=True):
        match = NOW.fullmatch(part)
        outcome, clause, again = match.groups() if match else (part, None, None)
        own = ("no claim", None) if claim.get("note") else answer.both()
        findings.outcomes += 1
        if (outcome, again) != own:
            findings.differs(place, part, own)
        if not claim.get("note"):
            failed.check_clauses(place, clause or "", failed.shares(answer), findings)


def check_repeated(page, suite, first, again, findings):
    """The figures and outcomes that a second run gave otherwise, and how many it did not."""
    text = words(pages.section(page, first[0].title) or "")
    answers = same = 0
    for one, other in zip(sentences(first), sentences(again)):
        for question, (own, repeated) in enumerate(zip(one.answers, other.answers)):
            judged = [answer for answer in (own, repeated) if is_ours(answer, one)]
            if not judged:
                continue
            answers += 1
            same += own.outcome == repeated.outcome
            name = f"{one.claim['id']}, {('does it replicate', 'is it so')[question]}"
            line = re.search(rf"\*\*{re.escape(name)}\*\*: (.*?); again (.*?)(?= - \*\*|$)", text)
            if own.outcome == repeated.outcome and line:
                findings.unknown(f"repeated.md: {name}", "the outcome is the same")
            if own.outcome != repeated.outcome:
                check_pair(f"repeated.md: {name}", line, (own, repeated), one, findings)
    row = tables.table_rows(page)
    line = next((rest for name, rest in row.items() if name.startswith(f"[{suite}]")), None)
    findings.figures += 2
    if line is None or line[2:4] != [str(answers), str(same)]:
        findings.differs(f"repeated.md: {suite}", line and line[2:4], [answers, same])


def is_ours(answer, one):
    return answer.outcome in DECIDED and not answer.is_settled


def check_pair(name, line, answers, one, findings):
    if line is None:
        findings.differs(name, "nothing", [answer.outcome for answer in answers])
        return
    for text, answer in zip(line.groups(), answers):
        clauses = " ".join(match.group() for match in failed.CLAUSE.finditer(text))
        failed.check_clauses(name, clauses, failed.shares(answer), findings)
        outcome, _, figures = failed.without(text).partition(", ")
        findings.outcomes += 1
        if outcome != answer.outcome:
            findings.differs(name, outcome, answer.outcome)
        sentence = Sentence(name, figures, answer.evaluation, findings, answer)
        sentence = pages.in_unit(sentence, one)
        sentence.without(*pages.names(one)).check()
