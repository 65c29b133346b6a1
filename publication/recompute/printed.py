"""Published tables, and arithmetic on printed figures (docs/extend/claims-format.md)."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from intervals import Span

CELL = ("table", "subject", "label", "our_subject", "our_case", "our_instrument")


@dataclass
class Row:
    place: str
    subject: str
    case: str
    instrument: str
    figures: dict

    def first(self, *names):
        return next((self.figures[name] for name in names if name in self.figures), None)

    def failures(self):
        """Calls that failed; none where successes are printed and failures are not."""
        failed = [span for name, span in self.figures.items() if name.startswith("errors")]
        if failed or "ok" in self.figures:
            return sum(failed, Span.exact(0.0))
        return None

    def figure(self, metric):
        """The metric as a column, or as it follows from other columns; None without them."""
        rate = self.first("requests_per_second")
        server = self.first("server_cpu_mean", "server_cpu_max", "cpu")
        client = self.first("client_cpu_mean", "client_cpu_max")
        mean_ns = self.first("latency_mean", "latency_mean_all")
        total_ns = self.first("total_time")
        derived = {
            "requests_per_cpu_second": lambda: over(rate, server),
            "requests_per_client_cpu_second": lambda: over(rate, client),
            "server_cpu_mean": lambda: server,
            "client_cpu_mean": lambda: client,
            "in_flight_share": lambda: over(
                rate and mean_ns and rate * mean_ns * NANOSECOND, self.first("concurrency")
            ),
            "goodput_per_second": lambda: over(
                self.first("ok"), total_ns and total_ns * NANOSECOND
            ),
            "error_share": lambda: over(self.failures(), self.first("count")),
            "errors": self.failures,
        }
        value = derived[metric]() if metric in derived else None
        if metric.startswith("errors.") and self.failures():
            value = self.figures.get(metric, Span.exact(0.0))
        return value or self.figures.get(metric)


NANOSECOND = Span.exact(1e-9)


def over(dividend, divisor):
    if dividend is None or divisor is None or divisor.may_be_zero():
        return None
    return dividend / divisor


def tables(folder, rounded_down):
    """The rows of every published*.csv but the lines of histograms."""
    rows = []
    for file in sorted(Path(folder).glob("published*.csv")):
        with file.open() as lines:
            raw = list(csv.DictReader(lines))
        if raw and "upper_bound" not in raw[0]:
            rows += [row_of(raw, one, rounded_down) for one in raw]
    return rows


def histogram(folder, row):
    """The buckets that were printed with a row: upper ends in nanoseconds, and calls."""
    buckets = []
    for file in sorted(Path(folder).glob("published*.csv")):
        with file.open() as lines:
            for raw in csv.DictReader(lines):
                place = f"{raw['subject']}, {raw['label']} ("
                if "upper_bound" in raw and row.place.startswith(place):
                    buckets.append((float(raw["upper_bound [ns]"]), float(raw["count [1]"])))
    return buckets


def row_of(table, raw, rounded_down):
    figures = {}
    for column in raw:
        name, bracket, unit = column.partition(" [")
        if bracket and raw[column]:
            text, value = raw[name], float(raw[column])
            if unit == "1]" and text.isdigit():
                figures[name] = Span.exact(value)
            else:
                is_down = rounded_down and unit == "ns]"
                zero = unit_of_zero(table, name, column)
                figures[name] = Span.printed(text, value, zero, is_down)
    place = f"{raw['subject']}, {raw['label']} ({raw['table']})"
    return Row(place, raw["our_subject"], raw["our_case"], raw["our_instrument"], figures)


def unit_of_zero(table, name, column):
    """What a printed 1 means in the finest unit of the column: a bare 0 does not show its unit."""
    units = []
    for raw in table:
        digits = re.match(r"\d+(\.\d+)?", raw[name])
        if digits and float(digits.group()) > 0:
            units.append(float(raw[column]) / float(digits.group()))
    return min(units, default=0.0)


def formula(text):
    """The value of `(65135.31 / 15%) / 2`: whole numbers without a per cent sign are exact."""
    tokens = re.findall(r"\d+(?:\.\d+)?%?|[-+*/()]", text)
    if "".join(tokens) != text.replace(" ", ""):
        raise ValueError(f"no formula: {text}")

    def literal(token):
        if token[0].isdigit():
            return f"figures[{token!r}]"
        return token

    figures = {token: printed_figure(token) for token in tokens if token[0].isdigit()}
    return eval(" ".join(map(literal, tokens)), {"__builtins__": {}}, {"figures": figures})


def printed_figure(token):
    number, is_percent = float(token.rstrip("%")), token.endswith("%")
    if not is_percent and "." not in token:
        return Span.exact(number)
    return Span.printed(token, number / 100 if is_percent else number, 1.0)
