"""What figures make of a claim (docs/measure/claims.md, How a claim is judged)."""

import math
from dataclasses import dataclass

import limits

TOLERANCE = 1.25
DECIDED = ("replicated", "more than claimed", "did not replicate")


@dataclass
class Band:
    """The figures of which the claim is true; `open_*`: the end itself is not among them."""

    least: float
    most: float
    favour: str | None = None  # the side on which more than claimed lies
    is_open: bool = False

    def has(self, figure):
        if self.is_open and figure in (self.least, self.most):
            return False
        return self.least <= figure <= self.most

    def contains(self, ends):
        return self.has(ends[0]) and self.has(ends[1])

    def excludes(self, ends):
        below = ends[1] < self.least or (self.is_open and ends[1] == self.least)
        above = ends[0] > self.most or (self.is_open and ends[0] == self.most)
        return below or above


def band_of(claim, estimate, evaluation, table):
    """None: there is no printed figure to compare with."""
    if bounds := claim.get("bounds"):
        return Band(bounds.get("at_least", -math.inf), bounds.get("at_most", math.inf))
    says = claim.get("says", "figure")
    if says in ("factor", "figure"):
        printed = claim.get("printed")
        if printed is None and table:
            same_place = (one.value for one in table.estimates if one.place == estimate.place)
            printed = next(same_place, None)
        if printed is None:
            return None
        favour = claim.get("favour", "larger") if says == "factor" else None
        return Band(printed / TOLERANCE, printed * TOLERANCE, favour)
    whole = evaluation.whole_growth()
    if says == "grows" and estimate is not whole:
        return Band(1 / TOLERANCE, math.inf)
    return {
        "more": Band(1, math.inf, is_open=True),
        "grows": Band(1, math.inf, is_open=True),
        "less": Band(0, 1, is_open=True),
        "much-more": Band(TOLERANCE, math.inf, is_open=True),
        "same": Band(1 / TOLERANCE, TOLERANCE),
        "not-more": Band(0, TOLERANCE),
        "most": Band(0.5, math.inf, is_open=True),
    }[says]


def by_every_round(band, one):
    if band.contains(one.extremes):
        return "replicated"
    if one.rounds is not None or band.excludes(one.extremes):
        return "did not replicate"
    return "undecided"


def by_interval(band, one):
    """True where the whole interval is inside; not where the whole joint interval is outside."""
    if one.interval is None:
        return "undecided"
    low, high = one.interval
    if band.favour == "larger" and low > band.most:
        return "more than claimed"
    if band.favour == "smaller" and high < band.least:
        return "more than claimed"
    inside = {
        None: band.contains(one.interval),
        "larger": low >= band.least,
        "smaller": high <= band.most,
    }[band.favour]
    if inside:
        return "replicated"
    if one.joint_interval and band.excludes(one.joint_interval):
        return "did not replicate"
    return "undecided"


def beside_the_limit(outcome, band, one, metric, question):
    """Where the client was at its limit, a bound of the server's figure decides on its own side.

    Costs through the published client are what was published; its latencies, and the profile of a
    server that it leaves idle, are not."""
    if band is None or one.interval is None or one.limit is None:
        return outcome
    of_the_client = metric.startswith("profile.") or limits.is_time(metric)
    if question != "other" and not of_the_client:
        return outcome
    if outcome == "did not replicate":
        stands = limits.refutes(one.known, band, one.interval)
    else:
        stands = limits.supports(one.known, band)
    if stands:
        return outcome
    return "undecided" if question == "other" else "not comparable here"


def favours_larger(claim):
    says = claim.get("says")
    return says in ("more", "much-more", "grows") or (
        says == "factor" and claim.get("favour", "larger") == "larger"
    )


def judge(claim, evaluation, table, is_disturbed=lambda place: False, question="same"):
    """The outcome, and the band and the outcome of each estimate by its place."""
    if evaluation is None:
        return "undecided", {}, {}
    outcomes, bands = {}, {}
    metric = evaluation.quantity["metric"] if evaluation.quantity else ""
    for one in evaluation.estimates:
        band = bands[one.place] = band_of(claim, one, evaluation, table)
        bounds = claim.get("bounds")
        if band is None:
            outcome = "undecided"
        elif bounds and bounds.get("every_round", True):
            outcome = by_every_round(band, one)
        else:
            outcome = by_interval(band, one)
        if outcome in DECIDED and not bounds and is_disturbed(one.place):
            outcome = "undecided"
        else:
            outcome = beside_the_limit(outcome, band, one, metric, question)
        outcomes[one.place] = outcome
    died = [] if favours_larger(claim) else evaluation.died
    return together(list(outcomes.values()), evaluation.missing + died), bands, outcomes


def together(outcomes, missing):
    for first in ("did not replicate", "not comparable here"):
        if first in outcomes:
            return first
    if missing or "undecided" in outcomes or not outcomes:
        return "undecided"
    if all(one == "more than claimed" for one in outcomes):
        return "more than claimed"
    return "replicated"
