package com.example.grpc.contract;

import java.util.concurrent.TimeUnit;

/** How many calls took how long: to the nanosecond below 2 µs, to one part in a thousand above. */
final class Latencies {
  private static final int PART_BITS = 10; // 2^10 counts for each power of two.
  private static final long LONGEST_NS = TimeUnit.HOURS.toNanos(1);

  private final long[] counts = new long[index(LONGEST_NS) + 1];

  void add(long latencyNs) {
    counts[index(Math.min(latencyNs, LONGEST_NS))]++;
  }

  void say() {
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        Contract.say(middleNs(i) + " " + counts[i]);
      }
    }
  }

  private static int index(long latencyNs) {
    int shift = Math.max(0, 63 - PART_BITS - Long.numberOfLeadingZeros(latencyNs));
    return (shift << PART_BITS) + (int) (latencyNs >>> shift);
  }

  private static long middleNs(int index) {
    int shift = Math.max(0, (index >>> PART_BITS) - 1);
    long fromNs = (long) (index - (shift << PART_BITS)) << shift;
    return fromNs + ((1L << shift) - 1) / 2;
  }
}
