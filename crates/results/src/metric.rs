//! The only catalogue of metrics: each name with its unit, how a round yields it and how the rounds
//! of a cell are pooled. Tables, exports, published columns and claims take their figures from
//! here, so that each name has one meaning (docs/measure/metrics.md has the same list).

mod catalogue;
mod cut_off;
mod definition;

pub use catalogue::*;
pub use cut_off::cut_off_metrics;
pub use definition::{MetricDefinition, Unit};

use crate::round::{MeasuredRound, MeasuredRounds};
use crate::statistics::median;
use hdrhistogram::Histogram;
use std::fmt;
use std::str::FromStr;

/// The prefix of names of the layers of a profile.
pub const PROFILE_PREFIX: &str = "profile.";

/// A figure by its name, which `FromStr` reads and `Display` prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// A name of the catalogue.
    Listed(&'static MetricDefinition),
    /// `latency_p99_99`: the latency that this percentage of the OK calls did not exceed.
    Percentile {
        /// `99990` for `latency_p99_99`.
        millipercent: u32,
    },
    /// `errors.DEADLINE_EXCEEDED`: calls that ended with that code.
    Errors(String),
    /// `note.goroutines_peak`: a note of the calling end.
    Note(String),
    /// `server_note.goroutines_peak`: a note of the server at its end.
    ServerNote(String),
    /// `profile.network_in`: a share of the samples of a profile, which single rounds do not have.
    Profile(String),
}

/// The patterns of names that are not listed, each with its meaning.
pub const OPEN_NAMES: [(&str, Unit, &str); 5] = [
    (
        "latency_pN",
        Unit::Nanoseconds,
        "what N percent of the OK calls did not exceed; `latency_p99_9` is that of 99.9 %",
    ),
    ("errors.CODE", Unit::Number, "calls of the window that ended with that code"),
    ("note.NAME", Unit::Number, "what the calling end noted about itself"),
    ("server_note.NAME", Unit::Number, "what the server noted about itself at its end"),
    (
        "profile.LAYERS",
        Unit::Number,
        "share of the samples of the kept profile in these layers, or in a function that the rules name",
    ),
];

impl Metric {
    /// The unit of its figures.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Listed(definition) => definition.unit,
            Self::Percentile { .. } => Unit::Nanoseconds,
            Self::Note(name) | Self::ServerNote(name) if name.ends_with("_ns") => Unit::Nanoseconds,
            _ => Unit::Number,
        }
    }

    /// Whether it is that metric of the catalogue.
    pub fn is(&self, definition: &MetricDefinition) -> bool {
        matches!(self, Self::Listed(own) if *own == definition)
    }

    /// The figure of one round. `None` where it was not measured or is not a number.
    pub fn of_round(&self, round: &MeasuredRound<'_>) -> Option<f64> {
        let figure = match self {
            Self::Listed(definition) => definition.of_round(round),
            Self::Percentile { millipercent } => at(round.latencies()?, *millipercent),
            Self::Errors(code) => {
                Some(round.window.counts.errors.get(code).copied().unwrap_or(0) as f64)
            }
            Self::Note(name) => round.window.notes.get(name).copied(),
            Self::ServerNote(name) => round.row.server_notes.get(name).copied(),
            Self::Profile(_) => None,
        };
        figure.filter(|figure| figure.is_finite())
    }

    /// The figure of a cell over all its rounds. `None` as above.
    pub fn pooled(&self, rounds: &MeasuredRounds<'_>) -> Option<f64> {
        match self {
            Self::Listed(definition) => definition.pooled(rounds),
            Self::Percentile { millipercent } => at(rounds.latencies()?, *millipercent),
            _ => {
                let each: Vec<_> =
                    rounds.each().iter().filter_map(|round| self.of_round(round)).collect();
                median(&each)
            }
        }
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(name: &str) -> Result<Self, UnknownMetric> {
        if let Some(definition) = ALL.iter().find(|definition| definition.name == name) {
            return Ok(Self::Listed(definition));
        }
        let after = |prefix| name.strip_prefix(prefix).filter(|rest| !rest.is_empty());
        if let Some(millipercent) = after("latency_p").and_then(millipercent) {
            return Ok(Self::Percentile { millipercent });
        }
        let open = |prefix, of: fn(String) -> Self| after(prefix).map(|rest| of(rest.to_owned()));
        open("errors.", Self::Errors)
            .or_else(|| open("note.", Self::Note))
            .or_else(|| open("server_note.", Self::ServerNote))
            .or_else(|| open(PROFILE_PREFIX, Self::Profile))
            .ok_or_else(|| UnknownMetric(name.to_owned()))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(definition) => f.write_str(definition.name),
            Self::Percentile { millipercent } => {
                let percent = percent(*millipercent).to_string();
                write!(f, "latency_p{}", percent.replace('.', "_"))
            }
            Self::Errors(code) => write!(f, "errors.{code}"),
            Self::Note(name) => write!(f, "note.{name}"),
            Self::ServerNote(name) => write!(f, "server_note.{name}"),
            Self::Profile(layers) => write!(f, "{PROFILE_PREFIX}{layers}"),
        }
    }
}

/// `99_9` is 99,900 thousandths of a percent.
fn millipercent(digits: &str) -> Option<u32> {
    let percent: f64 = digits.replacen('_', ".", 1).parse().ok()?;
    let within = percent > 0.0 && percent < 100.0;
    within.then_some((percent * 1000.0).round() as u32)
}

fn at(latencies: &Histogram<u64>, millipercent: u32) -> Option<f64> {
    Some(latencies.value_at_percentile(percent(millipercent)) as f64)
}

fn percent(millipercent: u32) -> f64 {
    f64::from(millipercent) / 1000.0
}

/// There is no metric of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no metric `{0}`: write one of {names}", names = names().join(", "))]
pub struct UnknownMetric(String);

/// Every name that can be used, in the order of the catalogue.
pub fn names() -> Vec<&'static str> {
    let open = OPEN_NAMES.iter().map(|(name, ..)| *name);
    ALL.iter().map(|definition| definition.name).chain(open).collect()
}

/// The catalogue as a Markdown table, as in docs/measure/metrics.md.
pub fn markdown() -> String {
    let mut text = "| name | unit | over the rounds | meaning |\n|---|---|---|---|\n".to_owned();
    for one in ALL {
        let (symbol, pooling) = (one.unit.symbol(), one.pooling);
        text += &format!("| `{}` | {symbol} | {pooling} | {} |\n", one.name, one.meaning);
    }
    for (name, unit, meaning) in OPEN_NAMES {
        let pooling = match name {
            "latency_pN" => "merged histogram",
            "profile.LAYERS" => "of its own",
            _ => "median",
        };
        text += &format!("| `{name}` | {} | {pooling} | {meaning} |\n", unit.symbol());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::{CellId, Measurement, Outcome, Row, WindowCounts};
    use bookend_contract::latency;
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_has_one_name_and_reads_as_it_is_written() {
        let all: BTreeSet<&str> = ALL.iter().map(|one| one.name).collect();
        assert_eq!(all.len(), ALL.len());
        let open = [
            "latency_p99_99",
            "errors.UNAVAILABLE",
            "note.a",
            "server_note.b",
            "profile.network_in+network_out",
        ];
        for name in all.into_iter().chain(open) {
            let metric: Metric = name.parse().expect("a metric");
            assert_eq!(metric.to_string(), name);
        }
        let known = "latency_p99_9".parse::<Metric>().expect("listed");
        assert!(known.is(&LATENCY_P99_9) && !known.is(&LATENCY_P99));
    }

    #[test]
    fn a_wrong_name_lists_those_that_there_are() {
        for wrong in [
            "speed",
            "latency_p",
            "latency_p100",
            "latency_p101",
            "latency_px",
            "errors.",
            "request_per_second",
            "",
        ] {
            let error = wrong.parse::<Metric>().expect_err("no such metric");
            let text = error.to_string();
            assert!(text.contains(", requests_per_second, "), "{text}");
            assert!(text.contains(", errors.CODE, "), "{text}");
        }
    }

    #[test]
    fn a_note_in_nanoseconds_is_a_time() {
        let unit = |name: &str| name.parse::<Metric>().expect("a note").unit();
        assert_eq!(unit("server_note.gc_pause_max_ns"), Unit::Nanoseconds);
        assert_eq!(unit("server_note.gc_cycles"), Unit::Number);
    }

    /// A hundred calls: `slow` slow ones, the others fast.
    fn round(number: u32, slow: u64) -> Row {
        let mut histogram = latency::empty();
        latency::record(&mut histogram, 1_000_000, 100 - slow);
        latency::record(&mut histogram, 50_000_000, slow);
        let latency_histogram = latency::encode(&histogram);
        let window = Measurement {
            counts: WindowCounts { ok: 100, ..WindowCounts::default() },
            latency_histogram,
            ..Measurement::default()
        };
        let (case, instrument) = ("C=1 S=1".parse().expect("a case"), "x".to_owned());
        let cell = CellId { subject: "y".to_owned(), case, instrument };
        Row::new(number, cell, Outcome::Measured(Box::new(window)))
    }

    #[test]
    fn percentiles_of_several_rounds_are_those_of_all_their_calls() {
        // Two rounds of three have no slow call, and five of three hundred are slow.
        let rows = [round(0, 0), round(1, 5), round(2, 0)];
        let pooled = LATENCY_P99.pooled(&MeasuredRounds::of(&rows, None)).expect("a figure");
        assert!(pooled > 49e6, "{pooled}");
        assert!(LATENCY_P50.pooled(&MeasuredRounds::of(&rows, None)).expect("a figure") < 2e6);
    }
}
