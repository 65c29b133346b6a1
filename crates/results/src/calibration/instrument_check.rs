//! All calibrations of one machine and one day.

use super::{Calibration, CalibrationOutcome};
use bookend_contract::machine::MachineFacts;
use bookend_contract::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

/// What was checked, where and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOrigin {
    /// Version of the `bookend` that was checked.
    pub version: String,
    /// When its file was last changed, milliseconds since 1970.
    pub binary_unix_ms: i64,
    /// The witness, as it names itself.
    pub witness: String,
    /// The machine, kernel included.
    pub machine: MachineFacts,
}

/// All calibrations of one machine and one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstrumentCheck {
    /// What was checked, and where.
    pub origin: CheckOrigin,
    /// When it began, milliseconds since 1970.
    pub started_unix_ms: i64,
    /// How long it took, seconds.
    pub seconds: f64,
    /// What is odd about where both ends ran, a sentence each.
    pub notes: Vec<String>,
    /// In the order in which they were made.
    pub calibrations: Vec<Calibration>,
}

/// Whose error stands for all latencies where there is room for one.
const QUOTED: &str = "closed loop, 1 ms: p50";

/// What an answer takes that is not delayed.
const FLOOR: &str = "closed loop, no delay: p50";

impl InstrumentCheck {
    /// Whether every judged calibration held, and some were judged.
    pub fn has_held(&self) -> bool {
        self.count(&CalibrationOutcome::Missed) == 0 && self.count(&CalibrationOutcome::Held) > 0
    }

    /// In one line for a report, with the day that it is from.
    pub fn quote(&self) -> String {
        let find = |what| self.calibrations.iter().find(|each| each.what == what);
        let error = find(QUOTED).map(|each| format!("p50 of 1 ms was off by {}", each.fields()[2]));
        let floor = find(FLOOR).map(|each| format!("an answer at once took {}", each.fields()[1]));
        let (held, missed) =
            (self.count(&CalibrationOutcome::Held), self.count(&CalibrationOutcome::Missed));
        let held = Some(format!("{held} of {} known figures held", held + missed));
        let parts: Vec<String> = [held, error, floor].into_iter().flatten().collect();
        let started = Timestamp::from_unix_ms(self.started_unix_ms).to_string();
        let (day, version) = (started.split('T').next().unwrap_or_default(), &self.origin.version);
        let parts = parts.join("; ");
        format!("instrument: the load generator was checked on {day} (bookend {version}): {parts}")
    }

    /// Why it says nothing about `now`; `None`: it does.
    pub fn is_outdated_for(&self, now: &CheckOrigin) -> Option<String> {
        let then = &self.origin;
        if then.machine.kernel != now.machine.kernel {
            return Some(format!("it was made on {}", then.machine.kernel));
        }
        if then.machine.cpu_model != now.machine.cpu_model {
            return Some(format!("it was made on {}", then.machine.cpu_model));
        }
        let is_other = (&then.version, then.binary_unix_ms) != (&now.version, now.binary_unix_ms);
        is_other.then(|| "it was made by another build of bookend".to_owned())
    }

    /// How many calibrations came to that.
    pub fn count(&self, outcome: &CalibrationOutcome) -> usize {
        self.calibrations.iter().filter(|each| each.outcome() == *outcome).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{CalibratedUnit, Tolerance};

    fn check(measured_us: f64, disturbances: &[String]) -> InstrumentCheck {
        let latency = |what: &str, known_us: f64, measured_us: f64| {
            let figures = (known_us * 1e3, measured_us * 1e3);
            let allowed = Tolerance { relative: 0.0, absolute: 10e3 };
            Calibration::new(("delay", what), CalibratedUnit::Nanoseconds, figures, allowed)
        };
        InstrumentCheck {
            origin: origin("Linux 6.1", 7),
            started_unix_ms: 1_795_000_000_000,
            seconds: 41.3,
            notes: Vec::new(),
            calibrations: vec![
                latency(FLOOR, 3.0, 29.0).told(),
                latency(QUOTED, 1000.0, measured_us).disturbed_by(disturbances),
                latency("open loop, 100 ms: p99.9", 1e5, 2e5).unless(Some("too few".to_owned())),
            ],
        }
    }

    fn origin(kernel: &str, binary_unix_ms: i64) -> CheckOrigin {
        let machine = MachineFacts {
            os: "Debian".to_owned(),
            kernel: kernel.to_owned(),
            cpu_model: "EPYC".to_owned(),
            cpus: 2,
            memory_bytes: 1 << 33,
            governor: None,
            virtual_machine: true,
            hardware: None,
        };
        let (version, witness) = ("0.1.0".to_owned(), "h2 0.4.20".to_owned());
        CheckOrigin { version, binary_unix_ms, witness, machine }
    }

    #[test]
    fn a_report_quotes_error_floor_and_what_held() {
        let quote = check(1008.0, &[]).quote();
        let origin = "instrument: the load generator was checked on 2026-11-18 (bookend 0.1.0): ";
        let found = "1 of 1 known figures held; p50 of 1 ms was off by +8.00 µs; an answer at once \
                     took 29.0 µs";
        assert_eq!(quote, format!("{origin}{found}"));
    }

    #[test]
    fn what_missed_has_not_held() {
        assert!(!check(1018.0, &[]).has_held() && check(1008.0, &[]).has_held());
    }

    #[test]
    fn it_says_nothing_about_another_kernel_or_another_build() {
        let check = check(1008.0, &[]);
        assert_eq!(check.is_outdated_for(&origin("Linux 6.1", 7)), None);
        let outdated = |now| check.is_outdated_for(&now).expect("outdated");
        assert_eq!(outdated(origin("Linux 6.2", 7)), "it was made on Linux 6.1");
        assert_eq!(outdated(origin("Linux 6.1", 8)), "it was made by another build of bookend");
    }

    #[test]
    fn nothing_judged_is_nothing_held_and_what_is_kept_comes_back() {
        let kept = check(1008.0, &["steal 3.1 %".to_owned()]);
        let json = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<InstrumentCheck>(&json).unwrap(), kept);
        let mut empty = kept;
        empty.calibrations.clear();
        assert!(!empty.has_held());
    }
}
