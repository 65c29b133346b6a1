//! The rules that need only one row, measured or published.

use super::rule::Rule;
use super::span::Span;
use crate::cut_off::CutOff;
use crate::text::{precise_latency_text, rate_text};
use crate::window::WindowFigures;

/// Calls in flight may exceed the streams by this share: latencies are recorded to 0.1 %, and each
/// edge of the window depends on a clock reading.
const IN_FLIGHT_EXCESS: f64 = 0.05;

/// In a closed loop, streams must not be idle for more than this share of the time.
const IN_FLIGHT_LACK: f64 = 0.50;

/// CPU time may exceed the limit by this share: a quota is enforced in slices of 100 ms, and
/// pollers such as `docker stats` measure their own interval unevenly.
const CPU_EXCESS: f64 = 0.05;

/// A histogram of three digits is off by up to 0.1 %, and a comparison involves two of its values.
pub const HISTOGRAM_SLACK: f64 = 0.002;

/// Percentiles that people print. A figure that cannot be the 99th percentile is most likely the
/// next of these.
const CUSTOMARY_PERCENTILES: [f64; 9] =
    [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999];

/// A row's figures with the ranges in which they are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowFigures {
    /// Total calls in flight of a closed loop.
    pub streams: Option<f64>,
    /// Length of the window, seconds.
    pub window_seconds: Option<f64>,
    /// What the end of the window cut off. `None` where it ended with its last call, or where
    /// nobody says.
    pub cut_off: Option<CutOff>,
    /// What the window shows of the time that it needs. `None` as above.
    pub window: Option<WindowFigures>,
    /// Answered calls a second.
    pub requests_per_second: Option<Span>,
    /// Mean latency, nanoseconds.
    pub mean_ns: Option<Span>,
    /// How far the mean and the percentiles may be apart because they were recorded in buckets, as
    /// a share.
    pub latency_slack: f64,
    /// Shortest latency, nanoseconds.
    pub min_ns: Option<Span>,
    /// Longest latency, nanoseconds.
    pub max_ns: Option<Span>,
    /// Latencies by percentile, nanoseconds, in ascending order of percent.
    pub percentiles_ns: Vec<(f64, Span)>,
    /// Mean CPU of the server, 1.0 = one CPU.
    pub cpu: Option<Span>,
    /// CPU that the server may use, 1.0 = one CPU.
    pub cpu_limit: Option<f64>,
    /// Memory of the server, bytes.
    pub memory_bytes: Option<Span>,
    /// Memory that the server may use, bytes.
    pub memory_limit_bytes: Option<f64>,
}

/// The result of a rule for a row: `None` if its figures are not known, `Ok` if they can be true,
/// otherwise the evidence.
pub type Checked = Option<Result<(), String>>;

type RowRule = fn(&RowFigures) -> Checked;

/// The rules for a single row.
const ROW_RULES: [(Rule, RowRule); 9] = [
    (Rule::TooManyInFlight, RowFigures::too_many_in_flight),
    (Rule::TooFewInFlight, RowFigures::too_few_in_flight),
    (Rule::WindowTooShort, RowFigures::window_too_short),
    (Rule::PercentileOrder, RowFigures::percentile_order),
    (Rule::OutsideRange, RowFigures::outside_range),
    (Rule::MeanAbovePercentiles, RowFigures::mean_above_percentiles),
    (Rule::NotThatPercentile, RowFigures::not_that_percentile),
    (Rule::CpuAboveLimit, RowFigures::cpu_above_limit),
    (Rule::MemoryAboveLimit, RowFigures::memory_above_limit),
];

impl RowFigures {
    /// Each rule for a single row that can be applied to these figures, with its result.
    pub fn checks(&self) -> impl Iterator<Item = (Rule, Result<(), String>)> {
        ROW_RULES.into_iter().filter_map(|(rule, check)| Some((rule, check(self)?)))
    }

    /// Little's law: rate times mean latency is the mean number of calls in flight.
    pub fn calls_in_flight(&self) -> Option<Span> {
        let seconds = self.mean_ns?.times(Span::exact(1e-9));
        Some(self.requests_per_second?.times(seconds))
    }

    fn too_many_in_flight(&self) -> Checked {
        let (in_flight, streams) = (self.calls_in_flight()?, self.streams?);
        let most = streams * (1.0 + IN_FLIGHT_EXCESS + self.edges()?);
        unless(in_flight.low > most, || self.in_flight_text(in_flight, streams))
    }

    /// The calls that a window cuts off at its start are counted with all their time, so what it
    /// cuts off at its end is no excuse: it is the other possible cause.
    fn too_few_in_flight(&self) -> Checked {
        let (in_flight, streams) = (self.calls_in_flight()?, self.streams?);
        unless(in_flight.high < streams * (1.0 - IN_FLIGHT_LACK), || {
            format!("{}: {}", self.in_flight_text(in_flight, streams), self.why_few(in_flight))
        })
    }

    fn in_flight_text(&self, in_flight: Span, streams: f64) -> String {
        format!("{} calls in flight on {streams} streams", count(in_flight))
    }

    /// Why so few calls are accounted for.
    fn why_few(&self, in_flight: Span) -> String {
        let (Some(cut_off), Some(seconds)) = (self.cut_off, self.window_seconds) else {
            return "the client left streams idle, or calls failed and nobody says so, or its \
                    time was too short for its slowest calls; without status codes and the length \
                    of the window nobody can tell which"
                .to_owned();
        };
        let calls = rate_text(cut_off.calls);
        if !self.was_cut_off(&cut_off, in_flight, seconds) {
            return format!(
                "the client did not keep its streams busy, with {calls} calls in flight at the \
                 end of the window"
            );
        }
        let age = cut_off.ages.map_or(String::new(), |ages| {
            format!(", {} old on average,", precise_latency_text(ages.mean_ns))
        });
        format!(
            "the streams were busy with calls longer than the window of {seconds:.1} s can hold: \
             it counted {} and cut off {calls}{age} at its end",
            rate_text(cut_off.counted)
        )
    }

    /// Whether the calls that were cut off explain what the streams did. Where their age is not
    /// known, they do if they are more than those that were counted.
    fn was_cut_off(&self, cut_off: &CutOff, in_flight: Span, seconds: f64) -> bool {
        let busy = cut_off.ages.map(|ages| {
            let age_seconds = (ages.mean_ns / 1e9).min(seconds);
            in_flight.high + cut_off.calls * age_seconds / seconds
        });
        let streams = self.streams.unwrap_or(f64::INFINITY);
        match busy {
            Some(busy) => busy >= streams * (1.0 - IN_FLIGHT_LACK),
            None => cut_off.calls > cut_off.counted,
        }
    }

    fn window_too_short(&self) -> Checked {
        let window = self.window?;
        unless(!window.holds(), || {
            format!(
                "{} calls in {:.1} s, and a call takes {}: it would have to be {:.1} s",
                rate_text(window.answered),
                window.seconds,
                precise_latency_text(window.call_seconds() * 1e9),
                window.needed_seconds()
            )
        })
    }

    /// A call that crosses an edge of the window is counted where it ends.
    fn edges(&self) -> Option<f64> {
        let mean_seconds = self.mean_ns?.value / 1e9;
        Some(self.window_seconds.map_or(0.0, |window| mean_seconds / window))
    }

    fn percentile_order(&self) -> Checked {
        let mut pairs = self.percentiles_ns.windows(2).peekable();
        pairs.peek()?;
        let falling = pairs.find(|pair| pair[1].1.high < pair[0].1.low);
        found(falling.map(|pair| {
            let [(lower, low), (higher, high)] = [pair[0], pair[1]];
            format!("p{lower} is {} ns, p{higher} is {} ns", low.value, high.value)
        }))
    }

    fn outside_range(&self) -> Checked {
        self.min_ns.or(self.max_ns)?;
        let least = self.min_ns.map_or(0.0, |min| min.low);
        let most = self.max_ns.map_or(f64::INFINITY, |max| max.high);
        let named =
            self.percentiles_ns.iter().map(|&(percent, value)| (format!("p{percent}"), value));
        let mean = self.mean_ns.map(|mean| ("the mean".to_owned(), mean));
        let mut all = mean.into_iter().chain(named).peekable();
        all.peek()?;
        let outside = all.find(|(_, span)| span.high < least || span.low > most);
        found(outside.map(|(name, Span { value, .. })| {
            format!("{name} is {value} ns, outside {least} to {most} ns")
        }))
    }

    /// The mean is largest when every call is as slow as its percentile allows and all others as
    /// slow as the longest. A mean above that bound is not of the calls that the percentiles
    /// describe.
    fn mean_above_percentiles(&self) -> Checked {
        let (mean, longest) = (self.mean_ns?, self.max_ns?);
        self.percentiles_ns.first()?;
        let mut below = 0.0;
        let mut bound = 0.0;
        for &(percent, value) in &self.percentiles_ns {
            bound += (percent - below) / 100.0 * value.high;
            below = percent;
        }
        bound += (100.0 - below) / 100.0 * longest.high;
        unless(mean.low > bound * (1.0 + self.latency_slack), || {
            format!("the mean is {} ns, the percentiles allow {bound:.0} ns", mean.value)
        })
    }

    /// The first percentile that fewer calls can reach than its name requires.
    fn not_that_percentile(&self) -> Checked {
        let mean_ns = self.mean_ns?.high * (1.0 + self.latency_slack);
        self.percentiles_ns.first()?;
        // The least time that the calls below this percentile take, summed over their shares.
        let mut mass_below = 0.0;
        let mut lower = (0.0, 0.0);
        for &(percent, value) in &self.percentiles_ns {
            let rest = 1.0 - lower.0 / 100.0;
            let most = (mean_ns - mass_below - rest * lower.1) / (value.low - lower.1);
            if value.low > lower.1 && most < 1.0 - percent / 100.0 {
                return Some(Err(no_such_percentile(percent, value, mean_ns, most.max(0.0))));
            }
            mass_below += (percent - lower.0) / 100.0 * lower.1;
            lower = (percent, value.low);
        }
        Some(Ok(()))
    }

    fn cpu_above_limit(&self) -> Checked {
        let (used, limit) = (self.cpu?, self.cpu_limit?);
        unless(used.low > limit * (1.0 + CPU_EXCESS), || {
            format!("{:.1} % of the {:.0} % given", used.value * 100.0, limit * 100.0)
        })
    }

    fn memory_above_limit(&self) -> Checked {
        let (used, limit) = (self.memory_bytes?, self.memory_limit_bytes?);
        let [used_mebibytes, limit_mebibytes] =
            [used.value, limit].map(|bytes| bytes / f64::from(1 << 20));
        unless(used.low > limit, || format!("{used_mebibytes:.1} of {limit_mebibytes:.1} MiB"))
    }
}

fn unless(is_broken: bool, evidence: impl FnOnce() -> String) -> Checked {
    found(is_broken.then(evidence))
}

fn found(evidence: Option<String>) -> Checked {
    Some(evidence.map_or(Ok(()), Err))
}

fn no_such_percentile(percent: f64, value: Span, mean_ns: f64, most: f64) -> String {
    let (slow, mean) = (precise_latency_text(value.low), precise_latency_text(mean_ns));
    let possible =
        CUSTOMARY_PERCENTILES.into_iter().find(|customary| 1.0 - customary / 100.0 <= most);
    let next = possible.map_or(String::new(), |percent| {
        format!("; the first customary percentile that it can be is p{percent}")
    });
    format!(
        "with a mean of at most {mean}, at most {:.2} % of the calls took {slow} or longer: this \
         is no p{percent}{next}",
        most * 100.0
    )
}

/// A number of calls: one figure where the range is narrow, otherwise both ends of the range.
pub fn count(span: Span) -> String {
    if span.high - span.low <= 0.02 * span.value {
        format!("{:.1}", span.value)
    } else {
        format!("{:.0} to {:.0}", span.low, span.high)
    }
}
