//! The page of a suite, `suites/NAME/RESULTS.md`: the published document's tables with what was
//! measured here beside every row (docs/measure/results.md).
//!
//! A page is made of a [`Record`], the published table and `results.toml`, which says how the
//! original looks. It holds nothing else, so that anybody can make it again. A suite that no
//! document stands behind has a [`measured_page`].

mod besides;
mod figures;
mod format;
mod grid;
mod lines;
mod measured;
mod metric;
mod notes;
mod page;
mod presentation;
mod profiled;
mod rows;
mod summary;
mod text;

pub use format::Format;
pub use measured::measured_page;
pub use metric::Metric;
pub use presentation::{Command, Look, Presentation, ResultColumn, ResultTable};

use crate::published::{PublishedError, PublishedRow, PublishedTable};
use bookend_results::declaration::DeclarationError;
use bookend_results::measurement::CellId;
use bookend_results::profile::Profile;
use bookend_results::record::Record;
use bookend_results::suite::Suite;
use std::fmt;
use std::path::{Path, PathBuf};

/// The file in a suite's folder that says how its page looks.
pub const RESULTS_FILE: &str = "results.toml";

/// The page in a suite's folder.
pub const PAGE_FILE: &str = "RESULTS.md";

/// Everything that a page is made of.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    record: &'a Record,
    presentation: Presentation,
    published: PublishedTable,
    histogram: Option<PublishedTable>,
    published_profile: Option<PublishedTable>,
    verdicts: String,
    profile: Option<Profile>,
}

impl<'a> Page<'a> {
    /// Reads what stands beside the record in the suite's folder.
    ///
    /// # Errors
    /// When a file cannot be read, or they contradict each other.
    pub fn read(folder: &Path, record: &'a Record) -> Result<Self, ResultsError> {
        let presentation = Presentation::read(folder).map_err(ResultsError::Declaration)?;
        let suite = Suite::read(folder).map_err(ResultsError::Declaration)?;
        let Some(file) = suite.published.as_ref() else {
            return Err(ResultsError::NothingPublished(suite.name));
        };
        let published = read_table(&suite.path(file))?;
        presentation.check(&published)?;
        let read = |file: &Option<String>| {
            let file = file.as_ref();
            file.map(|file| read_table(&suite.path(file))).transpose()
        };
        Ok(Self {
            histogram: read(&presentation.histogram)?,
            published_profile: read(&presentation.profile)?,
            record,
            presentation,
            published,
            verdicts: String::new(),
            profile: None,
        })
    }

    /// The same with where the CPU time went, if that was recorded.
    #[must_use]
    pub fn with_profile(self, profile: Option<Profile>) -> Self {
        Self { profile, ..self }
    }

    /// The same with the verdicts on the document's claims, Markdown, below the conclusion.
    #[must_use]
    pub fn with_verdicts(self, verdicts: String) -> Self {
        Self { verdicts, ..self }
    }

    /// The rows of a table of the document that the page shows.
    fn rows_of<'b>(
        &'b self,
        table: &'b ResultTable,
    ) -> impl Iterator<Item = &'b PublishedRow> + use<'b, 'a> {
        let plan = &self.record.facts.plan;
        let planned: Vec<CellId> = match self.presentation.planned_only {
            true => plan.cells().into_iter().map(|cell| cell.id).collect(),
            false => Vec::new(),
        };
        let is_planned = move |row: &&PublishedRow| {
            let own = row.cell.as_ref();
            own.is_some_and(|own| planned.contains(own))
        };
        let all = !self.presentation.planned_only;
        let rows = self.published.of_table(&table.table);
        rows.filter(move |row| all || is_planned(row))
    }

    /// The text of the page. The same inputs always give the same text.
    pub fn text(&self) -> String {
        page::text(self)
    }
}

fn read_table(file: &Path) -> Result<PublishedTable, ResultsError> {
    PublishedTable::read(file).map_err(|error| ResultsError::Published {
        file: file.to_owned(),
        error,
    })
}

/// The number of the first line, counted from 1, in which two texts differ, with both lines.
/// `None`: they are equal.
pub fn first_difference(is: &str, should: &str) -> Option<(usize, String, String)> {
    if is == should {
        return None;
    }
    let (mut left, mut right) = (is.split('\n'), should.split('\n'));
    for number in 1.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let shown = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
                return Some((number, shown(a), shown(b)));
            }
        }
    }
    None
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultsError {
    /// `suite.toml` or `results.toml` is wrong.
    Declaration(DeclarationError),
    /// A published table is wrong.
    Published {
        /// Which file.
        file: PathBuf,
        /// What is wrong with it.
        error: PublishedError,
    },
    /// The suite names no published table.
    NothingPublished(String),
    /// `results.toml` shows a table that the published file does not have.
    NoTable(String),
    /// `results.toml` does not show a table that the published file has.
    Unshown(String),
    /// `results.toml` shows a figure that the published table does not have.
    NoColumn(String),
}

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declaration(error) => error.fmt(f),
            Self::Published { file, error } => write!(f, "{}: {error}", file.display()),
            Self::NothingPublished(suite) => write!(
                f,
                "suite {suite} has no published table: write `published = \"published.csv\"` \
                 into its suite.toml"
            ),
            Self::NoTable(name) => write!(
                f,
                "{RESULTS_FILE}: the published file has no table `{name}`"
            ),
            Self::Unshown(name) => write!(
                f,
                "{RESULTS_FILE}: the published table `{name}` is not shown: add it to [[tables]]"
            ),
            Self::NoColumn(name) => write!(
                f,
                "{RESULTS_FILE}: the published file has no column `{name}`"
            ),
        }
    }
}

impl std::error::Error for ResultsError {}
