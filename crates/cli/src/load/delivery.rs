//! Where the result of a load goes. What was measured is never lost.

use super::audience::Audience;
use super::report_lines::report_lines;
use crate::terminal::Failure;
use bookend_contract::report::LoadReport;
use bookend_load::flags::LoadFlags;
use bookend_load::hdr_log::HdrLog;
use bookend_load::output::{self, OutputError, OutputFormat};
use bookend_load::record::ListedCalls;
use bookend_report::load_tests;
use std::io::{self, Write};
use std::path::Path;

/// Writes what `--hdr` and `--debug` ask for.
///
/// # Errors
/// A file cannot be written.
pub fn deliver_beside(
    flags: &LoadFlags,
    log: Option<&HdrLog>,
    calls: Option<&ListedCalls>,
) -> Result<(), OutputError> {
    let debug = flags.debug.as_deref().map(|file| {
        let no_calls = ListedCalls::default();
        output::deliver(Some(file), |to| output::write_calls(calls.unwrap_or(&no_calls), to))
    });
    if let (Some(file), Some(log)) = (&flags.hdr, log) {
        output::write(log.text(), Some(file))?;
    }
    debug.unwrap_or(Ok(()))
}

/// Prints or writes the result.
///
/// # Errors
/// [`Failure`] when it cannot be written where it belongs.
pub fn deliver(
    file: Option<&Path>,
    format: OutputFormat,
    report: LoadReport,
    calls: Option<&ListedCalls>,
    audience: Audience,
) -> Result<(), Failure> {
    match audience {
        Audience::People => {
            let page = |report: &LoadReport| page(file, report);
            deliver_text(file, |to| output::write_report(&report, calls, format, &page, to))
        }
        Audience::Lab => {
            let lines = report_lines(report);
            deliver_text(None, |to| to.write_all(lines.as_bytes()))
        }
    }
}

/// The page that `bookend report` makes of the same result.
fn page(file: Option<&Path>, report: &LoadReport) -> String {
    let name = file.filter(|file| !output::is_standard_output(file));
    let page = load_tests::page_of(name.unwrap_or(Path::new("load")), report.clone());
    page.expect("the histogram was encoded by this process").html()
}

/// Prints or writes a text.
///
/// # Errors
/// As [`deliver()`].
pub fn deliver_text(
    file: Option<&Path>,
    text: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Err(error) = output::deliver(file, &text) else {
        return Ok(());
    };
    // What was measured must not be lost: it goes to standard output, or else to standard error.
    let line = match file {
        Some(file) if !output::is_standard_output(file) && output::deliver(None, &text).is_ok() => {
            format!("{error}: the result is on standard output")
        }
        _ => {
            // Nobody is left who could hear that this fails.
            let _ = text(&mut io::stderr());
            error.to_string()
        }
    };
    Err(Failure::not_delivered(line))
}
