//! `bookend report`: the tables of a result.

use crate::terminal::Failure;
use bookend_load::contract::exit;
use bookend_load::flags::whole;
use bookend_load::output;
use bookend_results::chart::{Chart, Theme};
use bookend_results::export::Report;
use bookend_results::measurement::Row;
use bookend_results::record::Record;
use bookend_results::store::{Run, RunId, Store};
use bookend_results::suite::Case;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The default file of results.
pub const STORE: &str = "bookend.db";

/// What stands after `bookend report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The number of the result [default: the newest]
    #[arg(value_parser = whole::<i64>)]
    run: Option<i64>,
    /// Print the tables of a record instead of a stored result
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "store"])]
    record: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Md)]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
    /// The case that a picture shows, as in "C=1 S=100" [default: the first]
    #[arg(long, value_name = "CASE")]
    case: Option<Case>,
    /// The background that a picture is for [default: light]
    #[arg(long, value_enum, value_name = "THEME")]
    theme: Option<Background>,
    /// The heading of a picture [default: the suite's title]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// What `bookend run` prints
    Text,
    /// Markdown
    Md,
    /// One row for each cell
    Csv,
    /// Everything
    Json,
    /// A picture of one case: bars of requests per second, grouped by instrument
    Svg,
}

/// What a picture will stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Background {
    /// White
    Light,
    /// Black
    Dark,
    /// Whichever of the two the reader prefers
    Both,
}

/// Writes the report.
///
/// # Errors
/// [`Failure`] when the result is not there.
pub fn start(arguments: &ReportArguments) -> Result<u8, Failure> {
    let is_about_a_picture =
        arguments.case.is_some() || arguments.theme.is_some() || arguments.title.is_some();
    if arguments.format != Format::Svg && is_about_a_picture {
        return Err(Failure::usage(
            "--case, --theme and --title belong to a picture: add --format svg",
        ));
    }
    let (run, rows, skips) = match &arguments.record {
        Some(file) => recorded(file)?,
        None => stored(arguments)?,
    };
    let report = Report::new(&run, &rows).with_skips(skips);
    let text = match arguments.format {
        Format::Text => report.text(),
        Format::Md => report.markdown(),
        Format::Csv => report.csv(),
        Format::Json => report.json(),
        Format::Svg => picture(arguments, &report)?,
    };
    output::write(&text, arguments.output.as_deref()).map_err(Failure::nothing_measured)?;
    Ok(exit::MEASURED)
}

/// A run, its rows, and what each server leaves out.
type Kept = (Run, Vec<Row>, BTreeMap<String, Vec<String>>);

fn stored(arguments: &ReportArguments) -> Result<Kept, Failure> {
    let store = Store::open_existing(&arguments.store).map_err(Failure::usage)?;
    let run = stored_run(&store, arguments.run.map(RunId))?;
    let rows = store.rows(run.id).map_err(Failure::usage)?;
    let skips = store.skips(&run).map_err(Failure::usage)?;
    Ok((run, rows, skips))
}

fn recorded(file: &Path) -> Result<Kept, Failure> {
    let unreadable = |error| Failure::usage(format!("{}: {error}", file.display()));
    let record = Record::read(file).map_err(unreadable)?;
    Ok((record.run(), record.rows, record.facts.skips))
}

fn picture(arguments: &ReportArguments, report: &Report<'_>) -> Result<String, Failure> {
    let title = arguments.title.clone().unwrap_or_else(|| report.title());
    let chart = Chart::of(report.table(), arguments.case, title).map_err(Failure::usage)?;
    Ok(chart.svg(match arguments.theme {
        Some(Background::Light) | None => Theme::Light,
        Some(Background::Dark) => Theme::Dark,
        Some(Background::Both) => Theme::Both,
    }))
}

/// The result of that number, or the newest.
///
/// # Errors
/// [`Failure`] when the store has no such result.
pub fn stored_run(store: &Store, id: Option<RunId>) -> Result<Run, Failure> {
    if let Some(id) = id {
        return store.run(id).map_err(Failure::usage);
    }
    let newest = store.latest_run().map_err(Failure::usage)?;
    newest.ok_or_else(|| Failure::usage("the store has no result yet: make one with bookend run"))
}
