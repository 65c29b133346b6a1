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
    use serde_json::{Value, json};

    /// A check as it is kept, of one figure that missed and one that was refused.
    fn check(disturbances: &Value) -> InstrumentCheck {
        let machine = json!({
            "os": "Debian", "kernel": "Linux 6.1", "cpu_model": "EPYC", "cpus": 2,
            "memory_bytes": 1, "governor": null, "virtual_machine": true,
        });
        let tolerance = json!({ "relative": 0.0, "absolute": 10e3 });
        let check = json!({
            "origin": { "version": "0", "binary_unix_ms": 0, "witness": "h2", "machine": machine },
            "started_unix_ms": 0, "seconds": 1.0, "notes": [],
            "calibrations": [
                { "part": "delay", "what": "closed loop, 1 ms: p50", "unit": "nanoseconds",
                  "known": 1e6, "measured": 1.018e6, "tolerance": tolerance,
                  "disturbances": disturbances },
                { "part": "delay", "what": "open loop, 100 ms: p99.9", "unit": "nanoseconds",
                  "known": 1e8, "measured": 2e8, "tolerance": tolerance, "refused": "too few" },
            ],
        });
        serde_json::from_value(check).expect("a check")
    }

    #[test]
    fn a_miss_is_named_with_what_else_was_on_the_cpus() {
        let text = check_text(&check(&json!(["steal 3.1 %"])));
        assert!(text.contains("missed: closed loop, 1 ms: p50: steal 3.1 %\n"), "{text}");
        assert!(text.contains("refused: open loop, 100 ms: p99.9: too few\n"), "{text}");
        let quiet = check_text(&check(&json!([])));
        assert!(quiet.contains("p50: nothing else was seen on these CPUs\n"), "{quiet}");
    }
}
