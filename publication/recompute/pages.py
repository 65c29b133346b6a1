"""Compares claims.md and its neighbours with what documents.py recomputes."""

import re

import failed
import quantities
import rules
import shown
from digits import FIGURE, Figure, shown_like
from rounds import Name
from sentences import Sentence

SHORT = {
    "replicated": "replicated",
    "more than claimed": "more",
    "did not replicate": "not replicated",
    "refuted by its own table": "refuted",
    "undecided": "undecided",
    "not comparable here": "not comparable",
    "differs between runs": "differs",
}
OUTCOME = "|".join(sorted(SHORT, key=len, reverse=True))
PROBED = re.compile(r"\[Probed\]\([^)]*\): \S+ fails \d+ [^.]*\.")
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
        row = table.get(one.claim.get("short", one.claim["claim"]))
        check_cells(where, row, one, findings, document.tells_failed)


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
        failed.check_clauses(at, clause, answer, findings, document.tells_failed)
        rest = failed.check_few(at, rest, answer, findings, document.tells_failed)
        check_answer(at, match.group(2), rest, one, answer, document, findings)
        if match.group(1) and match.group(1).strip() != question:
            findings.unknown(at, match.group(1))


def prose(claim, record):
    """Sentences of claims.toml and of records that stand in answers as they are."""
    why = claim.get("why")
    texts = [why if isinstance(why, str) else None, claim.get("not_comparable")]
    texts.append(claim.get("undecided"))
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
        found |= {Name.parse(declared[word]).subject for word in ("of", "over") if word in declared}
    return found - {None}


def check_printed(where, head, one, document, findings):
    declared = f"Printed: {one.claim['published']}."
    before, marker, after = head.partition(declared)
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
        findings.take("sentences on what the probe found", len(PROBED.findall(text)))
        text = check_why(where, PROBED.sub(" ", text), one, findings)
    sentence = Sentence(where, text, answer.evaluation, findings, answer, document)
    sentence.without(*prose(claim, one.record), *document.about.get("stand_ins", {}).values())
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
    differs = answer.counted() != answer.outcome
    findings.outcomes += 1
    if told != (answer.again.outcome if differs else None):
        own = answer.again and answer.again.outcome
        findings.differs(f"{where}, other run", told, own if differs else "the same")
    if match is None:
        return text
    if match.group(2):
        check_field(f"{where}, other run", match.group(2), answer.again, findings)
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
        check_range(f"{where}, {name}", low, high, one.figures.get(name), findings)


def table_rows(text):
    """By its first field: the other fields of each line of a table."""
    lines = (line for line in text.splitlines() if line.startswith("| "))
    fields = ([field.strip() for field in line.strip("|").split("|")] for line in lines)
    return {first.removeprefix("! "): rest for first, *rest in fields}


def check_cells(where, row, one, findings, tells=False):
    """The line of the narrow table: figure and outcome of each question."""
    if row is not None and len(row) == 4:
        *row, field = row
        failed.check_field(f"{where}, table", field, one.answers, findings)
    elif tells and any(map(failed.shares, one.answers)):
        findings.differs(f"{where}, table, failed", "nothing", "a share")
    if row is None or len(row) != 3:
        findings.unknown(where, "it has no line in the table")
        return
    if row[0] != one.claim["published"]:
        findings.differs(f"{where}, table, printed", row[0], one.claim["published"])
    cells = row[1:]
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
        differs = answer.counted() != answer.outcome
        own = [SHORT.get(answer.outcome), SHORT.get(answer.again.outcome) if differs else None]
        findings.outcomes += 1
        if [word, again] != own:
            findings.differs(f"{at}, outcome", cell, own)
        check_field(at, figure, answer, findings, one.claim)


def check_field(where, text, answer, findings, claim=None):
    """A figure or a range; or the figures that a ratio is of: `A and B`, or `A to B: ratio`."""
    evaluation = answer.evaluation
    if claim and evaluation:
        evaluation = shown.shown_as(claim, evaluation.quantity).evaluation(evaluation)
    shared = re.match(rf"([\d.]+)(?= (?:and|to) [\d.]+( [A-Za-zµ%]+)\b)", text)
    if shared:  # a unit that two figures share stands once
        text = shared.group(1) + shared.group(2) + text[shared.end(1) :]
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
