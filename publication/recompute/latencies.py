"""HdrHistograms in their V2 encoding, as records keep latencies (docs/measure/results.md)."""

import base64
import math
import struct

COOKIE = 0x1C849313
DIGITS = 3  # of the histograms that figures are read from
HEADER = struct.Struct(">iiiiqqd")


class Latencies:
    """Buckets in ascending order: (lowest value, width, calls)."""

    def __init__(self, buckets):
        self.buckets = buckets
        self.calls = sum(calls for _, _, calls in buckets)

    def mean(self):
        """Every call counts at the middle of its bucket."""
        total = sum((low + width // 2) * calls for low, width, calls in self.buckets)
        return total / self.calls

    def percentile(self, percent):
        """The upper end of the first bucket below which so many percent of the calls lie."""
        wanted = max(1, math.ceil(percent / 100 * self.calls - 1e-9))
        seen = 0
        for low, width, calls in self.buckets:
            seen += calls
            if seen >= wanted:
                return low + width - 1
        raise ValueError("a histogram without calls")

    def shortest(self):
        return self.buckets[0][0]

    def longest(self):
        low, width, _ = self.buckets[-1]
        return low + width - 1


def merged(all_latencies):
    """The calls of several histograms together."""
    counts = {}
    for low, width, calls in (bucket for one in all_latencies for bucket in one.buckets):
        counts[low, width] = counts.get((low, width), 0) + calls
    return Latencies([(low, width, calls) for (low, width), calls in sorted(counts.items())])


def decode(text):
    data = base64.b64decode(text)
    cookie, length, _, digits, lowest, _, _ = HEADER.unpack_from(data)
    if cookie != COOKIE:
        raise ValueError("no HdrHistogram in V2")
    counts = zigzag_numbers(data[HEADER.size : HEADER.size + length])
    half = half_of_buckets(digits)
    unit = lowest.bit_length() - 1
    buckets, index = [], 0
    for count in counts:
        if count < 0:  # so many empty buckets
            index -= count
            continue
        if count > 0:
            shift = max(index // half - 1, 0)
            low = (index - shift * half) << (shift + unit)
            buckets.append((low, 1 << (shift + unit), count))
        index += 1
    return Latencies(buckets if digits >= DIGITS else list(map(finer, buckets)))


def half_of_buckets(digits):
    """Half of the buckets of equal width, in which the first of so many digits lie."""
    return 2 ** (math.ceil(math.log2(2 * 10**digits)) - 1)


def finer(bucket):
    """A bucket of three digits at the middle of one that was widened to keep the record small."""
    low, width, calls = bucket
    middle = low + width // 2
    shift = max(middle.bit_length() - half_of_buckets(DIGITS).bit_length(), 0)
    return (middle >> shift) << shift, 1 << shift, calls


def zigzag_numbers(data):
    value = shift = 0
    for byte in data:
        if shift == 56:  # the ninth byte has eight bits
            value |= byte << shift
        else:
            value |= (byte & 0x7F) << shift
            if byte & 0x80:
                shift += 7
                continue
        yield (value >> 1) ^ -(value & 1)
        value = shift = 0
