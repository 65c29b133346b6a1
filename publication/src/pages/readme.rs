//! The parts of README.md that have figures. They are made of records, so that no figure in it is
//! typed: `readme.toml` says of which, and a test refuses figures elsewhere in the prose.

use super::circumstances::circumstances;
use super::figures::Cells;
use super::format::FigureFormat;
use super::page::Page;
use super::presentation::Presentation;
use super::quoted;
use super::text::fenced;
use crate::from_text::named;
use bookend_report::markdown::wrapped;
use bookend_report::tables::published_table;
use bookend_results::declaration::{DeclarationError, Source, read_text};
use bookend_results::grouping::each_once;
use bookend_results::metric::Metric;
use bookend_results::record::{Record, file_of};
use bookend_results::suite::{Case, Extent};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The file that declares the parts, next to the sources of this crate.
pub const README_PARTS: &str = "publication/readme.toml";

/// The markers before a part and after it.
const BEGIN: &str = "<!-- made by publication readme: ";
const END: &str = "<!-- end of what is made -->";

/// Why README.md cannot be made.
#[derive(Debug, Error)]
pub enum ReadMeError {
    /// A declaration cannot be used.
    #[error("{0}")]
    Declaration(#[from] DeclarationError),
    /// A record or a file next to it cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// A part is declared and not in the page, or the other way round.
    #[error("README.md and {README_PARTS} have not the same parts: {0}")]
    Part(String),
    /// A sentence names what the record does not have.
    #[error("part {0}: there is no figure `{1}` of one run")]
    NoFigure(String, String),
}

/// The declared parts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadMe {
    parts: Vec<Part>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    /// Suites, each with what it asks and what was found.
    #[serde(default)]
    findings: Vec<Finding>,
    /// Whose record figures and table are of.
    suite: Option<String>,
    /// Prose; `{name}` stands for the figure of that name.
    #[serde(default)]
    text: String,
    #[serde(default)]
    figures: BTreeMap<String, CasesFigure>,
    table: Option<Excerpt>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    suite: String,
    /// The publisher of the document behind it.
    by: Option<String>,
}

/// Some of a record's rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Excerpt {
    subjects: Vec<String>,
    cases: Vec<Case>,
    via: String,
}

/// A figure of one case, or the smallest and the largest of several.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CasesFigure {
    of: String,
    over: Option<String>,
    cases: Vec<Case>,
    via: Option<String>,
    #[serde(deserialize_with = "named")]
    metric: Metric,
    #[serde(deserialize_with = "named")]
    format: FigureFormat,
    /// Whether it is the published one.
    #[serde(default)]
    is_printed: bool,
}

/// Where suites and records are.
#[derive(Clone, Copy, Debug)]
pub struct ReadMeSources<'a> {
    /// The folder of suites.
    pub suites: &'a Path,
    /// The folder of records.
    pub records: &'a Path,
}

impl ReadMe {
    /// Reads the declaration.
    ///
    /// # Errors
    /// When it cannot be read or is invalid.
    pub fn read(file: &Path) -> Result<Self, ReadMeError> {
        let text = read_text(file)?;
        Ok(Source { file, text: &text }.parse()?)
    }

    /// The page with its parts made again.
    ///
    /// # Errors
    /// When a part is missing, or a figure that its prose names is not in its record.
    pub fn filled(&self, page: &str, sources: ReadMeSources<'_>) -> Result<String, ReadMeError> {
        let mut pieces = page.split(BEGIN);
        let mut filled = pieces.next().unwrap_or_default().to_owned();
        let mut names = Vec::new();
        for piece in pieces {
            let unknown = || ReadMeError::Part(piece.lines().next().unwrap_or("").to_owned());
            let (name, rest) = piece.split_once(" -->").ok_or_else(unknown)?;
            let (_, after) = rest.split_once(END).ok_or_else(unknown)?;
            let part = self.parts.iter().find(|part| part.name == name).ok_or_else(unknown)?;
            let body = part.body(sources)?;
            filled.push_str(&format!("{BEGIN}{name} -->\n{}\n{END}{after}", body.trim_end()));
            names.push(name);
        }
        match self.parts.iter().find(|part| !names.contains(&part.name.as_str())) {
            Some(part) => Err(ReadMeError::Part(part.name.clone())),
            None => Ok(filled),
        }
    }
}

impl Part {
    fn body(&self, sources: ReadMeSources<'_>) -> Result<String, ReadMeError> {
        let findings: Result<String, ReadMeError> =
            self.findings.iter().map(|finding| finding.item(sources)).collect();
        let mut body = findings?;
        let Some(suite) = &self.suite else { return Ok(body) };
        let (file, record) = record(suite, sources)?;
        let folder = sources.suites.join(suite);
        let page = Page::read(&folder, &record).map_err(unreadable)?;
        let cells = Cells::of(&record);
        if let Some(excerpt) = &self.table {
            body.push_str(&excerpt.text(&record, &cells));
            body.push('\n');
        }
        let text = self.text(&page, &cells)?;
        let is_printed = self.figures.values().all(|figure| figure.is_printed);
        let origin = match is_printed && self.table.is_none() {
            true => format!("([the printed table](suites/{suite}/published.csv))"),
            false => format!(
                "([page](suites/{suite}/RESULTS.md), [record]({}): {})",
                file.display(),
                circumstances(&record)
            ),
        };
        body.push_str(&wrapped(&format!("{} {origin}", text.trim()), ""));
        Ok(body)
    }

    fn text(&self, page: &Page<'_>, cells: &Cells<'_>) -> Result<String, ReadMeError> {
        let mut text = self.text.clone();
        let mut runs = Vec::new();
        for name in quoted::names(&self.text) {
            let missing = || ReadMeError::NoFigure(self.name.clone(), name.to_owned());
            let figure = self.figures.get(name).ok_or_else(missing)?;
            let said = figure.text(page, cells, &mut runs).ok_or_else(missing)?;
            text = text.replace(&format!("{{{name}}}"), &said);
            if each_once(runs.iter().copied()).len() > 1 {
                return Err(missing());
            }
        }
        Ok(text)
    }
}

impl Finding {
    /// `- [suite](page), by whom (when): what was asked and what was found.`
    fn item(&self, sources: ReadMeSources<'_>) -> Result<String, ReadMeError> {
        let suite = &self.suite;
        let (file, record) = record(suite, sources)?;
        let page = Page::read(&sources.suites.join(suite), &record).map_err(unreadable)?;
        let Presentation { said, .. } = &page.presentation;
        let found = page.found(&Cells::of(&record));
        let by = self.by.as_ref().map_or_else(String::new, |by| format!(", after {by}"));
        let item = format!(
            "- [{suite}](suites/{suite}/RESULTS.md){by} ([record]({}): {}). {} {found}",
            file.display(),
            circumstances(&record),
            said.trim()
        );
        Ok(wrapped(&item, "  "))
    }
}

impl Excerpt {
    /// The machine, then the rows as grpc_bench prints them.
    fn text(&self, record: &Record, cells: &Cells<'_>) -> String {
        let mut table = cells.table.clone();
        table.several_instruments = false;
        table.cells.retain(|cell| {
            let id = &cell.id;
            self.subjects.contains(&id.subject)
                && self.cases.contains(&id.case)
                && id.instrument == self.via
        });
        let versions: String = each_once(table.cells.iter().map(|cell| &cell.id.subject))
            .into_iter()
            .map(|name| format!("{name}: {}\n", cells.version(name)))
            .collect();
        let machine = record.facts.machine.to_string();
        fenced(&format!("{machine}{versions}\n{}", published_table(&table)))
    }
}

impl CasesFigure {
    /// `1.41 to 8.51`; the runs that it is of are added.
    fn text(&self, page: &Page<'_>, cells: &Cells<'_>, runs: &mut Vec<u32>) -> Option<String> {
        let mut values = Vec::new();
        for case in &self.cases {
            values.push(match self.is_printed {
                true => page.printed(&self.metric.to_string(), &self.of, *case)?.0,
                false => self.measured(cells, *case, runs)?,
            });
        }
        values.sort_by(f64::total_cmp);
        let text = |value: &f64| self.format.text(*value);
        let (low, high) = (text(values.first()?), text(values.last()?));
        Some(if low == high { low } else { format!("{low} to {high}") })
    }

    fn measured(&self, cells: &Cells<'_>, case: Case, runs: &mut Vec<u32>) -> Option<f64> {
        let cell = |subject: &String| cells.find_with(subject, case, self.via.as_deref());
        let own = cell(&self.of)?;
        let other = match &self.over {
            None => None,
            Some(other) => Some(cell(other)?),
        };
        runs.push(cells.run_of(own, other)?);
        Some(cells.estimate(&self.metric, own, other)?.0)
    }
}

fn record(suite: &str, sources: ReadMeSources<'_>) -> Result<(PathBuf, Record), ReadMeError> {
    let file = [Extent::Full, Extent::Quick]
        .map(|extent| file_of(sources.records, suite, extent))
        .into_iter()
        .find(|file| file.is_file())
        .ok_or_else(|| ReadMeError::Unreadable(format!("{suite} has no record")))?;
    let record = Record::read(&file).map_err(unreadable)?;
    let extent = record.facts.extent;
    Ok((file_of(Path::new("records"), suite, extent), record))
}

fn unreadable(error: impl ToString) -> ReadMeError {
    ReadMeError::Unreadable(error.to_string())
}
