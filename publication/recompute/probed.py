"""What the probe found of the servers of a claim: a sentence for each that fails a check."""

import json
import re

from rounds import Name

SENTENCE = re.compile(
    r"\[Probed\]\([^)]*\): (\S+) fails (\d+)(?: of (\d+))? checks?"
    r"(?:, and closes the connection in (\d+))?: (among them )?([^.]*)\."
)

LISTED = 4  # so many failed checks are all listed
WORST = ("messages cut anywhere", "frames cut anywhere", "answers without waiting for ACKs")


def read(records):
    """By subject and version."""
    file = records / "findings" / "probe.jsonl"
    lines = file.read_text().splitlines() if file.is_file() else []
    found = [json.loads(line) for line in lines]
    return {(one["subject"], one["version"]): one for one in found}


def servers(one):
    """Whatever its answers are about, with what is divided by."""
    asked = [answer.evaluation.quantity for answer in one.answers if answer.evaluation]
    named = [asked_of[key] for asked_of in asked for key in ("of", "over") if key in asked_of]
    return sorted({Name.parse(name).subject for name in named})


def failures(subject, record, known):
    """(checks failed, their number, that of all, of those in which it closed the connection)."""
    found = known.get((subject, record.facts["versions"].get(subject)))
    if found is None:
        skips = record.facts.get("skips", {}).get(subject, [])
        return skips, [len(skips), None, None]
    closed = [
        check
        for check, why in found["reasons"].items()
        if found["semantics"].get(check) == "no" and "closed the connection" in why
    ]
    counts = [len(found["skips"]), len(found["semantics"]), len(closed) or None]
    return found["skips"], counts


def check(where, text, one, known, findings):
    """The text without these sentences."""
    told = {match.group(1): match.groups()[1:] for match in SENTENCE.finditer(text)}
    for subject in servers(one) if one.record else []:
        skips, counts = failures(subject, one.record, known)
        *told_counts, some, names = told.pop(subject, [None] * 5)
        place = f"{where}, probe of {subject}"
        findings.figures += len(list(filter(None, told_counts)))
        own = [str(count) if count else None for count in counts] if skips else [None] * 3
        if told_counts != own:
            findings.differs(place, told_counts, counts)
        worst = [check for check in skips if check in WORST]
        of_many = worst if len(skips) > LISTED else []
        if (bool(some), names or "") != (bool(of_many), ", ".join(of_many or skips)):
            findings.differs(place, names, of_many or skips)
    for subject in told:
        findings.unknown(where, f"what the probe found of {subject}")
    return SENTENCE.sub(" ", text)
