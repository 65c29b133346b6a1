"""What figures make of a claim (docs/measure/claims.md, How a claim is judged)."""

import math
from dataclasses import dataclass

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


def judge(claim, evaluation, table, is_disturbed=lambda place: False):
    """The outcome, and the band of each estimate by its place."""
    if evaluation is None:
        return "undecided", {}
    outcomes, bands = [], {}
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
        outcomes.append(outcome)
    if "did not replicate" in outcomes:
        return "did not replicate", bands
    if evaluation.missing or "undecided" in outcomes or not outcomes:
        return "undecided", bands
    if all(one == "more than claimed" for one in outcomes):
        return "more than claimed", bands
    return "replicated", bands
