"""The formulas, on figures that can be checked by hand."""

import base64
import math
import struct
import unittest

import latencies
import printed
from digits import Figure
from intervals import Span, binomial_interval, median, median_interval
from outcomes import Band, by_every_round, by_interval
from quantities import Estimate


def encoded(digits, counts):
    def zigzag(number):
        number = number << 1 if number >= 0 else (-number << 1) - 1
        while number >= 0x80:
            yield number & 0x7F | 0x80
            number >>= 7
        yield number

    data = bytes(byte for count in counts for byte in zigzag(count))
    head = struct.pack(">iiiiqqd", latencies.COOKIE, len(data), 0, digits, 1, 10**9, 1.0)
    return base64.b64encode(head + data).decode()


class Figures(unittest.TestCase):
    def test_the_interval_of_ten_rounds_leaves_out_the_ends(self):
        values = [3, 1, 2, 5, 4, 7, 6, 9, 8, 10]
        self.assertEqual((median(values), median_interval(values)), (5.5, (2, 9)))
        self.assertEqual(median_interval(values, 1 - 0.05 / 3), (1, 10))

    def test_five_rounds_have_no_interval_unless_all_are_equal(self):
        self.assertIsNone(median_interval([1, 2, 3, 4, 5]))
        self.assertEqual(median_interval([1, 2, 3, 4, 5, 6]), (1, 6))
        self.assertEqual(median_interval([7, 7]), (7, 7))

    def test_a_share_of_fewer_than_ten_samples_has_no_interval(self):
        low, high = binomial_interval(0.5, 100)
        self.assertAlmostEqual(high - low, 2 * 1.96 * 0.05, places=4)
        self.assertIsNone(binomial_interval(0.009, 1000))

    def test_a_histogram(self):
        one = latencies.decode(encoded(3, [-5, 3, -2042, 1, 6]))
        self.assertEqual(one.calls, 10)
        self.assertEqual((one.shortest(), one.percentile(30), one.percentile(31)), (5, 5, 2049))
        self.assertEqual((one.longest(), one.mean()), (2051, (5 * 3 + 2049 + 2051 * 6) / 10))

    def test_fewer_digits_count_every_call_at_the_middle(self):
        # With one digit buckets are two wide from 32 on: the 33rd holds 34 and 35.
        one = latencies.decode(encoded(1, [-33, 4]))
        self.assertEqual((one.shortest(), one.longest(), one.mean()), (35, 35, 35))

    def test_printed_digits_leave_a_range(self):
        span = Span.printed("95k", 95_000.0, 1.0)
        self.assertEqual((span.low, round(span.high, 3)), (94_500.0, 95_500.0))
        cut = Span.printed("1ms", 1e6, 1.0, rounded_down=True)
        self.assertTrue(cut.low == 1e6 and cut.high < 2e6)
        ratio = printed.formula("(65135.31 / 15%) / (41124.74 / 95%)")
        ends = [f"{end:.2f}" for end in (ratio.low, ratio.value, ratio.high)]
        self.assertEqual(ends, ["9.66", "10.03", "10.43"])

    def test_a_figure_shows_what_rounds_to_it(self):
        self.assertTrue(Figure.parse("1.94").shows(1.9449))
        self.assertFalse(Figure.parse("1.94").shows(1.9451))
        self.assertTrue(Figure.parse("1.74 MiB").shows(1.7352 * 2**20))
        self.assertTrue(Figure.parse("27,380").shows(27380.4) and Figure.parse("15 %").shows(0.154))

    def test_outcomes(self):
        def estimate(low, high, joint=None):
            ends = (low, high)
            return Estimate("", (low + high) / 2, ends, 10, ends, joint or ends)

        twice = Band(1.6, 2.5, "larger")
        for ends, outcome in (
            ((1.7, 2.4), "replicated"),
            ((1.7, 9.0), "replicated"),
            ((2.6, 3.0), "more than claimed"),
            ((1.0, 1.5), "did not replicate"),
            ((1.5, 1.7), "undecided"),
        ):
            self.assertEqual(by_interval(twice, estimate(*ends)), outcome)
        self.assertEqual(by_interval(twice, estimate(1.0, 1.5, (0.9, 1.7))), "undecided")
        above = Band(1.0, math.inf, is_open=True)
        self.assertEqual(by_interval(above, estimate(1.0, 1.2)), "undecided")
        self.assertEqual(by_interval(above, estimate(1.0, 1.0)), "did not replicate")
        none = Band(-math.inf, 0)
        self.assertEqual(by_every_round(none, estimate(0, 0)), "replicated")
        self.assertEqual(by_every_round(none, estimate(0, 1)), "did not replicate")


if __name__ == "__main__":
    unittest.main()
