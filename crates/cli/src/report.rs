//! `bookend report`: a result as a page, as text, as data and as pictures.

mod format;
mod kept;
mod picture_arguments;

pub use kept::{STORE, stored_run};

use crate::terminal::{Failure, print_line};
use bookend_contract::exit;
use bookend_load::flags::files;
use bookend_load::output;
use bookend_payload::error_text::reason;
use bookend_report::chart::Theme;
use bookend_report::html::slug;
use bookend_report::picture::Picture;
use bookend_report::race::RaceAnswer;
use bookend_report::result_page::ResultPage;
use bookend_report::run::Report;
use bookend_results::race::Race;
use clap::Args;
use format::ReportFormat;
use kept::{Kept, KeptArguments, Reported};
use picture_arguments::PictureArguments;
use std::fs;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = r"Examples:
  bookend report
  bookend report 12 --format text
  bookend report records/intel-xeon-processor-2-cpus/transports -o page.html";

/// Arguments of `bookend report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    #[command(flatten)]
    kept: KeptArguments,
    /// Format of the report [default: by the ending of --output, else html]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// File to write; - is standard output [default: SUITE.html or NAME.html for a page, else
    /// standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also write each picture of the report into this folder, as SVG
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    #[command(flatten)]
    picture: PictureArguments,
}

/// Writes the report.
///
/// # Errors
/// [`Failure`] when the result is not there, or the report cannot be written.
pub fn start(arguments: &ReportArguments) -> Result<u8, Failure> {
    let format =
        ReportFormat::of(arguments.format, arguments.output.as_deref()).map_err(Failure::usage)?;
    if let Some(flag) = arguments.picture.given().filter(|_| format != ReportFormat::Svg) {
        return Err(Failure::usage(format!("{flag} is about a picture: add --format svg")));
    }
    if let Some(file) = &arguments.output {
        output::check(file).map_err(Failure::usage)?;
        let written = [("--output", file.as_path())];
        files::check_apart(&written, &arguments.kept.files()).map_err(Failure::usage)?;
    }
    match arguments.kept.read()? {
        Reported::LoadTests(page) => write_load_page(arguments, &page, format),
        Reported::Race(name, race) => write_race(arguments, (&name, &race), format),
        Reported::Run(kept) => write_run(arguments, &kept, format),
    }
}

fn write_run(
    arguments: &ReportArguments,
    kept: &Kept,
    format: ReportFormat,
) -> Result<u8, Failure> {
    let Kept { run, rows, skips } = kept;
    let report = Report::new(run, rows).with_skips(skips.clone());
    if let Some(folder) = &arguments.charts {
        write_charts(&report.named_pictures(), folder)?;
    }
    let text = match format {
        ReportFormat::Text => report.text(),
        ReportFormat::Md => report.markdown_with(arguments.charts.as_deref()),
        ReportFormat::Html => report.html(),
        ReportFormat::Csv => report.csv(),
        ReportFormat::Json => report.json(),
        ReportFormat::Svg => arguments.picture.svg(&report)?,
    };
    let page = (format == ReportFormat::Html)
        .then(|| PathBuf::from(format!("{}.html", slug(&run.new.plan.suite))));
    write(&text, arguments.output.clone().or(page).as_deref(), format)
}

/// The generator itself writes its results in all formats but these two.
fn write_load_page(
    arguments: &ReportArguments,
    page: &ResultPage,
    format: ReportFormat,
) -> Result<u8, Failure> {
    if !matches!(format, ReportFormat::Html | ReportFormat::Md) {
        return Err(Failure::usage(
            "load tests are reported as html or md: bookend load -O writes other formats",
        ));
    }
    write_page(arguments, page, format)
}

/// What a race has printed, or its page, or the first picture of that.
fn write_race(
    arguments: &ReportArguments,
    (name, race): (&str, &Race),
    format: ReportFormat,
) -> Result<u8, Failure> {
    let answer = RaceAnswer::new(race, None);
    let page = answer.page(name).map_err(Failure::usage)?;
    let output = arguments.output.as_deref();
    match format {
        ReportFormat::Html | ReportFormat::Md => write_page(arguments, &page, format),
        ReportFormat::Text => write(&answer.text().map_err(Failure::usage)?, output, format),
        ReportFormat::Svg => {
            let theme = arguments.picture.theme_alone()?;
            let pictures = page.pictures.first();
            write(&pictures.map_or_else(String::new, |(_, first)| first.svg(theme)), output, format)
        }
        ReportFormat::Csv | ReportFormat::Json => Err(Failure::usage(
            "races are reported as html, md, svg or text: bookend race --json prints the figures",
        )),
    }
}

/// A page, or the same as Markdown.
fn write_page(
    arguments: &ReportArguments,
    page: &ResultPage,
    format: ReportFormat,
) -> Result<u8, Failure> {
    let text = match format {
        ReportFormat::Html => page.html(),
        _ => page.markdown_with(arguments.charts.as_deref()),
    };
    if let Some(folder) = &arguments.charts {
        write_charts(&page.pictures, folder)?;
    }
    let file = PathBuf::from(format!("{}.html", slug(&page.name)));
    let file = Some(file).filter(|_| format == ReportFormat::Html);
    write(&text, arguments.output.clone().or(file).as_deref(), format)
}

/// A page is opened, not read in a terminal, so its place is said.
fn write(text: &str, file: Option<&Path>, format: ReportFormat) -> Result<u8, Failure> {
    output::write(text, file).map_err(Failure::nothing_measured)?;
    let file = file.filter(|file| !output::is_standard_output(file));
    if let (Some(file), ReportFormat::Html) = (file, format) {
        print_line(&format!("{} ({} KB)", file.display(), text.len().div_ceil(1000)))?;
    }
    Ok(exit::MEASURED)
}

/// A file for each picture. Their names are made of their titles, so they lead nowhere else.
fn write_charts(pictures: &[(String, Picture)], folder: &Path) -> Result<(), Failure> {
    let shown = folder.display();
    let unwritten = |error: std::io::Error| {
        Failure::nothing_measured(format!("cannot write {shown}: {}", reason(&error)))
    };
    fs::create_dir_all(folder).map_err(unwritten)?;
    for (name, picture) in pictures {
        let file = folder.join(format!("{name}.svg"));
        output::write(&picture.svg(Theme::Both), Some(&file)).map_err(Failure::nothing_measured)?;
    }
    Ok(())
}
