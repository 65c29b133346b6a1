//! Where a report goes: standard output, or a file that is never half written.

mod calls;
mod csv;
mod ending;
mod influx;
mod json;
mod options;
mod prometheus;

pub use ending::{UnknownEnding, format_by_ending};

use crate::record::ListedCalls;
use crate::summary;
use bookend_contract::printable::PrintableWriter;
use bookend_contract::report::LoadReport;
use bookend_payload::error_text::{choice, reason};
use clap::ValueEnum;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a report is printed: as ghz does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text for people.
    #[default]
    Summary,
    /// Calls one by one, as comma-separated values.
    Csv,
    /// JSON on one line.
    Json,
    /// JSON, indented by two.
    Pretty,
    /// A page for a browser.
    Html,
    /// The run as a line of InfluxDB's protocol.
    InfluxSummary,
    /// Each call as a line of InfluxDB's protocol.
    InfluxDetails,
    /// Prometheus' text format.
    Prometheus,
}

impl OutputFormat {
    /// The format of that name.
    ///
    /// # Errors
    /// A line that says which formats there are.
    pub fn of_name(name: &str) -> Result<Self, String> {
        choice(name)
    }

    /// The format that the name of a file stands for; `None`: any.
    ///
    /// # Errors
    /// [`UnknownEnding`]: it has an ending of another format.
    pub fn of_file(file: &Path) -> Result<Option<Self>, UnknownEnding> {
        const ENDINGS: [(&str, OutputFormat); 7] = [
            ("json", OutputFormat::Json),
            ("csv", OutputFormat::Csv),
            ("html", OutputFormat::Html),
            ("htm", OutputFormat::Html),
            ("prom", OutputFormat::Prometheus),
            ("txt", OutputFormat::Summary),
            ("log", OutputFormat::Summary),
        ];
        format_by_ending(file, &ENDINGS)
    }

    /// Whether it lists calls one by one.
    pub fn lists_calls(self) -> bool {
        matches!(self, Self::Csv | Self::Json | Self::Pretty | Self::InfluxDetails)
    }
}

/// Why a report could not be delivered, and to where. The user's fault or the system's, never the
/// run's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot write {0}: {1}")]
pub struct OutputError(String, String);

/// Makes a page of a report. How pages look is not this crate's to know.
pub type PageOf<'a> = &'a dyn Fn(&LoadReport) -> String;

/// Writes the report in one of its formats, ending with a line break. `calls` are those that the
/// format lists, if it does; `page` makes the page of it, if it is one. Whatever a server said, a
/// terminal only shows it.
///
/// # Errors
/// What `to` says.
pub fn write_report(
    report: &LoadReport,
    calls: Option<&ListedCalls>,
    format: OutputFormat,
    page: PageOf<'_>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let none = ListedCalls::default();
    let text = match format {
        OutputFormat::Json => {
            let to = &mut PrintableWriter::of_json(to);
            return json::write(report, calls, &json::COMPACT, to);
        }
        OutputFormat::Pretty => {
            let to = &mut PrintableWriter::of_json(to);
            return json::write(report, calls, &json::PRETTY, to);
        }
        OutputFormat::Csv => {
            return csv::write(calls.unwrap_or(&none), &mut PrintableWriter::of_lines(to));
        }
        OutputFormat::InfluxDetails => {
            let to = &mut PrintableWriter::of_lines(to);
            return influx::details(report, calls.unwrap_or(&none), to);
        }
        OutputFormat::Summary => summary::text(report),
        OutputFormat::Html => page(report),
        OutputFormat::InfluxSummary => influx::summary(report),
        OutputFormat::Prometheus => prometheus::text(report),
    };
    PrintableWriter::of_lines(to).write_all(text.as_bytes())
}

/// Writes the calls alone, a JSON object a line.
///
/// # Errors
/// What `to` says.
pub fn write_calls(calls: &ListedCalls, to: &mut dyn Write) -> io::Result<()> {
    json::write_calls(calls, &mut PrintableWriter::of_json(to))
}

/// Whether a file is standard output by another name. As a file it would be replaced where a shell
/// has redirected it to one, with what it has already.
pub fn is_standard_output(file: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| file == Path::new(name))
}

/// Checks before a run that its report can be written afterwards.
///
/// # Errors
/// [`OutputError`] when the folder is not there or the path is a folder.
pub fn check(file: &Path) -> Result<(), OutputError> {
    if is_standard_output(file) {
        return Ok(());
    }
    let reason = match fs::metadata(folder_of(file)) {
        _ if file.is_dir() => "it is a folder".to_owned(),
        Ok(folder) if folder.is_dir() => return Ok(()),
        Ok(_) => "its folder is a file".to_owned(),
        Err(error) => format!("its folder: {}", reason(&error)),
    };
    Err(OutputError(file.display().to_string(), reason))
}

/// Writes a text to a file, or to standard output, as [`deliver`] does.
///
/// # Errors
/// As there.
pub fn write(text: &str, file: Option<&Path>) -> Result<(), OutputError> {
    deliver(file, |to| to.write_all(text.as_bytes()))
}

/// Has a text written to a file, or to standard output. A file is replaced atomically: readers see
/// the old text or the new, and a full disk leaves the old. Pipes and devices are written to
/// directly. On standard output, nothing is written but what a terminal shows.
///
/// # Errors
/// [`OutputError`] with what the system said. A reader that closes standard output is not an error.
pub fn deliver(
    file: Option<&Path>,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let (written, destination) = match file.filter(|file| !is_standard_output(file)) {
        Some(file) => (replace(file, text), file.display().to_string()),
        None => (write_to_standard_output(text), "to standard output".to_owned()),
    };
    written.map_err(|error| OutputError(destination, reason(&error)))
}

fn write_to_standard_output(text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut standard = io::stdout().lock();
    let mut output = PrintableWriter::of_lines(&mut standard);
    match text(&mut output).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

fn replace(file: &Path, text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Renaming would put a file in place of a link, a pipe or a device.
    let file = &fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    if fs::metadata(file).is_ok_and(|facts| !facts.is_file()) {
        return text(&mut OpenOptions::new().write(true).open(file)?);
    }
    let temporary = temporary_beside(file)?;
    let moved = write_whole(&temporary, text).and_then(|()| fs::rename(&temporary, file));
    if moved.is_err() {
        // The first error is the one to tell; a file that cannot be removed is left to the user.
        let _ = fs::remove_file(&temporary);
    }
    moved
}

/// Renaming is atomic only within one file system, so the new text is written next to the old.
fn temporary_beside(file: &Path) -> io::Result<PathBuf> {
    let name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", std::process::id()));
    Ok(file.with_file_name(hidden))
}

fn write_whole(file: &Path, text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::create(file)?;
    text(&mut file)?;
    file.sync_all()
}

fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::calls::tests::calls_of;
    use crate::plan::tests::plan;
    use crate::report::build_report;
    use crate::run::LoadOutcome;
    use bookend_contract::printable::is_printable;
    use bookend_contract::report::TargetReport;
    use std::collections::BTreeMap;
    use std::time::UNIX_EPOCH;

    /// A title, a bell, a colour, breaks of lines of all kinds, C1's own escape, DEL, NUL, and what
    /// turns the direction of writing.
    const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\r\nforged\rb\0\u{7f}\u{9b}2J\u{85}\u{2028}\
                           \u{2029}\u{202e}\u{2066}\u{200f}\u{61c}\tc";

    /// A report with such text wherever a server or a user can put it.
    fn hostile_report() -> LoadReport {
        let mut report = build_report(&plan(1, 1, 1, Some(9)), UNIX_EPOCH, &LoadOutcome::default());
        let counted = || BTreeMap::from([(HOSTILE.to_owned(), 3)]);
        report.name = Some(HOSTILE.to_owned());
        report.error_distribution = counted();
        report.status_code_distribution = counted();
        report.tags = BTreeMap::from([(HOSTILE.to_owned(), HOSTILE.to_owned())]);
        report.options["call"] = HOSTILE.into();
        report.options["data"] = serde_json::json!({ HOSTILE: HOSTILE });
        report.bookend.goaways = counted();
        let text = HOSTILE.to_owned();
        report.bookend.targets = vec![TargetReport {
            target: text.clone(),
            address: text,
            connections_opened: 1,
            ok: 1,
            failed: 0,
        }];
        report
    }

    fn written(report: &LoadReport, calls: &ListedCalls, format: OutputFormat) -> String {
        let mut text = Vec::new();
        write_report(report, Some(calls), format, &|_| String::new(), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_terminal_shows_every_format_and_does_nothing_else() {
        let (report, calls) = (hostile_report(), calls_of([HOSTILE.to_owned()]));
        for format in OutputFormat::value_variants() {
            let text = written(&report, &calls, *format);
            let acts = |letter: &char| !matches!(letter, '\n' | '\t') && !is_printable(*letter);
            assert_eq!(text.chars().find(acts), None, "{format:?}: {text:?}");
            assert!(!text.contains("\nforged"), "{format:?}: a line is forged: {text}");
        }
        let mut text = Vec::new();
        write_calls(&calls, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.trim_end().chars().all(is_printable), "{text:?}");
    }

    #[test]
    fn json_keeps_what_was_said() {
        let (report, calls) = (hostile_report(), calls_of([HOSTILE.to_owned()]));
        for format in [OutputFormat::Json, OutputFormat::Pretty] {
            let text = written(&report, &calls, format);
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["name"], HOSTILE);
            assert_eq!(json["errorDistribution"][HOSTILE], 3);
            assert!(json["details"][0]["error"].as_str().unwrap().ends_with(HOSTILE), "{text}");
        }
    }

    #[test]
    fn readers_of_csv_find_the_heading_first_and_a_call_a_line() {
        let formula = "=HYPERLINK(\"http://a\", \"b\")\r\nc".to_owned();
        let calls = calls_of([String::new(), formula]);
        let text = written(&hostile_report(), &calls, OutputFormat::Csv);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["duration (ms),status,error", "1.203004,OK,"]);
        let cell = "\"'=HYPERLINK(\"\"http://a\"\", \"\"b\"\")  c\"";
        assert_eq!(lines[2..], [format!("0.000090,Internal,{cell}")]);
    }
}
