//! The rules by name, each with its meaning.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares each rule once: variant, printed name, and meaning.
macro_rules! rules {
    ($($variant:ident, $name:literal, $meaning:literal;)+) => {
        /// The rules, by name. `Display` prints the name that reports use.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule {
            $(#[doc = $meaning] $variant,)+
        }

        impl Rule {
            /// Every rule, in the order in which reports explain them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name in reports and in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// When the rule is broken: a clause that could follow "broken when".
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }
        }
    };
}

rules! {
    TooManyInFlight, "too-many-in-flight",
        "rate times mean latency (Little's law) is above `S` by more than 5 % and the share of \
         calls cut by the window's edges";
    TooFewInFlight, "too-few-in-flight",
        "rate times mean latency is below half of `S`: the client did not keep its streams busy, \
         or calls ended early because they failed, and the rate is not the server's, or the \
         window cut off the calls that kept them busy, and neither rate nor latency is";
    WindowTooShort, "window-too-short",
        "a window is less than ten mean latencies long, or less than ten times the time in which \
         every stream has its turn, or holds fewer than 1,000 calls: what it cuts off weighs too \
         much";
    PercentileOrder, "percentile-order",
        "a higher percentile is below a lower one";
    OutsideRange, "outside-range",
        "mean or percentile is below the shortest or above the longest latency";
    MeanAbovePercentiles, "mean-above-percentiles",
        "the mean is larger than any distribution with these percentiles can have";
    NotThatPercentile, "not-that-percentile",
        "fewer calls than its name says can be as slow as a percentile: if the share `f` of the \
         calls takes `P` or longer and the next lower percentile `q` is `L`, the mean is at least \
         the mass below `q` plus `(1 - q - f) L + f P`";
    CountsDiffer, "counts-differ",
        "the server answered fewer calls than were answered at the generator, or more than it \
         knows of";
    CpuAboveLimit, "cpu-above-limit",
        "mean CPU is above what the server was given by more than 5 %";
    CpuAboveMachine, "cpu-above-machine",
        "a process used more CPU than the machine has";
    MemoryAboveLimit, "memory-above-limit",
        "peak memory is above what the server was given";
    NotANumber, "not-a-number",
        "a figure is negative or not a number";
    MeanAbovePercentile, "mean-above-percentile",
        "the mean is above a percentile from the 75th on. Possible, and worth a mark: few calls \
         hold most of the time, and the percentiles below them describe somebody else's calls";
    RatioDiffers, "ratio-differs",
        "a printed ratio is not among those that its own figures can give, with every figure \
         taken as the range of values that would have been printed so";
    KibPrintedAsMib, "kib-printed-as-mib",
        "the same subject printed less than a 32nd of this memory with at least as many \
         connections and streams, and this memory over 1024 fits that row within a factor of 4";
    ClientAtItsLimit, "client-at-its-limit",
        "the client used at least 90 % of the CPUs that it was given: the rate is a lower bound of \
         what the server can do";
    ClocksDiffer, "clocks-differ",
        "with one connection a call, rate times mean latency accounts for different shares of the \
         clients of two subjects, and the printed digits do not allow equal ones: one clock leaves \
         out a part of the call, such as the making of its connection";
    TotalIsTimeOut, "total-is-time-out",
        "calls failed, and the total time is a whole multiple of the client's time-out, up to 2 % \
         of one more: the clients waited for nothing, and the rate divides by that";
    MeanIncludesFailures, "mean-includes-failures",
        "the mean is above the slowest success, and `(count x mean - failures x time-out) / \
         successes` lies between the fastest and the slowest: the mean is over the failures too, \
         the other figures are not";
    RateIncludesFailures, "rate-includes-failures",
        "the rate is all calls over the total time, failed ones included, and the successes alone \
         give another";
    HistogramDiffers, "histogram-differs",
        "the counts of a histogram do not add up to the successes, its ends are not the fastest \
         and the slowest, or a percentile lies in another bucket than the counts put it";
    SameFigureTwice, "same-figure-twice",
        "two of the mean, the percentiles from the 75th on and the slowest are the same figure in \
         every row of a table of three rows or more: one of them is in both columns";
    BelowResolution, "below-resolution",
        "a latency is printed as zero, or is less than the steps in which its tool waits";
    NobodyAtItsLimit, "nobody-at-its-limit",
        "neither the server nor the client of a closed loop used 70 % of the CPUs that it was \
         given: the rate is that of what lies between them, or of waiting";
    SharedCeiling, "shared-ceiling",
        "four subjects or more, and a third of at least six under one label, have rates within \
         2 % of the highest: the limit is what they share, such as the client";
    CpuStandsStill, "cpu-stands-still",
        "the server's CPU is the same figure, below what it was given, in three rows or more whose \
         rates differ by a factor of three: it does not come from what the server did";
    RateNotAsked, "rate-not-asked",
        "fewer calls a second were made than were asked for, by more than 10 %";
    DiffersFromItself, "differs-from-itself",
        "the same program under the same label has a rate in another table that differs by more \
         than 5 %: no smaller difference between two programs says anything";
    OrderFixed, "order-fixed",
        "a ratio is of programs that were measured one after the other: whatever changed meanwhile \
         is in it";
    BestOfRuns, "best-of-runs",
        "a rate is the best of several runs: how far they differ is left out";
    OneStart, "one-start",
        "all repetitions are of one start of the programs: other starts differ by more than they do";
    EndsShareCpus, "ends-share-cpus",
        "neither end had CPUs of its own: where the kernel put them is in CPU time and ratios";
    WaitingOmitted, "waiting-omitted",
        "calls were due at a rate, and their latencies count from when they were sent: what they \
         waited before is left out";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_print_and_in_json_are_the_same() {
        for rule in Rule::ALL {
            let json = serde_json::to_string(rule).expect("a word");
            assert_eq!(json, format!("\"{rule}\""));
        }
    }
}
