"""Compares claims.md and its neighbours with what documents.py recomputes."""

import re

import failed
import probed
import rules
import shown
import tables
from digits import FIGURE
from rounds import Name
from sentences import Sentence
from tables import SHORT

OUTCOME = "|".join(sorted(SHORT, key=len, reverse=True))
QUESTIONS = ("Does it replicate?", "Is it so?")


def section(page, title):
    """The text below a heading of the second level, up to the next; None without it."""
    parts = re.split(r"^## ", page, flags=re.MULTILINE)
    return next((part for part in parts if part.partition("\n")[0] == title), None)


def paragraphs(text):
    """By the id of its claim: what stands between `- **id** (` and the next of them."""
    parts = re.split(r"^- \*\*([a-z0-9-]+)\*\*", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (" ".join(part.split()) for part in parts[2::2])))


def check_document(page, reasons, document, judged, findings):
    """One document's section of its page and of the reasons; outcomes are taken where given."""
    place = document.suite
    text, own = (section(one, document.about["title"]) for one in (page, reasons))
    if text is None or own is None:
        findings.unknown(place, "no section with its title")
        return
    rounds = re.search(r"\. The record has (\d+) rounds?\b", " ".join(text.split()))
    findings.figures += 1
    if not rounds or int(rounds.group(1)) != document.own.rounds:
        findings.differs(f"{place}, rounds", rounds and rounds.group(), document.own.rounds)
    found = paragraphs(own)
    sentences = [one for one in judged if not one.claim.get("note")]
    for name in found.keys() - {one.claim["id"] for one in sentences}:
        findings.unknown(f"{place}: {name}", "a claim that is not declared")
    rows = tables.table_rows(text)
    for one in sentences:
        name = one.claim["id"]
        where = f"{place}: {name}"
        if name not in found:
            findings.unknown(where, "the page does not have it")
            continue
        check_paragraph(where, found[name], one, document, findings)
        row = tables.claim_row(rows, one.claim)
        tables.check_cells(where, row, one, findings)


def check_paragraph(where, text, one, document, findings):
    claim = one.claim
    asked = r"(?<!The other run: )(Does it replicate\? |Is it so\? )?"
    bold = rf"{asked}\*\*({OUTCOME})(, while [^*]*)?\*\*:"
    asked = list(re.finditer(bold, text))
    if len(asked) != len(one.answers):
        findings.unknown(where, f"{len(asked)} outcomes instead of {len(one.answers)}")
        return
    head = text[: asked[0].start()]
    check_printed(f"{where}, its own table", head, one, document, findings)
    ends = [match.start() for match in asked[1:]] + [len(text)]
    for match, end, answer, question in zip(asked, ends, one.answers, QUESTIONS):
        at = where if len(one.answers) == 1 else f"{where}, {question.rstrip('?').lower()}"
        clause, rest = match.group(3) or "", text[match.end() : end]
        failed.check_clauses(at, clause, failed.shares(answer), findings)
        rest = failed.check_few(at, rest, answer, findings)
        check_answer(at, match.group(2), rest, one, answer, document, findings)
        if match.group(1) and match.group(1).strip() != question:
            findings.unknown(at, match.group(1))


def prose(claim, document):
    """Sentences of claims.toml that stand in answers as they are."""
    why = claim.get("why")
    texts = [why if isinstance(why, str) else None, claim.get("not_comparable")]
    texts.append(claim.get("undecided"))
    for question in ("replicated_by", "judged_with"):
        declared = claim.get(question, {})
        texts += [declared.get("not_comparable"), declared.get("undecided")]
    if "bounds" in claim:
        texts.append(f"({claim['bounds']['because'].rstrip('.')})")
    return texts + list(document.about.get("stand_ins", {}).values())


def errors(record):
    """Why rows of a record have no figure."""
    outcomes = [row["outcome"] for row in record.rows] if record else []
    return {one["error"] for one in outcomes if "error" in one}


def names(one):
    """Subjects, instruments and metrics of its quantities: names that have digits in them."""
    claim, found = one.claim, set()
    for key in ("measure", "ours", "recomputed", "replicated_by", "judged_with"):
        declared = claim.get(key, {})
        found |= {declared.get(word) for word in ("of", "over", "metric", "over_metric")}
        found |= {Name.parse(declared[word]).subject for word in ("of", "over") if word in declared}
    return found - {None}


def check_printed(where, head, one, document, findings):
    declared = f"Printed: {one.claim['published']}."
    before, marker, after = head.partition(declared)
    words = " ".join(f"({one.claim['where']}): {one.claim['claim']}.".split())
    if before.strip() != words:
        findings.differs(f"{where}, its words", before.strip(), words)
    if not marker:
        findings.unknown(where, f"it does not say “{declared}”")
        return
    after = after.replace("By its own table:", " ")
    sentence = in_unit(Sentence(where, after, one.table, findings), one).without(*names(one))
    shown = sentence.check()
    if one.table and one.table.estimates and not shown:
        findings.differs(where, "nothing", f"{one.table.estimates[0].value:.6g}")


def check_answer(where, word, text, one, answer, document, findings):
    claim = one.claim
    text = check_other_run(where, text, answer, findings)
    if answer is one.answers[-1]:
        text = probed.check(where, text, one, document.probed, findings)
        text = check_why(where, text, one, findings)
    sentence = Sentence(where, text, answer.evaluation, findings, answer, document)
    sentence.without(*errors(one.record)).without_prose(*prose(claim, document))
    rules.check_sentence(sentence, one.refutation if answer is one.answers[0] else None)
    if "Its own figures:" in sentence.text:
        sentence.evaluation = one.table
    in_unit(sentence, one)
    sentence.without(*names(one))
    shown = sentence.check()
    if answer.outcome is None:
        findings.take("outcomes by rules of the audit")
        answer.outcome = word
    findings.outcomes += 1
    if word != answer.outcome:
        findings.differs(f"{where}, outcome", word, answer.outcome)
    if answer.evaluation and answer.evaluation.shown() and not shown:
        findings.unknown(where, "no figure of ours")


def in_unit(sentence, one):
    """Its figures in the unit of what is printed of the claim."""
    own = sentence.evaluation
    if own:
        sentence.shown_as = shown.shown_as(one.claim, own.quantity)
        sentence.evaluation = sentence.shown_as.evaluation(own)
    return sentence


def check_other_run(where, text, answer, findings):
    """`The other run: **outcome**, figure.`, where a second run disagrees."""
    match = re.search(rf" The other run: \*\*({OUTCOME})\*\*(?:, (.*?))?\.(?= |$)", text)
    told = match.group(1) if match else None
    own = answer.both()[1]
    findings.outcomes += 1
    if told != own:
        findings.differs(f"{where}, other run", told, own or "the same")
    if match is None:
        return text
    if match.group(2):
        tables.check_field(f"{where}, other run", match.group(2), answer.again, findings)
    return text.replace(match.group(), " ")


def check_why(where, text, one, findings):
    """A conclusion behind the answers, told while its conditions hold: its figures are theirs."""
    if not isinstance(one.claim.get("why"), dict):
        return text
    match = conclusion(one, "why", text)
    if one.is_told("why") != bool(match):
        told = ("it", "nothing") if match else ("nothing", "it")
        findings.differs(f"{where}, its conclusion", *told)
    if not match:
        return text
    check_conclusion(where, match, one, "why", findings)
    return text.replace(match.group(), " ")


def conclusion(one, key, text):
    """Where a text has a conclusion of a claim: two groups for the figure of each name."""
    pattern = re.escape(" ".join(one.claim[key]["text"].split()))
    pattern = pattern.replace(re.escape("{published}"), re.escape(one.claim["published"]))
    figure = rf"({FIGURE})(?: of the model's)?(?: to ({FIGURE}))?"
    pattern = re.sub(r"\\\{.+?\\\}", lambda _: figure, pattern)
    return re.search(pattern, text)


def check_conclusion(where, match, one, key, findings):
    names_told = re.findall(r"\{([^}]+)\}", one.claim[key]["text"])
    groups = list(match.groups())
    for name in (name for name in names_told if name != "published"):
        low, high, *groups = groups
        tables.check_range(f"{where}, {name}", low, high, one.figures.get(name), findings)
