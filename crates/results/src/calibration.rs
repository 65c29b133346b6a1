//! Calibrations: figures of the instrument, held against what was known before they were measured.
//!
//! A [`Calibration`] is one of them; an [`InstrumentCheck`] is all of one machine and one day, as
//! kept and as quoted by later reports.

mod instrument_check;
mod judge;

pub use instrument_check::{CheckOrigin, InstrumentCheck};
pub use judge::{WitnessedCounts, freeze_percentile_ns, halves_disagree, is_steady_enough};

use crate::text::{memory_text, percent_text, precise_latency_text, significant_text};
use serde::{Deserialize, Deserializer, Serialize};

/// What a figure is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalibratedUnit {
    /// Time, nanoseconds.
    Nanoseconds,
    /// Memory, bytes.
    Bytes,
    /// Calls, connections, or times that a word was right.
    Count,
    /// Calls a second.
    PerSecond,
    /// A plain number.
    Ratio,
}

/// How far a figure may be from what is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tolerance {
    /// As a share of what is known.
    pub relative: f64,
    /// In the figure's unit, added to it.
    pub absolute: f64,
}

/// What came of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum CalibrationOutcome {
    /// Within its tolerance.
    Held,
    /// Not within it.
    Missed,
    /// It cannot be judged in the time given, or on this machine.
    Refused(String),
    /// A figure that has no tolerance, told for what it says.
    Told,
}

/// One figure, held against something known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// What kind of figure: `delay`, `counts`.
    pub part: String,
    /// Which of them: `closed loop, 1 ms: p50`.
    pub what: String,
    /// Of both figures.
    pub unit: CalibratedUnit,
    /// What it must be.
    #[serde(deserialize_with = "number_or_none")]
    pub known: f64,
    /// What it is.
    #[serde(deserialize_with = "number_or_none")]
    pub measured: f64,
    /// How far they may be apart. `None`: they are only told.
    pub tolerance: Option<Tolerance>,
    /// Why it is not judged, where it is not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
    /// What else the CPUs did meanwhile, a clause each: `steal 3.1 %`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub disturbances: Vec<String>,
}

/// JSON has no word for what is no number, so such a figure is written as null.
fn number_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

impl Tolerance {
    /// Nothing: counts are equal or wrong.
    pub const NONE: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };

    /// A share of what is known.
    pub const fn share(relative: f64) -> Tolerance {
        Tolerance { relative, absolute: 0.0 }
    }

    fn allowed(self, known: f64) -> f64 {
        self.absolute + self.relative * known.abs()
    }
}

impl Calibration {
    /// A figure that must be within `tolerance` of what is known.
    pub fn new(
        (part, what): (&str, impl Into<String>),
        unit: CalibratedUnit,
        (known, measured): (f64, f64),
        tolerance: Tolerance,
    ) -> Calibration {
        let (part, what) = (part.to_owned(), what.into());
        let (tolerance, refused, disturbances) = (Some(tolerance), None, Vec::new());
        Calibration { part, what, unit, known, measured, tolerance, refused, disturbances }
    }

    /// The same, without a judgement.
    #[must_use]
    pub fn told(self) -> Calibration {
        Calibration { tolerance: None, ..self }
    }

    /// The same, refused unless there is no reason to.
    #[must_use]
    pub fn unless(self, refused: Option<String>) -> Calibration {
        Calibration { refused: refused.or(self.refused), ..self }
    }

    /// The same, with what disturbed it.
    #[must_use]
    pub fn disturbed_by(self, disturbances: &[String]) -> Calibration {
        Calibration { disturbances: disturbances.to_vec(), ..self }
    }

    /// Measured less known, in its unit.
    pub fn error(&self) -> f64 {
        self.measured - self.known
    }

    /// What came of it. A figure that is no number is never within its tolerance.
    pub fn outcome(&self) -> CalibrationOutcome {
        if let Some(why) = &self.refused {
            return CalibrationOutcome::Refused(why.clone());
        }
        match self.tolerance {
            None => CalibrationOutcome::Told,
            Some(allowed) if self.error().abs() <= allowed.allowed(self.known) => {
                CalibrationOutcome::Held
            }
            Some(_) => CalibrationOutcome::Missed,
        }
    }

    /// Known, measured, error and tolerance, as a table shows them.
    pub fn fields(&self) -> [String; 4] {
        let allowed = self.tolerance.map_or(String::new(), |tolerance| {
            self.unit.difference_text(tolerance.allowed(self.known), "±")
        });
        let sign = if self.error() < 0.0 { "-" } else { "+" };
        let error = self.unit.difference_text(self.error().abs(), sign);
        [self.unit.text(self.known), self.unit.text(self.measured), error, allowed]
    }
}

impl CalibratedUnit {
    fn text(self, value: f64) -> String {
        match self {
            CalibratedUnit::Nanoseconds if value >= 1e6 => format!("{:.3} ms", value / 1e6),
            CalibratedUnit::Nanoseconds => precise_latency_text(value),
            CalibratedUnit::Bytes => memory_text(value),
            CalibratedUnit::Count => format!("{value:.0}"),
            CalibratedUnit::PerSecond => format!("{value:.1}/s"),
            CalibratedUnit::Ratio => significant_text(value),
        }
    }

    fn difference_text(self, value: f64, sign: &str) -> String {
        match self {
            CalibratedUnit::Nanoseconds => format!("{sign}{}", precise_latency_text(value)),
            CalibratedUnit::Ratio => format!("{sign}{}", percent_text(value)),
            _ => format!("{sign}{}", self.text(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(known_us: f64, measured_us: f64, tolerance: Tolerance) -> Calibration {
        let figures = (known_us * 1e3, measured_us * 1e3);
        Calibration::new(("delay", "p50"), CalibratedUnit::Nanoseconds, figures, tolerance)
    }

    #[test]
    fn a_figure_holds_up_to_its_tolerance_and_misses_beyond_it() {
        let allowed = Tolerance { relative: 0.01, absolute: 20e3 };
        for (measured_us, expected) in [
            (1030.0, CalibrationOutcome::Held),
            (970.0, CalibrationOutcome::Held),
            (1030.1, CalibrationOutcome::Missed),
            (969.9, CalibrationOutcome::Missed),
            (f64::NAN, CalibrationOutcome::Missed),
        ] {
            assert_eq!(latency(1000.0, measured_us, allowed).outcome(), expected, "{measured_us}");
        }
    }

    #[test]
    fn a_count_is_equal_or_wrong() {
        let count = |measured| {
            let what = ("counts", "answered");
            let figures = (3000.0, measured);
            Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE).outcome()
        };
        assert_eq!(count(3000.0), CalibrationOutcome::Held);
        assert_eq!(count(2999.0), CalibrationOutcome::Missed);
    }

    #[test]
    fn what_is_refused_or_told_neither_holds_nor_misses() {
        let wrong = latency(1.0, 2.0, Tolerance::NONE);
        assert_eq!(wrong.clone().told().outcome(), CalibrationOutcome::Told);
        let refused = wrong.clone().unless(Some("too few calls".to_owned()));
        let why = "too few calls".to_owned();
        assert_eq!(refused.outcome(), CalibrationOutcome::Refused(why));
        assert_eq!(wrong.unless(None).outcome(), CalibrationOutcome::Missed);
    }

    #[test]
    fn fields_read_as_people_write_them() {
        let allowed = Tolerance { relative: 0.01, absolute: 20e3 };
        let fields = latency(1000.0, 1012.0, allowed).fields();
        assert_eq!(fields, ["1.000 ms", "1.012 ms", "+12.0 µs", "±30.0 µs"]);
    }
}
