"""A quantity of claims.toml, computed from printed rows or from our rounds."""

from dataclasses import dataclass, field

import limits
import metrics
import printed
from intervals import CONFIDENCE, Span, binomial_interval
from intervals import median, median_interval, median_of_ratios
from rounds import Name


@dataclass
class Estimate:
    """A figure of one case, or of several taken together."""

    place: str
    value: float
    extremes: tuple
    rounds: int | None  # None: a printed figure, or a profile's
    interval: tuple | None
    joint_interval: tuple | None
    known: str = limits.EXACTLY  # where the client was at its limit
    limit: limits.Limit | None = None

    @staticmethod
    def of(series, place, count):
        """One of `count` estimates."""
        if isinstance(series, Span):
            ends = (series.low, series.high)
            return Estimate(place, series.value, ends, None, ends, ends)
        values = list(series.values())
        extremes = (min(values), max(values))
        joint = median_interval(values, 1 - (1 - CONFIDENCE) / count)
        own = median_interval(values)
        middle = median_of_ratios if isinstance(series, Ratios) else median
        return Estimate(place, middle(values), extremes, len(values), own, joint)


class Ratios(dict):
    """Figures by round that were divided."""


@dataclass
class Evaluation:
    quantity: dict | None
    estimates: list
    missing: list
    died: list = field(default_factory=list)  # cases whose divisor's server never lived

    def whole_growth(self):
        """The growth from the first case to the last, where it could be computed."""
        if not self.quantity or self.quantity.get("take") != "growth":
            return None
        cases = self.quantity["cases"]
        place = f"from {cases[0]} to {cases[-1]}"
        return next((one for one in self.estimates if one.place == place), None)

    def shown(self):
        whole = self.whole_growth()
        return [whole] if whole else self.estimates


class Missing(Exception):
    """Why a case has no figure."""


class Printed:
    """Figures of the document's own tables."""

    def __init__(self, rows, predictions=None):
        self.rows, self.predictions = rows, predictions

    def series(self, metric, name, case, _other):
        own = [row for row in self.rows if (row.subject, row.case) == (name.subject, case)]
        own.sort(key=lambda row: name.instrument not in (None, row.instrument))
        for row in own:
            figure = row.figure(metric)
            if figure is not None:
                return figure
        raise Missing(f"{metric} is not printed")

    def check(self, _metric, _own, _other):
        pass

    def known(self, _metric, _own, _other):
        return limits.EXACTLY, None

    def has_died(self, _quantity, _case):
        return None


class Measured:
    """Figures of our record, round by round, or of its profile."""

    def __init__(self, record, predictions=None):
        self.record, self.predictions = record, predictions

    def series(self, metric, name, case, other):
        if self.record is None:
            raise Missing("not yet recorded")
        if metric.startswith("profile."):
            return self.share(metric.removeprefix("profile."), name, case)
        rows = self.record.rows_of((name, case), other)
        if not rows:
            raise Missing("no record of it")
        by_round = {}
        for row in rows:
            if row["outcome"]["outcome"] != "measured":
                raise Missing(row["outcome"].get("error") or row["outcome"].get("reason", ""))
        bounds = sum(metrics.is_lower_bound(metric, row) for row in rows)
        if bounds:
            raise Missing(f"a lower bound in {bounds} of {len(rows)} rounds")
        for row in rows:
            figure = metrics.of_round(metric, row)
            if figure is None:
                raise Missing("not in every round")
            by_round[row["round"]] = figure
        return by_round

    def share(self, layers, name, case):
        line = self.record.shares_of(name, case)
        if line is None:
            raise Missing("no profile of it")
        samples = int(line["samples"])
        share = round(sum(float(line[layer]) for layer in layers.split("+")) * samples) / samples
        ends = binomial_interval(share, samples)
        if ends is None:
            raise Missing("fewer than ten samples")
        return Span(ends[0], share, ends[1])

    def known(self, metric, own, other):
        """What the calling end leaves of a figure, and its limit where that is not all."""
        limit = limits.limit_of(self.record.rows_of(own, other)) if self.record else None
        known = limits.known_of(metric) if limit else limits.EXACTLY
        return known, limit if known != limits.EXACTLY else None

    def has_died(self, quantity, case):
        """The error of a divisor's server that ended in every round where the other lived."""
        if self.record is None or "over" not in quantity:
            return None
        if quantity.get("take", "each") not in ("each", "growth"):
            return None
        own = self.all_outcomes(Name.parse(quantity["of"]), case)
        others = self.all_outcomes(Name.parse(quantity["over"]), case)
        errors = [one.get("error", "") for one in others]
        ended = errors and all(one.startswith("the server ended") for one in errors)
        lived = own and all(one["outcome"] == "measured" for one in own)
        return errors[0] if ended and lived else None

    def all_outcomes(self, name, case):
        rows = (row for run in self.record.runs for row in self.record.rows_in(run, name, case))
        return [row["outcome"] for row in rows]

    def check(self, metric, own, other):
        """Nothing is divided by a figure of another run."""
        if metric.startswith("profile.") or self.record is None:
            return
        if self.record.rows_of(own) and not self.record.rows_of(own, other):
            raise Missing("measured in another run than what it is divided by")


def divided(own, divisor):
    if isinstance(divisor, Span) and isinstance(own, dict):
        return Ratios({one: figure / divisor.value for one, figure in own.items()})
    if isinstance(divisor, Span):
        quotient = printed.over(own, divisor)
        if quotient is None:
            raise Missing("cannot be divided")
        return quotient
    rounds = own.keys() & divisor.keys()
    if not rounds or any(divisor[one] == 0 for one in rounds):
        raise Missing("cannot be divided")
    return Ratios({one: own[one] / divisor[one] for one in sorted(rounds)})


def divisor_of(quantity, case):
    """(metric, cell) of what the figure of a case is divided by."""
    metric, own = quantity["metric"], Name.parse(quantity["of"])
    if "over" in quantity:
        return metric, (Name.parse(quantity["over"]), case)
    if "over_case" in quantity:
        return metric, (own, quantity["over_case"])
    if "over_metric" in quantity:
        return quantity["over_metric"], (own, case)
    return None


def of_case(quantity, case, figures):
    metric, name = quantity["metric"], Name.parse(quantity["of"])
    divisor = divisor_of(quantity, case)
    if "over_model" in quantity:
        predicted = getattr(figures.predictions[quantity["over_model"]], metric)
        return divided(figures.series(metric, name, case, None), Span.exact(predicted))
    if divisor is None:
        return figures.series(metric, name, case, None)
    other_metric, other = divisor
    figures.check(metric, (name, case), other)
    own = figures.series(metric, name, case, other)
    return divided(own, figures.series(other_metric, *other, (name, case)))


def known_of_case(quantity, case, figures):
    own = (Name.parse(quantity["of"]), case)
    divisor = divisor_of(quantity, case)
    if divisor is None:
        return figures.known(quantity["metric"], own, None)
    metric, other = divisor
    known, limit = figures.known(quantity["metric"], own, other)
    beneath, other_limit = figures.known(metric, other, own)
    return limits.both(known, limits.inverse(beneath)), limit or other_limit


def evaluate(quantity, figures):
    """The estimates of a quantity; of a record each is computed once."""
    if not isinstance(figures, Measured) or figures.record is None:
        return evaluated(quantity, figures)
    key = repr(quantity)
    known = figures.record.evaluations
    if key not in known:
        known[key] = evaluated(quantity, figures)
    return known[key]


def evaluated(quantity, figures):
    series, missing, died = {}, [], []
    for case in quantity["cases"]:
        if error := figures.has_died(quantity, case):
            died.append(f"{case}: {error}")
            continue
        try:
            series[case] = of_case(quantity, case, figures)
        except Missing as reason:
            missing.append(f"{case}: {reason}")
    dead = {one.partition(": ")[0] for one in died}
    quantity = {**quantity, "cases": [one for one in quantity["cases"] if one not in dead]}
    chosen = taken(quantity, series)
    estimates = []
    for place, one, cases in chosen:
        if one:
            estimate = Estimate.of(one, place, len(chosen))
            estimate.known, estimate.limit = known_of_all(quantity, cases, figures)
            estimates.append(estimate)
        else:
            missing.append(f"no figure of one run {place}")
    return Evaluation(quantity, estimates, missing, died)


def known_of_all(quantity, cases, figures):
    """Of several cases together; of a growth, the first one divides the other."""
    knowns = [known_of_case(quantity, case, figures) for case in cases]
    if quantity.get("take") == "growth":
        (first, limit), (then, other) = knowns
        return limits.both(then, limits.inverse(first)), other or limit
    known, limit = limits.EXACTLY, None
    for one, own_limit in knowns:
        known, limit = limits.both(known, one), limit or own_limit
    return known, limit


def taken(quantity, series):
    """The figures that count, each with its place and cases; None where it cannot be computed."""
    cases, take = quantity["cases"], quantity.get("take", "each")
    if take == "growth":
        return growths(cases, series)
    if take in ("median", "largest"):
        if len(series) < len(cases) or not cases:
            return []
        rank = (len(cases) - 1) // 2 if take == "median" else len(cases) - 1
        word = {"median": "middle", "largest": "largest"}[take]
        one_case = f"at {cases[0]}"
        place = one_case if len(cases) == 1 else f"as the {word} of {len(cases)} cases"
        return [(place, ranked(list(series.values()), rank), cases)]
    return [(f"at {case}", series[case], [case]) for case in cases if case in series]


def growths(cases, series):
    steps = list(zip(cases, cases[1:])) + ([(cases[0], cases[-1])] if len(cases) > 2 else [])
    found = []
    for first, then in steps:
        if first in series and then in series:
            try:
                growth = divided(series[then], series[first])
            except Missing:
                growth = None
            found.append((f"from {first} to {then}", growth, [first, then]))
    return found


def ranked(all_series, rank):
    """The figure with this rank from the smallest, round by round, or bound by bound."""
    if isinstance(all_series[0], Span):
        bounds = ("low", "value", "high")
        return Span(*(sorted(getattr(one, end) for one in all_series)[rank] for end in bounds))
    rounds = set.intersection(*(set(one) for one in all_series))
    kind = type(all_series[0])
    return kind({one: sorted(s[one] for s in all_series)[rank] for one in sorted(rounds)})
