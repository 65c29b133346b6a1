//! Everything that the page of a suite is made of.

use super::error::{PageError, RESULTS_FILE};
use super::presentation::{Presentation, ResultTable};
use super::provenance::{self, Provenance};
use super::verdicts::ClaimVerdicts;
use crate::published::{PublishedRow, PublishedTable};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::profile::Profile;
use bookend_results::record::{Record, suite_folder};
use bookend_results::suite::{Case, Suite};
use std::path::{Path, PathBuf};

/// The folder of records in the repository.
const RECORDS: &str = "records";

/// Everything that a page is made of.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    pub(super) record: &'a Record,
    pub(super) presentation: Presentation,
    pub(super) published: Option<PublishedTable>,
    pub(super) histogram: Option<PublishedTable>,
    pub(super) published_profile: Option<PublishedTable>,
    pub(super) verdicts: Option<ClaimVerdicts>,
    pub(super) profile: Option<Profile>,
    /// The folder of the repository in which that of the record is.
    pub(super) records: PathBuf,
    /// The files that were cut of what instruments printed, if that is next to the record.
    pub(super) raw_cut_off: Option<Vec<String>>,
    pub(super) provenance: Vec<Provenance>,
}

impl<'a> Page<'a> {
    /// Reads the files next to the record from the suite's folder.
    ///
    /// # Errors
    /// When a file cannot be read, or the files contradict each other.
    pub fn read(folder: &Path, record: &'a Record) -> Result<Self, PageError> {
        let suite = Suite::read(folder).map_err(PageError::Declaration)?;
        let presentation = if folder.join(RESULTS_FILE).is_file() {
            Presentation::read(folder).map_err(PageError::Declaration)?
        } else {
            Presentation::of_suite(&suite)
        };
        let read = |file: &Option<String>| {
            file.as_ref().map(|file| read_table(&suite.path(file))).transpose()
        };
        let published = read(&suite.published)?;
        presentation.check(published.as_ref(), &suite.name)?;
        let presentation = presentation.with_versions(&record.facts.versions);
        Ok(Self {
            histogram: read(&presentation.histogram)?,
            published_profile: read(&presentation.profile)?,
            record,
            presentation,
            published,
            verdicts: None,
            profile: None,
            records: PathBuf::from(RECORDS),
            raw_cut_off: None,
            provenance: provenance::read(folder, &suite.name).map_err(PageError::Declaration)?,
        })
    }

    /// Adds where the CPU time went, if that was recorded.
    #[must_use]
    pub fn with_profile(self, profile: Option<Profile>) -> Self {
        Self { profile, ..self }
    }

    /// Says in which folder the suites' records are, of which one may be that of a host.
    #[must_use]
    pub fn with_records(self, records: &Path) -> Self {
        Self { records: shown_records(records, &self.record.facts.suite), ..self }
    }

    /// Adds the verdicts on the document's claims.
    #[must_use]
    pub fn with_verdicts(self, verdicts: Option<ClaimVerdicts>) -> Self {
        Self { verdicts, ..self }
    }

    /// Says whether a [raw folder](bookend_results::record::raw_folder) is next to the record, and
    /// which of its files [were cut](bookend_results::record::cut_off_raw_files).
    #[must_use]
    pub fn with_raw_output(self, cut_off: Option<Vec<String>>) -> Self {
        Self { raw_cut_off: cut_off, ..self }
    }

    /// The rows of a table of the document that the page shows.
    pub(super) fn rows_of<'b>(
        &'b self,
        table: &'b ResultTable,
    ) -> impl Iterator<Item = &'b PublishedRow> + use<'b, 'a> {
        let plan = &self.record.facts.plan;
        let planned = self.presentation.planned_only.then(|| plan.cells());
        let is_shown = move |row: &&PublishedRow| match (&planned, &row.cell) {
            (None, _) => true,
            (Some(planned), Some(own)) => planned.iter().any(|cell| cell.id == *own),
            (Some(_), None) => false,
        };
        let published = self.published.iter();
        published.flat_map(|published| published.of_table(&table.table)).filter(is_shown)
    }

    /// A figure of the document about one of our subjects in a case, by its column, with its text
    /// if it is printed. `requests_per_cpu_second` follows from others that are.
    pub(super) fn printed(
        &self,
        column: &str,
        subject: &str,
        case: Case,
    ) -> Option<(f64, Option<String>)> {
        let row = self.published.iter().flat_map(|published| &published.rows).find(|row| {
            row.cell.as_ref().is_some_and(|cell| cell.subject == subject && cell.case == case)
        })?;
        match row.value(column) {
            Some(value) => Some((value, row.printed.get(column).cloned())),
            None if column == REQUESTS_PER_CPU_SECOND.name => Some((rate_per_cpu(row)?, None)),
            None => None,
        }
    }
}

/// The folder in which the suite's record is, as pages name it: `records`, or that of a host there.
pub(super) fn shown_records(records: &Path, suite: &str) -> PathBuf {
    let folder = suite_folder(records, suite);
    let host = folder.parent().and_then(|host| host.strip_prefix(records).ok());
    match host.filter(|host| *host != Path::new("")) {
        Some(host) => Path::new(RECORDS).join(host),
        None => PathBuf::from(RECORDS),
    }
}

/// Requests per second for each CPU that the server used.
fn rate_per_cpu(row: &PublishedRow) -> Option<f64> {
    let cpu = row.value("server_cpu_mean").or_else(|| row.value("cpu"))?;
    Some(row.value("requests_per_second")? / cpu)
}

fn read_table(file: &Path) -> Result<PublishedTable, PageError> {
    PublishedTable::read(file)
        .map_err(|error| PageError::Published { file: file.to_owned(), error })
}
