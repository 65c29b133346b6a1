//! The calls of a run one by one, for `--debug`.

use crate::terminal::Failure;
use bookend_load::contract::report::LoadReport;
use bookend_load::output;
use std::path::Path;

/// Writes the listed calls to a file, a JSON object a line.
///
/// # Errors
/// [`Failure`] when the file cannot be written.
pub fn write(file: &Path, report: &LoadReport) -> Result<(), Failure> {
    let calls = report.details.iter().flatten();
    let lines = calls.map(|call| serde_json::to_string(call).expect("its keys are strings") + "\n");
    let text: String = lines.collect();
    output::write(&text, Some(file)).map_err(|error| Failure::not_delivered(error.to_string()))
}
