"""What audit.md says: notes, calls in flight, findings of rules, and what models predict."""

import re

import failed
import pages
import rules
import tables
from digits import Figure, shown_like
from heads import BUT, words
from sentences import Sentence


def check_notes(page, suite, judged, findings):
    """Noticed besides, on audit.md: the claim's words, then its own table's figures and ours."""
    text, seen = words(page), []
    for one in (one for one in judged if one.claim.get("note")):
        name, claim = f"audit.md: {one.claim['id']}", one.claim
        declared = re.escape(words(claim["claim"]) + ".")
        matches = list(re.finditer(rf"- {declared}(.*?)(?= - | ###? |$)", text))
        same_before = seen.count(declared)
        seen.append(declared)
        if same_before >= len(matches):
            findings.unknown(name, "the page does not have it")
            continue
        match = matches[same_before]
        answer, but = one.answers[0], BUT.search(match.group(1))
        known = failed.shares(answer)
        failed.check_clauses(name, but.group() if but else "", known, findings)
        before, _, ours = BUT.sub(" ", match.group(1)).partition("Ours:")
        why = claim.get("why")
        for part, evaluation in ((before, one.table), (ours, one.answers[0].evaluation)):
            part = part.replace("Its own table:", " ")
            sentence = pages.in_unit(Sentence(name, part, evaluation, findings, answer), one)
            sentence.without_prose(why).without(*pages.names(one))
            if not sentence.check() and evaluation and evaluation.estimates:
                findings.unknown(name, "no figure")


def check_in_flight(page, document, findings):
    """Calls in flight that a table's figures account for: rate times mean latency."""
    section = pages.section(page, document.about["title"]) or ""
    for row in document.rows:
        share, streams = row.figure("in_flight_share"), row.first("concurrency")
        line = tables.table_rows(section.partition("### Calls in flight")[2]).get(row.place)
        if not line or not share:
            if bool(line) != bool(share):
                findings.unknown(f"audit.md: {row.place}", "a row on one side alone")
            continue
        place = f"audit.md: {row.place}, calls in flight"
        check_ends(place, line[0], share * streams, findings)
        check_ends(place, line[2].replace(" %", "%"), share, findings)


def check_ends(place, text, span, findings):
    low, _, high = text.partition(" to ")
    for told, own in ((low, span.low), (high or low, span.high)):
        findings.figures += 1
        if not Figure.parse(told).shows(own):
            findings.differs(place, told, shown_like(told, own))


def check_audit(page, document, findings):
    """What the rules that are recomputed here find in the document's tables, row by row."""
    section = pages.section(page, document.about["title"]) or ""
    table = section.partition("### What the audit finds")[2].partition("###")[0]
    told = re.findall(r"^\| `([a-z-]+)` \| (.*) \| (.*) \|$", table, re.MULTILINE)
    own = {
        (rule, row.place): figures
        for rule, finds in rules.RULES.items()
        for row in document.rows
        if (figures := finds(row, document))
    }
    for rule, place, text in told:
        name = f"audit.md: {rule}, {place}"
        if rule not in rules.RULES:
            findings.take("findings by other rules of the audit")
        elif (rule, place) not in own:
            findings.differs(name, text, "nothing")
        else:
            rules.figures_told(Sentence(name, text, None, findings), text, own[rule, place])
    for rule, place in own.keys() - {(rule, place) for rule, place, _ in told}:
        findings.differs(f"audit.md: {rule}, {place}", "nothing", own[rule, place])


def check_models(page, document, findings):
    """What each model of a run predicts: calls that succeed and fail, the total and two means."""
    section = pages.section(page, document.about["title"]) or ""
    lines = re.findall(r"^\| ([a-z-]+): .*? \| [^|]* \|(.*)\|$", section, re.MULTILINE)
    told = {name: [field.strip() for field in rest.split("|")] for name, rest in lines}
    for name, own in document.predictions.items():
        place = f"audit.md: model {name}"
        figures = (own.ok, own.errors, own.total_time, own.latency_mean_all, own.latency_mean)
        for text, value in zip(told.get(name, [None] * 5), figures, strict=True):
            findings.figures += 1
            if text is None or not Figure.parse(text).shows(value):
                findings.differs(place, text, f"{value:.6g}")
