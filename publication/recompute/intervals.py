"""Medians of rounds with their intervals, and ranges that printed digits leave open."""

import math
import re
from dataclasses import dataclass

CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.959963984540054


def median(values):
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def median_of_ratios(values):
    """Of two in the middle the geometric mean, so that swapping inverts it; none is negative."""
    ordered, n = sorted(values), len(values)
    return math.sqrt(ordered[(n - 1) // 2]) * math.sqrt(ordered[n // 2])


def median_interval(values, confidence=CONFIDENCE):
    """From the k-th smallest to the k-th largest, with the largest k that leaves `confidence`.

    The median lies below the k-th smallest of n as often as n fair coins show heads fewer than k
    times. None where even the smallest and the largest leave too little.
    """
    ordered, n = sorted(values), len(values)
    if n > 1 and ordered[0] == ordered[-1]:
        return ordered[0], ordered[-1]
    best, below = None, 0
    for k in range(1, n // 2 + 1):
        below += math.comb(n, k - 1) / 2**n
        if 1 - 2 * below >= confidence - 1e-12:
            best = ordered[k - 1], ordered[n - k]
    return best


def binomial_interval(share, samples):
    """None of fewer than ten samples."""
    if round(share * samples) < 10:
        return None
    deviation = NORMAL_QUANTILE * math.sqrt(share * (1 - share) / samples)
    return max(share - deviation, 0.0), min(share + deviation, 1.0)


@dataclass(frozen=True)
class Span:
    """A figure with the least and the largest value that it may have."""

    low: float
    value: float
    high: float

    @staticmethod
    def exact(value):
        return Span(value, value, value)

    @staticmethod
    def printed(text, value, unit_of_zero, rounded_down=False):
        """What the digits of `text`, which means `value`, leave open."""
        digits = re.search(r"\d+(\.\d+)?", text).group()
        decimals = len(digits.partition(".")[2])
        unit = value / float(digits) if float(digits) else unit_of_zero
        step = unit / 10**decimals
        below, above = (0.0, step) if rounded_down else (step / 2, step / 2)
        is_below = 1 - 1e-12  # the upper end would have been printed as the next figure
        return Span(max(value - below, 0.0), value, value + above * is_below)

    def _with(self, other, operation):
        corners = [operation(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Span(min(corners), operation(self.value, other.value), max(corners))

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def may_be_zero(self):
        return self.low <= 0 <= self.high
