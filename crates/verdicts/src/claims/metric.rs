//! What a claim can be about: figures by name, of a measured row and of a printed one.
//!
//! Names are those of the columns of published tables, so that one word means the same thing on
//! both sides.

use crate::document::PrintedRow;
use crate::published::Unit;
use bookend_results::audit::Span;
use bookend_results::latency;
use bookend_results::measurement::{Measurement, Outcome, Row};
use bookend_results::profile::{PROFILE_METRIC, Split};
use bookend_results::statistics::Interval;
use bookend_results::table::{
    RoundFigures, cpu_text, memory_text, precise_latency_text, rate_text, significant_text,
};

/// A figure by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    kind: Kind,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// One of [`FIGURES`].
    Figure(usize),
    /// `latency_p99`, `latency_p99_9`.
    Percentile,
    /// `errors`, or `errors.DEADLINE_EXCEEDED`.
    Errors,
    /// `note.goroutines_peak`: what the calling end noted.
    Note,
    /// `server_note.goroutines_peak`: what the server noted at its end.
    ServerNote,
    /// `profile.network_in`: a share of the samples of a profile.
    Profile,
}

/// A named figure: its unit, and how a measured row yields it.
type Figure = (&'static str, Unit, fn(&Row, &Measurement) -> Option<f64>);

const FIGURES: [Figure; 25] = [
    ("connections", Unit::Number, |row, _| {
        Some(f64::from(row.cell.case.connections))
    }),
    ("concurrency", Unit::Number, |row, _| {
        Some(f64::from(row.cell.case.concurrency))
    }),
    ("requests_per_second", Unit::PerSecond, |_, one| {
        Some(RoundFigures::from(one).requests_per_second)
    }),
    ("requests_per_cpu_second", Unit::PerSecond, |_, one| {
        Some(RoundFigures::from(one).requests_per_cpu_second)
    }),
    (
        "requests_per_client_cpu_second",
        Unit::PerSecond,
        |_, one| Some(one.ok as f64 / one.generator_cpu_seconds),
    ),
    ("server_cpu_mean", Unit::Cpus, |_, one| {
        Some(one.server_cpu_seconds / one.window_seconds)
    }),
    ("server_cpu_max", Unit::Cpus, |_, one| {
        Some(one.server_cpu_max)
    }),
    ("client_cpu_mean", Unit::Cpus, |_, one| {
        Some(one.client_cpu())
    }),
    ("client_cpu_max", Unit::Cpus, |_, one| one.client_cpu_max),
    ("latency_min", Unit::Nanoseconds, |_, one| {
        Some(histogram(one)?.min() as f64)
    }),
    ("latency_mean", Unit::Nanoseconds, |_, one| {
        Some(histogram(one)?.mean())
    }),
    ("latency_max", Unit::Nanoseconds, |_, one| {
        Some(histogram(one)?.max() as f64)
    }),
    ("latency_mean_all", Unit::Nanoseconds, |_, one| {
        mean_of_all(one, None)
    }),
    ("memory_mean", Unit::Bytes, |_, one| {
        Some(one.memory_mean_bytes as f64)
    }),
    ("memory_peak", Unit::Bytes, |_, one| {
        Some(one.memory_peak_bytes as f64)
    }),
    ("threads", Unit::Number, |_, one| {
        Some(f64::from(one.threads))
    }),
    ("ok", Unit::Number, |_, one| Some(one.ok as f64)),
    ("error_share", Unit::Number, |_, one| {
        let failed = one.errors.values().sum::<u64>() as f64;
        Some(failed / (failed + one.ok as f64))
    }),
    ("total_time", Unit::Nanoseconds, |_, one| {
        Some(one.window_seconds * 1e9)
    }),
    ("goodput_per_second", Unit::PerSecond, |_, one| {
        Some(one.ok as f64 / one.window_seconds)
    }),
    ("requests_per_read", Unit::Number, |_, one| {
        one.requests_per_read
    }),
    ("requests_per_write", Unit::Number, |_, one| {
        one.requests_per_write
    }),
    ("switches_per_request", Unit::Number, |_, one| {
        Some(one.context_switches as f64 / one.ok as f64)
    }),
    ("in_flight_share", Unit::Number, in_flight_share),
    ("cost_ratio", Unit::Number, |_, _| None),
];

impl Metric {
    /// A figure by its name.
    ///
    /// # Errors
    /// The names that there are.
    pub fn named(name: &str) -> Result<Self, Vec<&'static str>> {
        let kind = if let Some(index) = FIGURES.iter().position(|figure| figure.0 == name) {
            Kind::Figure(index)
        } else if percent(name).is_some() {
            Kind::Percentile
        } else if name == "errors" || name.starts_with("errors.") {
            Kind::Errors
        } else if name.starts_with("note.") {
            Kind::Note
        } else if name.starts_with("server_note.") {
            Kind::ServerNote
        } else if name.starts_with(PROFILE_METRIC) {
            Kind::Profile
        } else {
            let other = [
                "latency_p99",
                "errors.CODE",
                "note.NAME",
                "server_note.NAME",
                "profile.LAYERS",
            ];
            let figures = FIGURES.iter().map(|figure| figure.0);
            return Err(figures.chain(other).collect());
        };
        let name = name.to_owned();
        Ok(Self { kind, name })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its numbers count.
    pub fn unit(&self) -> Unit {
        match self.kind {
            Kind::Figure(index) => FIGURES[index].1,
            Kind::Percentile => Unit::Nanoseconds,
            Kind::Errors | Kind::Profile => Unit::Number,
            Kind::Note | Kind::ServerNote => {
                if self.name.ends_with("_ns") {
                    Unit::Nanoseconds
                } else {
                    Unit::Number
                }
            }
        }
    }

    /// The figure of a measured row, whose calls were given up at `deadline_ns`, if ever. `None`
    /// where it was not measured or is not a number.
    pub fn of_row(&self, row: &Row, deadline_ns: Option<f64>) -> Option<f64> {
        let Outcome::Measured(one) = &row.outcome else {
            return None;
        };
        let after_dot = || self.name.split_once('.').map(|(_, after)| after);
        let figure = match self.kind {
            Kind::Figure(_) if self.name == "latency_mean_all" => mean_of_all(one, deadline_ns),
            Kind::Figure(index) => (FIGURES[index].2)(row, one),
            Kind::Percentile => {
                let percent = percent(&self.name)?;
                Some(histogram(one)?.value_at_percentile(percent) as f64)
            }
            Kind::Errors => Some(match after_dot() {
                Some(code) => one.errors.get(code).copied().unwrap_or(0) as f64,
                None => one.errors.values().sum::<u64>() as f64,
            }),
            Kind::Note => one.notes.get(after_dot()?).copied(),
            Kind::ServerNote => row.server_notes.get(after_dot()?).copied(),
            Kind::Profile => None,
        };
        figure.filter(|figure| figure.is_finite())
    }

    /// Whether it is a share of the samples of a profile, which no row has.
    pub fn is_of_profile(&self) -> bool {
        self.kind == Kind::Profile
    }

    /// The share of the samples, and where it lies if each is taken independently. `None` where
    /// there is no such layer.
    pub fn of_samples(&self, split: &Split) -> Option<Span> {
        let value = split.named_share(self.name.strip_prefix(PROFILE_METRIC)?)?;
        let Interval { low, high } = split.share_interval(value);
        Some(Span { low, value, high })
    }

    /// The figure of a printed row, as far as its digits tell.
    pub fn of_printed(&self, row: &PrintedRow) -> Option<Span> {
        let seconds = Span::exact(1e-9);
        let printed = match self.name.as_str() {
            "requests_per_cpu_second" => row.requests_per_cpu_second(),
            "requests_per_client_cpu_second" => {
                let rate = row.figure("requests_per_second")?;
                rate.over(row.client_cpu()?)
            }
            "server_cpu_mean" => row.server_cpu(),
            "client_cpu_mean" => row.client_cpu(),
            "in_flight_share" => {
                let streams = Span::exact(row.streams()?);
                row.calls_in_flight()?.over(streams)
            }
            "goodput_per_second" => row
                .figure("ok")?
                .over(row.figure("total_time")?.times(seconds)),
            "error_share" => row.failures()?.over(row.figure("count")?),
            "errors" => row.failures(),
            name if name.starts_with("errors.") => {
                let none = row.failures().map(|_| Span::exact(0.0));
                row.figure(name).or(none)
            }
            _ => None,
        };
        printed.or_else(|| row.figure(&self.name))
    }
}

/// A number as it is printed in a claim's unit.
pub fn unit_text(unit: Unit, value: f64) -> String {
    match unit {
        // No digit says more about nothing, and no unit does.
        Unit::Nanoseconds if value == 0.0 => "0 s".to_owned(),
        Unit::Nanoseconds => precise_latency_text(value),
        Unit::Bytes => memory_text(value),
        Unit::PerSecond => rate_text(value),
        Unit::Cpus => cpu_text(value),
        Unit::Number if value.fract() == 0.0 => rate_text(value),
        Unit::Number => significant_text(value),
    }
}

fn percent(name: &str) -> Option<f64> {
    let digits = name.strip_prefix("latency_p")?.replace('_', ".");
    let percent: f64 = digits.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent)
}

fn histogram(one: &Measurement) -> Option<hdrhistogram::Histogram<u64>> {
    let decoded = latency::decode(&one.latency_histogram).ok()?;
    (!decoded.is_empty()).then_some(decoded)
}

/// The mean over all calls, when each that met its deadline took as long as that. Nobody knows
/// how long calls took that failed otherwise.
fn mean_of_all(one: &Measurement, deadline_ns: Option<f64>) -> Option<f64> {
    let answered = histogram(one)?;
    let failed: u64 = one.errors.values().sum();
    let late = one.errors.get("DEADLINE_EXCEEDED").copied().unwrap_or(0);
    let late_ns = match failed {
        0 => 0.0,
        _ => deadline_ns.filter(|_| late == failed)? * late as f64,
    };
    let answered_ns = answered.mean() * answered.len() as f64;
    Some((answered_ns + late_ns) / (answered.len() + late) as f64)
}

/// Rate times mean latency over the streams of the case.
fn in_flight_share(row: &Row, one: &Measurement) -> Option<f64> {
    let rate = RoundFigures::from(one).requests_per_second;
    Some(rate * histogram(one)?.mean() / 1e9 / f64::from(row.cell.case.concurrency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_one_name_and_a_wrong_one_lists_them() {
        for (name, unit, _) in FIGURES {
            let metric = Metric::named(name).expect("listed");
            assert_eq!((metric.name(), metric.unit()), (name, unit));
        }
        for name in [
            "latency_p99_9",
            "errors",
            "errors.UNAVAILABLE",
            "note.a",
            "server_note.b",
            "profile.network_in+network_out",
        ] {
            assert_eq!(Metric::named(name).expect("open names").name(), name);
        }
        for wrong in ["latency_p100", "latency_pq", "request_per_second", ""] {
            let names = Metric::named(wrong).expect_err("no such metric");
            assert!(names.contains(&"requests_per_second"), "{wrong}");
        }
    }

    #[test]
    fn a_note_in_nanoseconds_is_a_time() {
        let pause = Metric::named("server_note.gc_pause_max_ns").expect("a note");
        assert_eq!(unit_text(pause.unit(), 812_345.0), "812 µs");
        let cycles = Metric::named("server_note.gc_cycles").expect("a note");
        assert_eq!(unit_text(cycles.unit(), 57.0), "57");
    }
}
