//! The parts of README.md that have figures. They are made of records, so that no figure in it is
//! typed: `readme.toml` says of which, and a test refuses figures elsewhere in the prose.

use super::circumstances::circumstances;
use super::figures::Cells;
use super::page::{Page, shown_records};
use super::quoted;
use bookend_report::markdown::wrapped;
use bookend_results::declaration::{DeclarationError, Source, read_text};
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::each_once;
use bookend_results::metric::{CPU_PER_CALL, Metric};
use bookend_results::record::{Record, file_of};
use bookend_results::suite::{Case, Extent};
use bookend_results::text::precise_latency_text;
use serde::Deserialize;
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
    /// A record or what is next to it cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// A part is declared and not in the page, or the other way round.
    #[error("README.md and {README_PARTS} have not the same parts: {0}")]
    Part(String),
    /// The record of a suite does not bear out what is said of it.
    #[error("{0} has no finding: {1}")]
    Withheld(String, String),
    /// A sentence names what the suite does not have.
    #[error("{0} has no figure `{1}`")]
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
    /// Suites, each with what was found.
    #[serde(default)]
    findings: Vec<Finding>,
    /// One of them as prose.
    sentence: Option<Finding>,
    table: Option<CostTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    suite: String,
    /// What was compared.
    title: String,
    /// What the document behind the suite says.
    published: Option<String>,
    /// What was found; `{name}` stands for the figure of that name in the suite's `results.toml`.
    text: String,
}

/// The CPU time of a call in some of a record's rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CostTable {
    suite: String,
    subjects: Vec<String>,
    columns: Vec<CostColumn>,
    via: String,
}

/// A case, and its heading.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CostColumn {
    case: Case,
    heading: String,
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
        if let Some(table) = &self.table {
            return table.text(sources);
        }
        if let Some(sentence) = &self.sentence {
            return sentence.sentence(sources);
        }
        let has_published = self.findings.iter().any(|finding| finding.published.is_some());
        let heading = match has_published {
            true => "| benchmark | published | found here | measured |\n|---|---|---|---|\n",
            false => "| question | found | measured |\n|---|---|---|\n",
        };
        let rows: Result<String, ReadMeError> =
            self.findings.iter().map(|finding| finding.row(sources)).collect();
        Ok(format!("{heading}{}", rows?))
    }
}

impl Finding {
    /// `| [what was compared](page) | what was published | what was found | when and on what |`.
    fn row(&self, sources: ReadMeSources<'_>) -> Result<String, ReadMeError> {
        let Self { suite, title, published, .. } = self;
        let (found, origin) = self.found(sources)?;
        let published = published.as_ref().map_or_else(String::new, |said| format!(" {said} |"));
        Ok(format!(
            "| [{title}](suites/{suite}/RESULTS.md) |{published} {} | {origin} |\n",
            found.split_whitespace().collect::<Vec<_>>().join(" ")
        ))
    }

    /// What was found, as prose.
    fn sentence(&self, sources: ReadMeSources<'_>) -> Result<String, ReadMeError> {
        let (found, origin) = self.found(sources)?;
        Ok(wrapped(
            &format!("{found} ([{}](suites/{}/RESULTS.md), {origin})", self.title, self.suite),
            "",
        ))
    }

    /// What was found, and the record that it is of.
    fn found(&self, sources: ReadMeSources<'_>) -> Result<(String, String), ReadMeError> {
        let suite = &self.suite;
        let (file, record) = record(suite, sources)?;
        let page = Page::read(&sources.suites.join(suite), &record).map_err(unreadable)?;
        let figures = &page.presentation.figures;
        let found = quoted::filled_in(&self.text, figures, &Cells::of(&record))
            .map_err(|withheld| ReadMeError::Withheld(suite.clone(), withheld.to_string()))?;
        if let Some(name) = quoted::names(&found).next() {
            return Err(ReadMeError::NoFigure(suite.clone(), name.to_owned()));
        }
        Ok((found, origin(&file, &record)))
    }
}

impl CostTable {
    /// A row a subject, with the version that ran, and the record that all rows are of.
    fn text(&self, sources: ReadMeSources<'_>) -> Result<String, ReadMeError> {
        let (file, record) = record(&self.suite, sources)?;
        let cells = Cells::of(&record);
        let headings: Vec<&str> =
            self.columns.iter().map(|column| column.heading.as_str()).collect();
        let mut text = format!("| CPU time per call | {} |\n", headings.join(" | "));
        text.push_str(&format!("|---|{}\n", "---:|".repeat(headings.len())));
        let mut runs = Vec::new();
        for subject in &self.subjects {
            let missing = || ReadMeError::NoFigure(self.suite.clone(), subject.clone());
            let costs = self.costs(subject, &cells, &mut runs).ok_or_else(missing)?;
            text.push_str(&format!("| {} | {} |\n", cells.version(subject), costs.join(" | ")));
        }
        if each_once(runs).len() > 1 {
            return Err(ReadMeError::Withheld(self.suite.clone(), "of two runs".to_owned()));
        }
        let said = format!(
            "Measured with `{}` ([{suite}](suites/{suite}/RESULTS.md), {}).",
            self.via,
            origin(&file, &record),
            suite = self.suite
        );
        Ok(format!("{text}\n{}", wrapped(&said, "")))
    }

    /// Of each column; `None` where the record lacks one.
    fn costs(&self, subject: &str, cells: &Cells<'_>, runs: &mut Vec<u32>) -> Option<Vec<String>> {
        let cost = |column: &CostColumn| {
            let cell = cells.find_with(subject, column.case, Some(&self.via))?;
            runs.push(cells.run_of(cell, None)?);
            let (cost_ns, _) = cells.estimate(&Metric::Listed(&CPU_PER_CALL), cell, None)?;
            let failed = FailedShare::clause([(cell.failed_share(), subject.to_owned())]);
            Some(format!("{}{failed}", precise_latency_text(cost_ns)))
        };
        self.columns.iter().map(cost).collect()
    }
}

/// `[record](file): 2026-11-22, 10 rounds of 1 s, AMD EPYC`.
fn origin(file: &Path, record: &Record) -> String {
    format!("[record]({}): {}", file.display(), circumstances(record))
}

fn record(suite: &str, sources: ReadMeSources<'_>) -> Result<(PathBuf, Record), ReadMeError> {
    let file = [Extent::Full, Extent::Quick]
        .map(|extent| file_of(sources.records, suite, extent))
        .into_iter()
        .find(|file| file.is_file())
        .ok_or_else(|| ReadMeError::Unreadable(format!("{suite} has no record")))?;
    let record = Record::read(&file).map_err(unreadable)?;
    let extent = record.facts.extent;
    Ok((file_of(&shown_records(sources.records, suite), suite, extent), record))
}

fn unreadable(error: impl ToString) -> ReadMeError {
    ReadMeError::Unreadable(error.to_string())
}
