"""Reads the figures in a sentence about an answer, and compares each with what was recomputed."""

import math
import re

from digits import FIGURE, Figure, shown_like
from shown import Shown

CASE = r"C=\d+ S=\d+(?: (?:per-call|tls|unix|calls=\d+))*"
PLACE = rf"at {CASE}|from {CASE} to {CASE}|as the (?:middle|largest) of \d+ cases"
LIKE = rf"({FIGURE})(?: \(({FIGURE}) to ({FIGURE})\)| in each of (\d+) rounds)?"
ESTIMATE = re.compile(rf"{LIKE}(?: of the model's)?(?: ({PLACE}))?")
RANGE = re.compile(rf"({FIGURE})(?: to ({FIGURE}))? in (\d+) (cases|steps)")
BAND = re.compile(
    rf"replicated is (?:(above|below|at least|at most|exactly) )?({FIGURE})(?: to ({FIGURE}))?"
)
CROSSED = re.compile(rf"in every round, and one had ({FIGURE})")
ROUNDS_NEEDED = re.compile(r"About (\d+) rounds like these (\d+) would decide it")
MARKED = re.compile(r"Marked in (\d+) of (\d+) rounds: ([^.]*)\.")
SO_MANY = re.compile(r"It is so in (\d+) of (\d+) cases\.")
LIMIT = re.compile(
    r"it used (\d+) % of its CPU, and (\d+) % or more in (\d+) of (\d+) rounds"
)
DIED = re.compile(rf"in its favour: +at ({CASE}): ")
ITSELF = re.compile(rf"over itself at ({CASE})")
MISSING = re.compile(
    rf"no figure of one run ({PLACE})|no (?:record|profile) of +at ({CASE})"
    rf"|at ({CASE})(?=: failed|: missing|: not | was recorded with)"
)
LOWER_BOUND = re.compile(
    rf"at ({CASE}) is (a lower bound in \d+ of \d+ rounds): calls in flight at the end of the window "
    r"could move it"
)
MORE = re.compile(r", and (\d+) more")
MARKS_OF_AUDIT = "counts of rounds with marks of the audit"


class Sentence:
    """`text` without its prose; `evaluation` and `bands` are what its figures must show."""

    def __init__(self, place, text, evaluation, findings, answer=None, document=None):
        self.document, self.shown_as = document, Shown()
        self.place, self.text, self.findings = place, text, findings
        self.evaluation, self.answer = evaluation, answer
        self.last = None  # the estimate that was named last
        self.shown, self.limit_told = 0, None

    def without(self, *prose):
        for words in sorted(filter(None, prose), key=len, reverse=True):
            self.text = self.text.replace(" ".join(words.split()).rstrip("."), " ")
        return self

    def without_prose(self, *declared):
        """What claims.toml says, with figures that are of no row."""
        for words in filter(None, declared):
            before = self.text
            self.without(words)
            if self.text != before and re.search(r"\d", words):
                self.findings.take("sentences of claims.toml with a figure")
        return self

    def check(self):
        """Every pattern in turn takes its figures out of the text; no digit may be left."""
        for pattern, check in (
            (SO_MANY, self.so_many),
            (LIMIT, self.limit),
            (DIED, self.died),
            (MISSING, self.missing),
            (LOWER_BOUND, self.lower_bound),
            (ITSELF, self.itself),
            (MARKED, self.marked),
            (ROUNDS_NEEDED, self.rounds_needed),
            (MORE, self.more),
            (CROSSED, self.crossed),
            (RANGE, self.range),
            (BAND, self.band),
            (ESTIMATE, self.estimate),
        ):
            matches = list(pattern.finditer(self.text))
            self.text = pattern.sub(" ", self.text)
            for match in matches:
                if not check(match):
                    self.findings.unknown(self.place, f"“{match.group().strip()}”")
        if self.limit_told:
            self.check_limit()
        if re.search(r"\d", self.text):
            self.findings.unknown(self.place, f"“{' '.join(self.text.split())}”")
        return self.shown

    def figure(self, text, value, what="figure"):
        """Counts a figure; True, because it was understood."""
        self.findings.figures += 1
        if value is None or not Figure.parse(text).shows(value):
            ours = "none" if value is None else f"{shown_like(text, value)} ({value:.6g})"
            self.findings.differs(f"{self.place}, {what}", text, ours)
        return True

    def count(self, text, value, what):
        self.findings.figures += 1
        if int(text) != value:
            self.findings.differs(f"{self.place}, {what}", text, value)
        return True

    def estimates(self):
        return self.evaluation.estimates if self.evaluation else []

    def estimate(self, match):
        value, low, high, equal, where = match.groups()
        one = self.named(where)
        if one is None:
            return False
        self.last = self.last or one
        self.shown += 1
        self.figure(value, one.value)
        if equal:
            self.equal_rounds(equal, one)
        elif low:
            ends = one.interval or (None, None)
            self.figure(low, ends[0], "lower end")
            self.figure(high, ends[1], "upper end")
        elif one.interval and not all(map(Figure.parse(value).shows, one.interval)):
            ends = " to ".join(shown_like(value, end) for end in one.interval)
            self.findings.differs(f"{self.place}, interval", "none", ends)
        return True

    def named(self, where):
        if where is None:
            own = self.estimates()
            return own[0] if len(own) == 1 else None
        return next((one for one in self.estimates() if one.place == where), None)

    def equal_rounds(self, text, one):
        self.count(text, one.rounds or 0, "equal rounds")
        if one.extremes[0] != one.extremes[1]:
            self.findings.differs(f"{self.place}, rounds", "equal ones", "rounds that differ")

    def range(self, match):
        low, high, count, _ = match.groups()
        values = [one.value for one in self.estimates()]
        if not values:
            return False
        self.shown += 1
        self.figure(low, min(values), "smallest")
        self.figure(high or low, max(values), "largest")
        return self.count(count, len(values), "cases")

    def band(self, match):
        word, first, then = match.groups()
        own = self.answer.bands.values() if self.answer else []
        bands = {place: self.shown_as.band(band) for place, band in enumerate(own)}
        fits = [band for band in bands.values() if band and fits_words(band, word, first, then)]
        self.findings.figures += 2 if then else 1
        if not fits:
            known = {f"{band.least:.6g} to {band.most:.6g}" for band in bands.values() if band}
            place = f"{self.place}, bounds"
            self.findings.differs(place, match.group(), " or ".join(sorted(known)))
        return True

    def crossed(self, match):
        ends = {end for one in self.estimates() for end in one.extremes}
        self.findings.figures += 1
        if not any(map(Figure.parse(match.group(1)).shows, ends)):
            self.findings.differs(f"{self.place}, worst round", match.group(1), sorted(ends))
        return True

    def rounds_needed(self, match):
        needed, made = match.groups()
        own = self.answer.bands if self.answer else {}
        bands = {place: self.shown_as.band(band) for place, band in own.items()}
        possible = {
            needed_rounds(one, bands[one.place])
            for one in self.estimates()
            if bands.get(one.place) and one.interval
        }
        self.findings.figures += 2
        if int(needed) not in possible or int(made) not in {one.rounds for one in self.estimates()}:
            self.findings.differs(f"{self.place}, rounds needed", needed, sorted(possible))
        return True

    def marked(self, match):
        """Rules that take an audit of the row are not recomputed, nor rounds that have no other."""
        some, all_rounds, rules = match.groups()
        own = self.answer.marks
        told = set(re.findall(r"`([a-z-]+)`", rules))
        self.count(all_rounds, own.rounds, "rounds")
        for rule in own.rules - told:
            self.findings.differs(f"{self.place}, marks", sorted(told), rule)
        is_possible = own.marked <= int(some) <= own.rounds
        if told == own.rules or not is_possible:
            return self.count(some, own.marked, "marked rounds")
        self.findings.take(MARKS_OF_AUDIT)
        return True

    def so_many(self, match):
        outcomes = list(self.answer.each.values()) if self.answer else []
        so = sum(one in ("replicated", "more than claimed") for one in outcomes)
        self.count(match.group(1), so, "cases in which it is so")
        return self.count(match.group(2), len(outcomes), "cases")

    def limit(self, match):
        """The client of the estimate that the sentence is about."""
        self.limit_told = tuple(map(int, match.groups()))
        return True

    def check_limit(self):
        own = self.last and self.last.limit
        known = own and (round(min(own.share, 1) * 100), 90, own.at_limit, own.rounds)
        self.findings.figures += 4
        if self.limit_told != known:
            self.findings.differs(f"{self.place}, client at its limit", self.limit_told, known)

    def died(self, match):
        return any(one.startswith(f"{match.group(1)}: ") for one in self.evaluation.died)

    def itself(self, match):
        own = self.evaluation and self.evaluation.quantity.get("over_case")
        if match.group(1) != own:
            self.findings.differs(f"{self.place}, over itself", match.group(1), own)
        return True

    def missing(self, match):
        """A row that would decide it: one of those that have no figure."""
        run, *cases = match.groups()
        case = next(filter(None, cases), None)
        missing = self.evaluation.missing + self.evaluation.died if self.evaluation else []
        return any(one.endswith(run) if run else one.startswith(f"{case}: ") for one in missing)

    def lower_bound(self, match):
        self.findings.figures += 2
        return ": ".join(match.groups()) in (self.evaluation.missing if self.evaluation else [])

    def more(self, match):
        own = self.evaluation
        missing = len(own.missing) + len(own.died) if own else 0
        return self.count(match.group(1), missing - 1, "further missing rows")


def fits_words(band, word, first, then):
    shows = Figure.parse(first).shows
    match word:
        case "above":
            return band.is_open and shows(band.least) and band.most == math.inf
        case "below":
            return band.is_open and shows(band.most)
        case "at least":
            return not band.is_open and shows(band.least) and band.most == math.inf
        case "at most":
            return not band.is_open and shows(band.most) and band.least <= 0
        case "exactly":
            return shows(band.least) and shows(band.most)
    return bool(then) and shows(band.least) and Figure.parse(then).shows(band.most)


def needed_rounds(one, band):
    """If the median stays: the width of an interval falls with the root of the rounds."""
    low, high = one.interval
    least = band.least if band.favour != "smaller" else -math.inf
    most = band.most if band.favour != "larger" else math.inf
    needed = 0.0
    for end in (least, most):
        if low <= end <= high and end != one.value:
            width = one.value - low if end < one.value else high - one.value
            needed = max(needed, (one.rounds or 0) * (width / (one.value - end)) ** 2)
    return math.ceil(needed)
