"""Compares claims.md and its neighbours with what documents.py recomputes."""

import re

import rules
from digits import FIGURE, Figure, shown_like
from sentences import Sentence

SHORT = {
    "replicated": "replicated",
    "more than claimed": "more",
    "did not replicate": "not replicated",
    "refuted by its own table": "refuted",
    "undecided": "undecided",
    "not comparable here": "not comparable",
}
OUTCOME = "|".join(sorted(SHORT, key=len, reverse=True))
QUESTIONS = ("Does it replicate?", "Is it so?")


def section(page, title):
    """The text below a heading of the second level, up to the next; None without it."""
    parts = re.split(r"^## ", page, flags=re.MULTILINE)
    return next((part for part in parts if part.partition("\n")[0] == title), None)


def paragraphs(text):
    """By the id of its claim: what stands between `- **id** (` and the next of them."""
    claims = text.partition("</details>")[0]
    parts = re.split(r"^- \*\*([a-z0-9-]+)\*\*", claims, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (" ".join(part.split()) for part in parts[2::2])))


def check_document(page, document, judged, findings):
    """One document's section of a page, with its outcomes filled in from the page where given."""
    place = document.suite
    text = section(page, document.about["title"])
    if text is None:
        findings.unknown(place, "no section with its title")
        return
    found = paragraphs(text)
    sentences = [one for one in judged if not one.claim.get("note")]
    for name in found.keys() - {one.claim["id"] for one in sentences}:
        findings.unknown(f"{place}: {name}", "a claim that is not declared")
    table = table_rows(text)
    for one in sentences:
        name = one.claim["id"]
        where = f"{place}: {name}"
        if name not in found:
            findings.unknown(where, "the page does not have it")
            continue
        check_paragraph(where, found[name], one, document, findings)
        check_cells(where, table.get(one.claim.get("short", one.claim["claim"])), one, findings)


def check_paragraph(where, text, one, document, findings):
    claim = one.claim
    asked = list(re.finditer(rf"(Does it replicate\? |Is it so\? )?\*\*({OUTCOME})\*\*:?", text))
    if len(asked) != len(one.answers):
        findings.unknown(where, f"{len(asked)} outcomes instead of {len(one.answers)}")
        return
    head = text[: asked[0].start()]
    check_printed(f"{where}, its own table", head, one, document, findings)
    ends = [match.start() for match in asked[1:]] + [len(text)]
    for match, end, answer, question in zip(asked, ends, one.answers, QUESTIONS):
        at = where if len(one.answers) == 1 else f"{where}, {question.rstrip('?').lower()}"
        check_answer(at, match.group(2), text[match.end() : end], one, answer, document, findings)
        if match.group(1) and match.group(1).strip() != question:
            findings.unknown(at, match.group(1))


def prose(claim, record):
    """Sentences of claims.toml and of records that stand in answers as they are."""
    texts = [claim.get("why"), claim.get("not_comparable"), claim.get("undecided")]
    for question in ("replicated_by", "judged_with"):
        declared = claim.get(question, {})
        texts += [declared.get("not_comparable"), declared.get("undecided")]
    if "bounds" in claim:
        texts.append(f"({claim['bounds']['because'].rstrip('.')})")
    if record:
        texts += {row["outcome"]["error"] for row in record.rows if "error" in row["outcome"]}
    return texts


def names(one):
    """Subjects, instruments and metrics of its quantities: names that have digits in them."""
    claim, found = one.claim, set()
    for key in ("measure", "ours", "recomputed", "replicated_by", "judged_with"):
        declared = claim.get(key, {})
        found |= {declared.get(word) for word in ("of", "over", "metric", "over_metric")}
    return found - {None}


def check_printed(where, head, one, document, findings):
    declared = f"Printed: {one.claim['published']}."
    before, marker, after = head.partition(declared)
    if not marker:
        findings.unknown(where, f"it does not say “{declared}”")
        return
    after = after.replace("By its own table:", " ")
    sentence = Sentence(where, after, one.table, findings).without(*names(one))
    shown = sentence.check()
    if one.table and one.table.estimates and not shown:
        findings.differs(where, "nothing", f"{one.table.estimates[0].value:.6g}")


def check_answer(where, word, text, one, answer, document, findings):
    claim = one.claim
    sentence = Sentence(where, text, answer.evaluation, findings, answer, document)
    sentence.without(*prose(claim, one.record), *document.about.get("stand_ins", {}).values())
    rules.check_sentence(sentence, one.refutation if answer is one.answers[0] else None)
    if "Its own figures:" in sentence.text:
        sentence.evaluation = one.table
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


def table_rows(text):
    """By its first field: the other fields of each line of a table."""
    lines = (line for line in text.splitlines() if line.startswith("| "))
    fields = ([field.strip() for field in line.strip("|").split("|")] for line in lines)
    return {first: rest for first, *rest in fields}


def check_cells(where, row, one, findings):
    """The line of the narrow table: figure and outcome of each question."""
    if row is None or len(row) != 3:
        findings.unknown(where, "it has no line in the table")
        return
    if row[0] != one.claim["published"]:
        findings.differs(f"{where}, table, printed", row[0], one.claim["published"])
    cells = row[1:]
    if len(one.answers) == 1 and cells[1] != "-":
        findings.unknown(f"{where}, table", cells[1])
    for cell, answer in zip(cells, one.answers):
        at = f"{where}, table"
        match = re.fullmatch(rf"(?:({FIGURE})(?: to ({FIGURE}))? )?([a-z ]+)", cell)
        if not match:
            findings.unknown(at, cell)
            continue
        low, high, word = match.groups()
        findings.outcomes += 1
        if word != SHORT.get(answer.outcome):
            findings.differs(f"{at}, outcome", word, answer.outcome)
        check_range(at, low, high, answer.evaluation, findings)


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
