//! The measuring of a suite, and its table.

use super::arguments::RunArguments;
use crate::check::kept_line;
use crate::report::STORE;
use crate::terminal::{Failure, output_columns, print, program, with_progress};
use bookend_lab::run::{RunSettings, RunSummary, SuiteRunError, run};
use bookend_report::run::{BRIEF_COLUMNS, Report};
use bookend_results::measurement::{Outcome, Row};
use bookend_results::store::{RunId, Store};
use std::path::Path;

/// Measures the suite and prints its table.
///
/// # Errors
/// [`Failure`] when there is nothing to print.
pub fn measure(
    arguments: &RunArguments,
    settings: &RunSettings,
    store: &mut Store,
) -> Result<RunSummary, Failure> {
    let summary = with_progress(arguments.quiet, |progress| run(settings, store, progress))
        .map_err(no_result)?;
    let Some(id) = summary.id else {
        return Ok(summary);
    };
    let rows = store.rows(id).map_err(Failure::nothing_measured)?;
    if let Some(reason) = nothing_here(&rows) {
        store.remove_run(id).map_err(Failure::nothing_measured)?;
        return Err(Failure::nothing_measured(reason));
    }
    let text = tables(arguments, store, id, &rows)?;
    print(&text)?;
    Ok(summary)
}

/// Resuming a run on another machine is a wrong command line; anything else went wrong on the way.
fn no_result(error: SuiteRunError) -> Failure {
    match error {
        SuiteRunError::OtherMachine { .. } => Failure::usage(error),
        other => Failure::nothing_measured(other),
    }
}

/// Why there is no table, and nothing to keep: all that was to be measured is missing.
fn nothing_here(rows: &[Row]) -> Option<String> {
    let mut reasons = Vec::new();
    for row in rows {
        let Outcome::Missing { reason } = &row.outcome else {
            return None;
        };
        let reason = format!("{}: {reason}", row.cell.subject);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let all = reasons.join("; ");
    (!reasons.is_empty()).then(|| format!("everything is missing, so nothing is kept: {all}"))
}

fn tables(
    arguments: &RunArguments,
    store: &Store,
    id: RunId,
    rows: &[Row],
) -> Result<String, Failure> {
    let run = store.run(id).map_err(Failure::nothing_measured)?;
    let skips = store.skips(&run).map_err(Failure::nothing_measured)?;
    let report = Report::new(&run, rows).with_skips(skips);
    let store = Some(arguments.store.as_path())
        .filter(|file| *file != Path::new(STORE))
        .map_or(String::new(), |file| format!(" --store {}", file.display()));
    let command = format!("{} report {id}{store}", program());
    let next =
        [kept_line(), format!("See it: {command}"), format!("All tables: {command} --format text")];
    Ok(match arguments.wide {
        true => format!("{}\n{}\n", report.text(), next.join("\n")),
        false => report.brief(output_columns(BRIEF_COLUMNS), &next),
    })
}
