//! `results.toml`: how the original document looks, so that its page can look the same.

use super::error::{PageError, RESULTS_FILE};
use super::format::{FigureFormat, NoFormat};
use super::overview::Overview;
use super::quoted::{self, NamedFigure};
use super::versions::{self, OF_THE_DAY, Versions};
use crate::from_text::list;
use crate::published::PublishedTable;
use bookend_results::declaration::{DeclarationError, Source, read_text};
use bookend_results::metric::{Metric, UnknownMetric};
use bookend_results::suite::Suite;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How a suite's page looks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presentation {
    /// The page's title.
    pub title: String,
    /// What the document says, or what is asked, in a sentence or two.
    pub said: String,
    /// What we found. `{name}` stands for the figure of that name in `figures`.
    #[serde(default)]
    pub found: String,
    /// What differs here most, in a sentence.
    #[serde(default)]
    pub differs: String,
    /// The figures that `found` names.
    #[serde(default)]
    pub figures: BTreeMap<String, NamedFigure>,
    /// The picture, and the short table that has the same figures.
    pub overview: Option<Overview>,
    /// Everything that differs from how the document was made, an item each.
    #[serde(default)]
    pub departures: Vec<String>,
    /// The machines of the original, one fact a line.
    #[serde(default)]
    pub environment: Vec<String>,
    /// The parameters of the original, one a line.
    #[serde(default)]
    pub parameters: Vec<String>,
    /// File with the published histograms, relative to the suite's folder.
    pub histogram: Option<String>,
    /// File with the published shares of profiles, relative to the suite's folder.
    pub profile: Option<String>,
    /// What to consider before comparing with the published figures: prose.
    #[serde(default)]
    pub reading: String,
    /// What to consider when the page shows a quick run: prose.
    #[serde(default)]
    pub quick: String,
    /// Whether only rows whose cell was planned are shown: the suite repeats part of a document.
    #[serde(default)]
    pub planned_only: bool,
    /// The conclusion: prose.
    #[serde(default)]
    pub conclusion: String,
    /// Its command lines, and their equivalents here.
    #[serde(default)]
    pub commands: Vec<PublishedCommand>,
    /// Its tables. None if no document stands behind the suite.
    #[serde(default)]
    pub tables: Vec<ResultTable>,
}

/// A command line of the original.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCommand {
    /// What it does.
    pub what: String,
    /// As published.
    pub published: String,
    /// The equivalent here.
    pub here: String,
}

/// One table of the original.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultTable {
    /// Its name in the published file.
    pub table: String,
    /// Its heading.
    pub title: String,
    /// Its shape.
    #[serde(default)]
    pub look: Look,
    /// The heading of the column with the subject of each row. `None`: the title names it.
    pub subject: Option<String>,
    /// The heading of the column with the rows' labels. `None`: there is no such column.
    pub label: Option<String>,
    /// Instruments whose measurements follow that of the row's own cell.
    #[serde(default)]
    pub also: Vec<String>,
    /// Its figures, in the printed order. If absent: those of the table before.
    #[serde(default, deserialize_with = "list")]
    pub columns: Vec<ResultColumn>,
    /// In a summary, what is printed besides the figures of a row.
    #[serde(default, deserialize_with = "list")]
    pub excerpts: Vec<Excerpt>,
}

/// What the original prints besides the figures of a row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excerpt {
    /// Of the rows of this subject, as printed.
    pub subject: String,
    /// Its heading: `Error distribution`.
    pub section: String,
    /// As printed.
    pub lines: Vec<String>,
}

/// The shape of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// A Markdown table.
    #[default]
    Table,
    /// Lines of dashes with the cases written into them.
    Grid,
    /// One block for each row, one line for each figure, as ghz prints its summary.
    Summary,
}

/// A column of figures, or a line of a summary.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "DeclaredColumn")]
pub struct ResultColumn {
    /// Its heading, as printed.
    pub heading: String,
    /// The column in the published file. `None`: the original does not have it.
    pub published: Option<String>,
    /// Our metric in this column. `None`: nothing of ours is the same.
    pub metric: Option<Metric>,
    /// How our figure is written.
    pub format: FigureFormat,
    /// In a summary, the section that begins with this line.
    pub section: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredColumn {
    heading: String,
    published: Option<String>,
    metric: Option<String>,
    format: String,
    section: Option<String>,
}

impl TryFrom<DeclaredColumn> for ResultColumn {
    type Error = String;

    /// If no metric is named, it has the name of the published column; `none` means that there is
    /// no metric.
    fn try_from(declared: DeclaredColumn) -> Result<Self, String> {
        let metric = match declared.metric.as_ref().or(declared.published.as_ref()) {
            None => Err("say what of ours stands here: metric = \"latency_p99\"".to_owned()),
            Some(none) if none == "none" => Ok(None),
            Some(name) => name.parse().map(Some).map_err(|error: UnknownMetric| error.to_string()),
        };
        Ok(Self {
            metric: metric?,
            format: declared.format.parse().map_err(|error: NoFormat| error.to_string())?,
            heading: declared.heading,
            published: declared.published,
            section: declared.section,
        })
    }
}

impl Presentation {
    /// Reads and checks `FOLDER/results.toml`.
    ///
    /// # Errors
    /// When it cannot be read or is invalid; the error names file, line and remedy.
    pub fn read(folder: &Path) -> Result<Self, DeclarationError> {
        let file = folder.join(RESULTS_FILE);
        Self::parse(&file, &read_text(&file)?)
    }

    /// That of a suite without a `results.toml`: what it asks, and no picture.
    pub(super) fn of_suite(suite: &Suite) -> Self {
        let (title, said) = (suite.title.clone(), suite.analysis.clone());
        Self { title, said, ..Self::default() }
    }

    /// Checks the text of `file`.
    ///
    /// # Errors
    /// As [`Presentation::read`].
    pub fn parse(file: &Path, text: &str) -> Result<Self, DeclarationError> {
        let source = Source { file, text };
        let mut declared: Self = source.parse()?;
        if let Some(start) = text.to_ascii_lowercase().find(OF_THE_DAY) {
            let remedy = "that is wrong tomorrow: write {NAME.versions} in found, where NAME is a \
                          figure, and {version of SUBJECT} elsewhere";
            return Err(source.invalid(start..start + OF_THE_DAY.len(), remedy.to_owned()));
        }
        if let Some(name) = declared.unnamed_figure() {
            let place = format!("{{{name}}}");
            let start = text.find(&place).unwrap_or_default();
            let message = format!("there is no figure `{name}`: write it under [figures]");
            return Err(source.invalid(start..start + place.len(), message));
        }
        let mut before = Vec::new();
        for table in &mut declared.tables {
            if table.columns.is_empty() {
                table.columns.clone_from(&before);
            }
            before.clone_from(&table.columns);
        }
        Ok(declared)
    }

    /// The same with the versions of a record.
    pub(super) fn with_versions(mut self, said: &Versions) -> Self {
        let overview = self.overview.as_mut();
        let labels = overview.into_iter().flat_map(|overview| {
            let series = overview.series.iter_mut().flat_map(|series| {
                std::iter::once(&mut series.name).chain(series.heading.as_mut())
            });
            series.chain(overview.lines.iter_mut().map(|line| &mut line.label))
        });
        let prose = [&mut self.said, &mut self.differs, &mut self.reading, &mut self.conclusion];
        let all = labels.chain(prose).chain(&mut self.departures);
        all.for_each(|text| *text = versions::named(text, said));
        self
    }

    /// A name in braces that no figure has.
    fn unnamed_figure(&self) -> Option<String> {
        let has_figure = |place: &&str| {
            let (name, part) = place.split_once('.').unwrap_or((*place, ""));
            self.figures.get(name).is_some_and(|figure| match part {
                "" | quoted::VERSIONS => true,
                quoted::VIA => figure.instrument.is_some(),
                _ => false,
            })
        };
        quoted::names(&self.found).find(|place| !has_figure(place)).map(str::to_owned)
    }

    /// Checks that it shows what was published: every table, and only figures that exist.
    pub(super) fn check(
        &self,
        published: Option<&PublishedTable>,
        suite: &str,
    ) -> Result<(), PageError> {
        let Some(published) = published else {
            let nothing = || PageError::NothingPublished(suite.to_owned());
            return if self.tables.is_empty() { Ok(()) } else { Err(nothing()) };
        };
        for table in &self.tables {
            if published.of_table(&table.table).next().is_none() {
                return Err(PageError::NoTable(table.table.clone()));
            }
            let is_known = |name: &&String| published.columns.iter().any(|own| own.name == **name);
            let mut shown = table.columns.iter().filter_map(|column| column.published.as_ref());
            if let Some(absent) = shown.find(|name| !is_known(name)) {
                return Err(PageError::NoColumn(absent.clone()));
            }
        }
        let is_shown = |name: &String| self.tables.iter().any(|table| table.table == *name);
        let mut tables = published.rows.iter().map(|row| &row.place.table);
        match tables.find(|name| !is_shown(name)) {
            Some(name) if !self.tables.is_empty() => Err(PageError::Unshown(name.clone())),
            _ => Ok(()),
        }
    }
}
