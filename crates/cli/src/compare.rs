//! `bookend compare`: two results against each other.

use crate::gates::GateArguments;
use crate::report::{STORE, stored_run};
use crate::terminal::{Failure, gate_status, print};
use bookend_report::comparison::comparison_text;
use bookend_results::compare::{ComparedSide, SideName, compare};
use bookend_results::measurement::Row;
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::store::{RunId, Store};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = r"Examples:
  bookend compare 12 11
  bookend compare 12:rust-bookend 12:rust-tonic --slo 'ratio>=1.5'";

/// Arguments of `bookend compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArguments {
    /// Result to compare: RUN, SUBJECT (in the latest run) or RUN:SUBJECT
    #[arg(value_name = "A")]
    before: String,
    /// Result to compare A with, in the same form; ratios are A over B
    #[arg(value_name = "B")]
    after: String,
    #[command(flatten)]
    gates: GateArguments,
    /// Database of results
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
}

/// Compares two results, round by round.
///
/// # Errors
/// [`Failure`] when a result is not there, or the two have nothing in common.
pub fn start(arguments: &CompareArguments) -> Result<u8, Failure> {
    let names: [SideName; 2] = [
        arguments.before.parse().map_err(Failure::usage)?,
        arguments.after.parse().map_err(Failure::usage)?,
    ];
    let subjects = names.iter().filter_map(|name| name.subject.as_deref());
    let figures: Vec<&str> = ["ratio"].into_iter().chain(subjects).collect();
    let gates = arguments.gates.gates(&figures)?;
    let store = Store::open_existing(&arguments.store).map_err(Failure::usage)?;
    let [before, after] = [read(&store, &names[0])?, read(&store, &names[1])?];
    let comparison =
        compare(&side(&names[0], &before), &side(&names[1], &after), &REQUESTS_PER_CPU_SECOND)
            .map_err(Failure::usage)?;
    print(&comparison_text(&comparison))?;
    let judged: Vec<_> = gates.iter().flat_map(|gate| comparison.judge(gate)).collect();
    Ok(gate_status("compare", &judged))
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
