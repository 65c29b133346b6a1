"""A suite's claims.toml with every figure and outcome that our rounds and its tables give."""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path

import model
import outcomes
import printed
import probed
import quantities
import rounds
import rules
import shown
from quantities import Estimate, Evaluation, Measured, Printed
from rounds import Name

QUESTIONS = ("replicated_by", "judged_with")
REFUTED = "refuted by its own table"
# What a mark begins with, and its rule; another one is `other`.
STARTS = {
    "steal": "steal",
    "foreign": "foreign-process",
    "not": "not-counted",
    "died": "not-counted",
    "counts": "counts-differ",
}
FAILED_MARKED_ABOVE = 0.001
DISTURBANCES = {"steal", "foreign-process"}


@dataclass
class Answer:
    outcome: str | None  # None: taken as the page gives it, whose rule is not recomputed
    evaluation: Evaluation | None
    bands: dict
    marks: "Marks"
    each: dict  # the outcome of each estimate, by its place
    record: rounds.Record | None
    is_settled: bool = False  # by the document alone
    again: "Answer | None" = None  # of a second run

    def counted(self):
        """Two runs that disagree have no outcome in common."""
        return "differs between runs" if self.both()[1] else self.outcome

    def both(self):
        """The outcome, and that of a second run that disagrees."""
        is_same = self.again is None or self.again.outcome == self.outcome
        return self.outcome, None if is_same else self.again.outcome


@dataclass
class Judged:
    claim: dict
    table: Evaluation | None
    answers: list  # one or two
    title: str  # of its document
    record: rounds.Record | None
    refutation: tuple | None = None  # what a rule of the audit finds
    figures: dict | None = None  # of conditions, by name
    again: "Judged | None" = None

    def is_told(self, conclusion):
        """Whether every condition has its figure and holds, in the second run too."""
        is_so = all(self.holds(one) for one in self.claim[conclusion]["if"])
        return is_so and (self.again is None or self.again.is_told(conclusion))

    def holds(self, condition):
        found = self.figures.get(condition["figure"])
        if found is None or found.missing or not found.shown():
            return False
        least = condition.get("at_least", -math.inf)
        most = condition.get("at_most", math.inf)
        ends = [one.interval for one in self.raw(condition["figure"]).shown()]
        return all(end and least <= end[0] and end[1] <= most for end in ends)

    def raw(self, name):
        """In base units, which conditions are in."""
        own = {"table": self.table, "same": self.answers[0].evaluation}
        own["other"] = self.answers[-1].evaluation
        return own.get(name) or self.figures[name]


class Document:
    def __init__(self, folder, records, repeated=None):
        """`repeated`: the folder of a second run, whose record is judged instead of the first."""
        self.folder, self.suite = Path(folder), Path(folder).name
        self.text = (self.folder / "claims.toml").read_text()
        declared = tomllib.loads(self.text)
        self.about, self.claims = declared["document"], declared["claims"]
        self.rows = printed.tables(folder, self.about.get("latency_rounding") == "down")
        self.records = records
        self.probed = probed.read(records)
        self.time_out_ns = float(self.about.get("time_out", "0s").removesuffix("s")) * 1e9
        models = declared.get("models", [])
        self.predictions = {one["id"]: model.predict(one) for one in models}
        self.of_ours = {one["id"]: model.predict(one, of_ours=True) for one in models}
        self.own = rounds.read(repeated or records, self.suite)

    def histogram_means(self, row):
        """The least and the largest mean that the printed histogram of a row allows."""
        buckets = printed.histogram(self.folder, row)
        if not buckets:
            return []
        calls = sum(count for _, count in buckets)
        uppers = [upper for upper, _ in buckets]
        lowers = uppers[:1] + uppers[:-1]
        ends = (lowers, uppers)
        return [sum(end * count for end, (_, count) in zip(one, buckets)) / calls for one in ends]

    def judged(self):
        return [self.judge(claim) for claim in self.claims]

    def record_of(self, claim):
        other = claim.get("suite")
        return rounds.read(self.records, other) if other else self.own

    def judge(self, claim):
        table = self.table_of(claim)
        record = self.record_of(claim)
        asked = [question for question in QUESTIONS if question in claim]
        if "replicated_by" not in asked:
            asked.insert(0, None)
        answers = [self.answer(claim, one, table, record) for one in asked]
        judged = Judged(claim, table, answers, self.about["title"], record)
        judged.figures = self.figures_of_conditions(judged)
        self.settle(judged)
        return judged

    def figures_of_conditions(self, judged):
        """By the names that conditions use; an answer's only where our figures decided it."""
        claim = judged.claim
        found = {"table": shown_in(claim, judged.table)}
        for name, answer in zip(("same", "other"), judged.answers):
            if answer.outcome in outcomes.DECIDED:
                found[name] = shown_in(claim, answer.evaluation)
        ours = Measured(judged.record, self.of_ours)
        printed_figures = Printed(self.rows, self.predictions)
        conclusions = [claim.get("finding"), claim.get("why")]
        for one in (one for one in conclusions if isinstance(one, dict)):
            for condition in one["if"]:
                if own := condition.get("recorded"):
                    found[condition["figure"]] = quantities.evaluate(own, ours)
                elif own := condition.get("printed"):
                    found[condition["figure"]] = quantities.evaluate(own, printed_figures)
        return found

    def settle(self, judged):
        """The outcome that follows from the document alone, if it does."""
        claim, answer = judged.claim, judged.answers[0]
        if claim.get("note"):
            return
        if "refuted_by" in claim and claim["refuted_by"]["rule"] not in rules.RULES:
            answer.outcome, answer.is_settled = None, True
            return
        if "refuted_by" in claim:
            judged.refutation = rules.refutation(claim, self)
            if judged.refutation:
                answer.outcome, answer.is_settled = REFUTED, True
                return
        if claim.get("judged_by") != "document":
            return
        answer.is_settled = True
        if "says" in claim or "bounds" in claim:
            outcome, answer.bands, _ = outcomes.judge(claim, judged.table, judged.table)
            answer.outcome = REFUTED if outcome == "did not replicate" else outcome
        else:
            answer.outcome = "replicated"

    def table_of(self, claim):
        """The evaluation of the document's own figures."""
        if "formula" in claim:
            value = printed.formula(claim["formula"])
            return Evaluation(None, [Estimate.of(value, "", 1)], [])
        quantity = claim.get("recomputed") or claim.get("measure")
        if not quantity:
            return None
        figures = Printed(self.rows, self.predictions)
        return quantities.evaluate(self.with_cases(quantity, quantity), figures)

    def with_cases(self, quantity, declared):
        """Without cases: all that the document has of the subject that was declared."""
        if quantity.get("cases"):
            return quantity
        name = Name.parse(declared["of"])
        own = [row for row in self.rows if row.subject == name.subject]
        exact = [row for row in own if name.instrument in (None, row.instrument)]
        cases = list(dict.fromkeys(row.case for row in exact or own))
        return {**quantity, "cases": cases}

    def answer(self, claim, asked, table, record):
        """`asked`: the key of the question; None for the only one."""
        question = claim.get(asked, {})
        declared = claim.get("ours") or claim.get("measure")
        if asked and "of" not in question:  # it asks nothing of ours
            declared = None
        evaluation, marks, quantity = None, Marks(), None
        if declared:
            quantity = self.with_cases(declared, declared)
            quantity = quantity | {key: question[key] for key in ("of", "over") if key in question}
            evaluation = quantities.evaluate(quantity, Measured(record, self.of_ours))
            marks = Marks(quantity, record)
        which = "other" if asked == "judged_with" else "same"
        outcome, bands, each = outcomes.judge(claim, evaluation, table, marks.is_disturbed, which)
        if self.not_comparable(claim, question, quantity):
            outcome = "not comparable here"
        elif question.get("undecided") or claim.get("undecided"):
            outcome = "undecided"
        return Answer(outcome, evaluation, bands, marks, each, record)

    def not_comparable(self, claim, question, quantity):
        """Declared so, or a stand-in was measured."""
        stand_ins = self.about.get("stand_ins", {})
        own = [quantity[key] for key in ("of", "over") if key in quantity] if quantity else []
        named = [Name.parse(name).subject for name in own]
        is_declared = question.get("not_comparable") or claim.get("not_comparable")
        return is_declared or any(name in stand_ins for name in named)


def shown_in(claim, evaluation):
    """In the unit of what is printed of the claim."""
    return evaluation and shown.shown_as(claim, evaluation.quantity).evaluation(evaluation)


class Marks:
    """What was noted of the rounds that a figure rests on, each counted once a case."""

    def __init__(self, quantity=None, record=None):
        self.rounds = self.marked = self.disturbed = 0
        self.rules, self.places = set(), {}
        if record and not quantity["metric"].startswith("profile."):
            for case in quantity["cases"]:
                self.add(quantity, case, record)

    def add(self, quantity, case, record):
        own = (Name.parse(quantity["of"]), case)
        divisor = quantities.divisor_of(quantity, case)
        other = divisor and divisor[1]
        cells = [self.by_round(record.rows_of(own, other))]
        if other:
            cells.append(self.by_round(record.rows_of(other, own)))
        common = set.intersection(*(set(cell) for cell in cells))
        marks = [set().union(*(cell[one] for cell in cells)) for one in common]
        disturbed = sum(bool(DISTURBANCES & one) for one in marks)
        self.places[f"at {case}"] = disturbed * 2 > len(common)
        self.rounds += len(common)
        self.marked += sum(map(bool, marks))
        self.disturbed += disturbed
        self.rules |= set().union(*marks)

    def by_round(self, rows):
        """The marks of measured rows, by round: those that do not take an audit of the row."""
        measured = [row for row in rows if row["outcome"]["outcome"] == "measured"]
        marks = {row["round"]: marks_of(row["outcome"]) for row in measured}
        for row in measured:
            lost, ok = sum(row["outcome"]["errors"].values()), row["outcome"]["ok"]
            if lost > FAILED_MARKED_ABOVE * (lost + ok):
                marks[row["round"]].add("calls-failed")
        return marks

    def is_disturbed(self, place):
        """Whether others used the machine in most rounds of a case, or of all of them."""
        return self.places.get(place, self.disturbed * 2 > self.rounds)


def marks_of(window):
    marks = {rule_of(mark) for mark in window["marks"]}
    match window.get("steady"):
        case "never":
            marks.add("not-steady")
        case {"from": {"seconds": seconds}} if seconds > 0:
            marks.add("not-steady")
    return marks


def rule_of(mark):
    """A mark is a text, or a table that names its rule."""
    text = mark if isinstance(mark, str) else mark["mark"]
    return next((rule for start, rule in STARTS.items() if text.startswith(start)), "other")
