//! Everything that the page of a suite is made of.

use super::error::PageError;
use super::presentation::{Presentation, ResultTable};
use crate::published::{PublishedRow, PublishedTable};
use bookend_results::profile::Profile;
use bookend_results::record::Record;
use bookend_results::suite::Suite;
use std::path::Path;

/// Everything that a page is made of.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    pub(super) record: &'a Record,
    pub(super) presentation: Presentation,
    pub(super) published: PublishedTable,
    pub(super) histogram: Option<PublishedTable>,
    pub(super) published_profile: Option<PublishedTable>,
    pub(super) verdicts: String,
    pub(super) profile: Option<Profile>,
}

impl<'a> Page<'a> {
    /// Reads the files beside the record from the suite's folder.
    ///
    /// # Errors
    /// When a file cannot be read, or the files contradict each other.
    pub fn read(folder: &Path, record: &'a Record) -> Result<Self, PageError> {
        let presentation = Presentation::read(folder).map_err(PageError::Declaration)?;
        let suite = Suite::read(folder).map_err(PageError::Declaration)?;
        let Some(file) = suite.published.as_ref() else {
            return Err(PageError::NothingPublished(suite.name));
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

    /// Adds where the CPU time went, if that was recorded.
    #[must_use]
    pub fn with_profile(self, profile: Option<Profile>) -> Self {
        Self { profile, ..self }
    }

    /// Adds the verdicts on the document's claims, in Markdown, below the conclusion.
    #[must_use]
    pub fn with_verdicts(self, verdicts: String) -> Self {
        Self { verdicts, ..self }
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
        self.published.of_table(&table.table).filter(is_shown)
    }
}

fn read_table(file: &Path) -> Result<PublishedTable, PageError> {
    PublishedTable::read(file)
        .map_err(|error| PageError::Published { file: file.to_owned(), error })
}
