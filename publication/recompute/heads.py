"""What stands outside of the claims themselves: the sentences at the head of claims.md, the tallies
there and in the README, and the pages that name outcomes (repeated.md, changed-verdicts.md)."""

import math
import re

import failed
import pages
import rules
from digits import FIGURE, Figure, shown_like
from outcomes import DECIDED
from sentences import Sentence

ORDER = list(pages.SHORT)


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
            found.append(match.group())
            pages.check_conclusion(place, match, one, "finding", findings)
    return found


def check_head(page, judged, findings):
    text = pages.section(page, "What one would tell a colleague") or ""
    found = check_findings(text, judged, findings)
    bullets = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
    for bullet in map(words, bullets):
        told = next((one for one in found if one in bullet), None)
        # What follows a sentence says where calls failed; the paragraph of the claim is compared.
        left = failed.without(bullet.replace(told or "", " "))
        if told is None or re.search(r"\d", re.sub(r"\(\[.*", " ", left)):
            findings.unknown("claims.md, head", bullet)


def tally(answers):
    outcomes = [answer.counted() for answer in answers]
    return [len(outcomes)] + [outcomes.count(one) for one in ORDER]


def check_tallies(page, judged, findings):
    """Two tables: of the first question, and of the second where it is asked."""
    text = pages.section(page, "The outcomes") or ""
    tables = re.split(r"^Is it so\?", text, flags=re.MULTILINE)
    for question, table in enumerate(tables[:2]):
        rows = pages.table_rows(table)
        columns = rows.get("document", ["claims", *pages.SHORT.values()])
        for suite, claims in judged.items():
            asked = [one.answers for one in sentences(claims) if len(one.answers) > question]
            told = next((row for name, row in rows.items() if name.startswith(f"[{suite}]")), None)
            place = f"claims.md, tally {question + 1} of {suite}"
            total, *each = tally(answers[question] for answers in asked)
            own = dict(zip(pages.SHORT.values(), each)) | {"claims": total}
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


def check_changes(page, judged, findings):
    """`- **id**: earlier; now OUTCOME; is it so: OUTCOME. Why.`, of those that changed."""
    for suite, claims in judged.items():
        text = words(pages.section(page, claims[0].title) or "")
        changed = 0
        known = [one for one in claims if "earlier" in one.claim]
        for one in known:
            place = f"changed-verdicts.md: {one.claim['id']}"
            now = "; is it so: ".join(answer.counted() for answer in one.answers)
            now = "no claim" if one.claim.get("note") else now
            earlier = one.claim["earlier"]["verdict"]
            changed += now != earlier
            line = re.search(rf"\*\*{one.claim['id']}\*\*: (.*?); now (.*?)\. ", text)
            if line:
                line = re.fullmatch("(.*); now (.*)", failed.without("; now ".join(line.groups())))
            findings.outcomes += 1
            if (line.groups() if line else None) != ((earlier, now) if now != earlier else None):
                findings.differs(place, line and line.group(2), now)
        counts = re.search(r"Of (\d+) claims (\d+) have another outcome\.", text)
        findings.figures += 2
        if not counts or list(map(int, counts.groups())) != [len(known), changed]:
            findings.differs(f"changed-verdicts.md: {suite}", counts, [len(known), changed])


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
    row = pages.table_rows(page)
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
        failed.check_clauses(name, clauses, answer, findings, False)
        outcome, _, figures = failed.without(text).partition(", ")
        findings.outcomes += 1
        if outcome != answer.outcome:
            findings.differs(name, outcome, answer.outcome)
        sentence = Sentence(name, figures, answer.evaluation, findings, answer)
        sentence = pages.in_unit(sentence, one)
        sentence.without(*pages.names(one)).check()


def check_notes(page, suite, judged, findings):
    """Noticed besides, on audit.md: the claim's words, then its own table's figures and ours."""
    text, seen = failed.without(words(page)), []
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
        before, _, ours = match.group(1).partition("Ours:")
        answer = one.answers[0]
        why = claim.get("why")
        for part, evaluation in ((before, one.table), (ours, one.answers[0].evaluation)):
            part = part.replace("Its own table:", " ")
            sentence = pages.in_unit(Sentence(name, part, evaluation, findings, answer), one)
            sentence.without(why, *pages.names(one))
            if not sentence.check() and evaluation and evaluation.estimates:
                findings.unknown(name, "no figure")


def check_in_flight(page, document, findings):
    """Calls in flight that a table's figures account for: rate times mean latency."""
    section = pages.section(page, document.about["title"]) or ""
    for row in document.rows:
        share, streams = row.figure("in_flight_share"), row.first("concurrency")
        line = pages.table_rows(section.partition("### Calls in flight")[2]).get(row.place)
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
