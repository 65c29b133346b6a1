//! A result in the lines of the contract.

use bookend_contract::lines::Line;
use bookend_contract::report::{LatencySplit, LoadReport, SplitPart};

/// The contract's lines of a result: the parts of calls with connections of their own, then all.
pub fn report_lines(report: LoadReport) -> String {
    let notes: String = report
        .bookend
        .split
        .iter()
        .flat_map(LatencySplit::parts)
        .flat_map(|(name, part)| notes_of(name, part))
        .map(|note| format!("{note}\n"))
        .collect();
    format!("{notes}{}\n", Line::Report(Box::new(report)))
}

fn notes_of(name: &str, part: &SplitPart) -> [Line; 3] {
    let note = |figure: &str, value_ns: u64| Line::Note {
        name: format!("{name}_{figure}_ns"),
        value: value_ns as f64,
    };
    [note("mean", part.mean_ns), note("p50", part.p50_ns), note("p99", part.p99_ns)]
}
