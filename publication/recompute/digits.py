"""Printed figures, and whether a recomputed one would be printed so."""

import re
from dataclasses import dataclass

SCALES = {
    "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    "%": 0.01, "k": 1e3, "K": 1e3, "M": 1e6,
}  # fmt: skip
NUMBER = r"(?<![\w.=])-?(?<![\w.=])\d+(?:,\d{3})*(?:\.\d+)?"
FIGURE = NUMBER + r"(?: ?(?:ns|µs|ms|s|KiB|MiB|GiB|k|K|M)\b| ?%)?"


@dataclass(frozen=True)
class Figure:
    text: str
    value: float
    step: float  # what one more in the last digit is worth

    @staticmethod
    def parse(text):
        number, unit = re.fullmatch(r"(-?[\d,.]+) ?(\D*)", text).groups()
        number = number.replace(",", "")
        scale = SCALES.get(unit, 1)
        decimals = len(number.partition(".")[2])
        return Figure(text, float(number) * scale, scale / 10**decimals)

    def shows(self, value):
        """Up to half of its last digit, and what floating point leaves open."""
        return abs(value - self.value) <= self.step / 2 * (1 + 1e-9) + abs(value) * 1e-12


def shown_like(text, value):
    """`value` with the unit and the digits of the printed `text`: what should stand there."""
    unit = text.lstrip("-0123456789.,")
    decimals = len(text.removesuffix(unit).partition(".")[2])
    return f"{value / SCALES.get(unit.strip(), 1):.{decimals}f}{unit}"
