"""Figures in the unit of what the document printed (docs/extend/claims-format.md)."""

import dataclasses
import re
from dataclasses import dataclass

from digits import SCALES
from quantities import Evaluation

NUMBER = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?) ?(%|K|k|ns|µs|ms|s|MiB)?(?![A-Za-z0-9])")


def printed_numbers(text):
    """(value in base units, unit) of each number; one without a unit has that of the others."""
    found = [(float(number), unit) for number, unit in NUMBER.findall(text)]
    shared = next((unit for _, unit in reversed(found) if unit), "")
    return [(value * SCALES.get(unit or shared, 1), unit or shared) for value, unit in found]


@dataclass(frozen=True)
class Shown:
    """A figure is told as `factor` times it, plus `offset`; its unit stands beside the digits."""

    factor: float = 1.0
    offset: float = 0.0

    def value(self, value):
        return self.factor * value + self.offset

    def ends(self, ends):
        return ends and tuple(sorted(self.value(end) for end in ends))

    def evaluation(self, own):
        if own is None or self == Shown():
            return own
        estimates = [
            dataclasses.replace(
                one,
                value=self.value(one.value),
                extremes=self.ends(one.extremes),
                interval=self.ends(one.interval),
            )
            for one in own.estimates
        ]
        return Evaluation(own.quantity, estimates, own.missing, own.died)

    def band(self, band):
        if band is None:
            return None
        least, most = self.ends((band.least, band.most))
        return dataclasses.replace(band, least=least, most=most)


def shown_as(claim, quantity):
    """How figures of a quantity are told beside what is printed of the claim."""
    numbers = printed_numbers(claim["published"])
    if quantity is None:
        are_times = numbers and all(unit in ("ns", "µs", "ms", "s") for _, unit in numbers)
        return Shown(1e9) if are_times else Shown()
    only = numbers[0] if len(numbers) == 1 else None
    is_ratio = "over" in quantity or "over_case" in quantity or quantity.get("take") == "growth"
    printed = claim.get("printed")
    if only and is_ratio and only[1] == "%":
        is_gain = printed is not None and printed == 1 + only[0]
        return Shown(1.0, -1.0) if is_gain else Shown(-1.0, 1.0)
    calls = [int(one) for case in quantity["cases"] for one in re.findall(r"calls=(\d+)", case)]
    calls = calls[0] if len(quantity["cases"]) == len(calls) == 1 else None
    plain = only[0] if only and only[1] == "" else None
    metric = quantity["metric"]
    if plain is not None and plain >= 1 and calls:
        if metric == "errors" and "error" not in claim["published"]:
            return Shown(-1.0, calls)
        if metric == "error_share":
            return Shown(calls)
    if plain is not None and printed:
        return Shown(plain / printed)
    return Shown()
