//! A check of the instrument as text.

use crate::text_table::{TextTable, column};
use bookend_results::calibration::{CalibrationOutcome, InstrumentCheck};

/// The table, then what was refused and missed in words, then the line for reports.
pub fn check_text(check: &InstrumentCheck) -> String {
    let notes = check.notes.iter().map(|note| format!("note: {note}\n"));
    let remarks = check.calibrations.iter().filter_map(|each| {
        let (what, disturbed) = (&each.what, each.disturbances.join(", "));
        match each.outcome() {
            CalibrationOutcome::Refused(why) => Some(format!("refused: {what}: {why}\n")),
            CalibrationOutcome::Missed if disturbed.is_empty() => {
                Some(format!("missed: {what}: nothing else was seen on these CPUs\n"))
            }
            CalibrationOutcome::Missed => Some(format!("missed: {what}: {disturbed}\n")),
            CalibrationOutcome::Held | CalibrationOutcome::Told => None,
        }
    });
    let below: String = notes.chain(remarks).collect();
    format!("{}\n{below}{}, in {:.0} s\n", table(check), check.quote(), check.seconds)
}

fn table(check: &InstrumentCheck) -> TextTable {
    let columns = [
        column("", 46),
        column("known", 10),
        column("measured", 10),
        column("error", 9),
        column("allowed", 9),
        column("", 7),
    ];
    let mut table = TextTable::new(&columns);
    let mut part = "";
    for each in &check.calibrations {
        if each.part != part {
            part = &each.part;
            table.heading(part);
        }
        let outcome = match each.outcome() {
            CalibrationOutcome::Held => "held",
            CalibrationOutcome::Missed => "MISSED",
            CalibrationOutcome::Refused(_) => "refused",
            CalibrationOutcome::Told => "told",
        };
        let fields = each.fields().into_iter().chain([outcome.to_owned()]);
        table.fields([each.what.clone()].into_iter().chain(fields).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_contract::machine::MachineFacts;
    use bookend_results::calibration::{CalibratedUnit, Calibration, CheckOrigin, Tolerance};

    fn check(measured_us: f64, disturbances: &[String]) -> InstrumentCheck {
        let latency = |what: &str, known_us: f64, measured_us: f64| {
            let figures = (known_us * 1e3, measured_us * 1e3);
            let allowed = Tolerance { relative: 0.0, absolute: 10e3 };
            Calibration::new(("delay", what), CalibratedUnit::Nanoseconds, figures, allowed)
        };
        let machine = MachineFacts {
            os: "Debian".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            cpu_model: "EPYC".to_owned(),
            cpus: 2,
            memory_bytes: 1 << 33,
            governor: None,
            virtual_machine: true,
        };
        let (version, witness) = ("0.1.0".to_owned(), "h2 0.4.20".to_owned());
        InstrumentCheck {
            origin: CheckOrigin { version, binary_unix_ms: 7, witness, machine },
            started_unix_ms: 1_795_000_000_000,
            seconds: 41.3,
            notes: Vec::new(),
            calibrations: vec![
                latency("closed loop, 1 ms: p50", 1000.0, measured_us).disturbed_by(disturbances),
                latency("open loop, 100 ms: p99.9", 1e5, 2e5).unless(Some("too few".to_owned())),
            ],
        }
    }

    #[test]
    fn a_miss_is_named_with_what_else_was_on_the_cpus() {
        let missed = check(1018.0, &["steal 3.1 %".to_owned()]);
        let text = check_text(&missed);
        assert!(text.contains("missed: closed loop, 1 ms: p50: steal 3.1 %\n"), "{text}");
        assert!(text.contains("refused: open loop, 100 ms: p99.9: too few\n"), "{text}");
        let quiet = check_text(&check(1018.0, &[]));
        assert!(quiet.contains("p50: nothing else was seen on these CPUs\n"), "{quiet}");
    }
}
