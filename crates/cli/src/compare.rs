//! `bookend compare`: two results against each other.

use crate::report::{STORE, stored_run};
use crate::terminal::{Failure, print};
use bookend_load::contract::exit;
use bookend_results::compare::{ComparedSide, Comparison, Condition, SideName, compare};
use bookend_results::measurement::Row;
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::store::{RunId, Store};
use clap::Args;
use std::path::PathBuf;

/// What stands after `bookend compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The baseline result
    #[arg(value_name = "A")]
    before: String,
    /// The result that is compared with it
    #[arg(value_name = "B")]
    after: String,
    /// Exit with 3 if this holds, such as "ratio<0.95"
    #[arg(long, value_name = "EXPR")]
    fail_if: Option<String>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
}

/// Compares two results, round by round.
///
/// # Errors
/// [`Failure`] when a result is not there, or the two have nothing in common.
pub fn start(arguments: &CompareArguments) -> Result<u8, Failure> {
    let condition = arguments
        .fail_if
        .as_deref()
        .map(str::parse::<Condition>)
        .transpose()
        .map_err(Failure::usage)?;
    let names: [SideName; 2] = [
        arguments.before.parse().map_err(Failure::usage)?,
        arguments.after.parse().map_err(Failure::usage)?,
    ];
    let store = Store::open_existing(&arguments.store).map_err(Failure::usage)?;
    let [before, after] = [read(&store, &names[0])?, read(&store, &names[1])?];
    let comparison =
        compare(&side(&names[0], &before), &side(&names[1], &after), &REQUESTS_PER_CPU_SECOND)
            .map_err(Failure::usage)?;
    print(&comparison.to_string())?;
    match condition {
        Some(condition) => judge(&comparison, &condition, arguments),
        None => Ok(exit::MEASURED),
    }
}

fn judge(
    comparison: &Comparison,
    condition: &Condition,
    arguments: &CompareArguments,
) -> Result<u8, Failure> {
    let failing = comparison.failing(condition);
    if failing.is_empty() {
        return Ok(exit::MEASURED);
    }
    let expression = arguments.fail_if.as_deref().unwrap_or_default();
    let cells: String = failing
        .iter()
        .map(|cell| format!("  {} of {} against {}\n", cell.case, cell.a, cell.b))
        .collect();
    print(&format!("{expression}, or no ratio:\n{cells}"))?;
    Ok(exit::OBJECTIVE_MISSED)
}

/// The run that a side names, and its rows.
fn read(store: &Store, name: &SideName) -> Result<(RunId, Vec<Row>), Failure> {
    let run = stored_run(store, name.run)?.id;
    let rows = store.rows(run).map_err(Failure::usage)?;
    Ok((run, rows))
}

fn side<'a>(name: &'a SideName, (run, rows): &'a (RunId, Vec<Row>)) -> ComparedSide<'a> {
    ComparedSide { run: *run, rows, subject: name.subject.as_deref() }
}
