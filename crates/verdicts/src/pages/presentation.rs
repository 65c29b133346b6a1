//! `results.toml`: how the original document looks, so that its page can look the same.

use super::error::{PageError, RESULTS_FILE};
use super::format::FigureFormat;
use crate::published::{PublishedColumn, PublishedTable};
use bookend_results::declaration::{DeclarationError, Source, read_text};
use bookend_results::metric::{Metric, UnknownMetric};
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

/// How a suite's page looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Presentation {
    /// The page's title.
    pub title: String,
    /// The machines of the original, one fact a line.
    pub environment: Vec<String>,
    /// The parameters of the original, one a line.
    pub parameters: Vec<String>,
    /// Its command lines, and their equivalents here.
    pub commands: Vec<PublishedCommand>,
    /// Its tables.
    pub tables: Vec<ResultTable>,
    /// File with the published histograms, relative to the suite's folder.
    pub histogram: Option<String>,
    /// File with the published shares of profiles, relative to the suite's folder.
    pub profile: Option<String>,
    /// What to consider before comparing with the published figures: prose.
    pub reading: String,
    /// What to consider when the page shows a quick run: prose.
    pub quick: String,
    /// Whether only rows whose cell was planned are shown: the suite repeats part of a document.
    pub planned_only: bool,
    /// The conclusion: prose.
    pub conclusion: String,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultTable {
    /// Its name in the published file.
    pub table: String,
    /// Its heading.
    pub title: String,
    /// Its shape.
    pub look: Look,
    /// The heading of the column with the subject of each row. `None`: the title names it.
    pub subject: Option<String>,
    /// The heading of the column with the rows' labels. `None`: there is no such column.
    pub label: Option<String>,
    /// Instruments whose measurements follow that of the row's own cell.
    pub also: Vec<String>,
    /// Its figures, in the printed order.
    pub columns: Vec<ResultColumn>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
struct Declared {
    title: String,
    environment: Vec<String>,
    parameters: Vec<String>,
    histogram: Option<String>,
    profile: Option<String>,
    #[serde(default)]
    reading: String,
    #[serde(default)]
    quick: String,
    #[serde(default)]
    planned_only: bool,
    conclusion: String,
    #[serde(default)]
    commands: Vec<PublishedCommand>,
    tables: Vec<DeclaredTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredTable {
    table: String,
    title: String,
    #[serde(default)]
    look: Look,
    subject: Option<String>,
    label: Option<String>,
    #[serde(default)]
    also: Vec<String>,
    /// If absent: those of the table before.
    columns: Option<Vec<DeclaredColumn>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredColumn {
    heading: String,
    published: Option<String>,
    metric: Option<Spanned<String>>,
    format: Spanned<String>,
    section: Option<String>,
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

    /// Checks the text of `file`.
    ///
    /// # Errors
    /// As [`Presentation::read`].
    pub fn parse(file: &Path, text: &str) -> Result<Self, DeclarationError> {
        let source = Source { file, text };
        let declared: Declared = source.parse()?;
        let mut tables: Vec<ResultTable> = Vec::new();
        for table in declared.tables {
            let before = tables.last().map(|table| table.columns.clone());
            tables.push(checked(source, table, before.unwrap_or_default())?);
        }
        Ok(Self {
            title: declared.title,
            environment: declared.environment,
            parameters: declared.parameters,
            commands: declared.commands,
            histogram: declared.histogram,
            profile: declared.profile,
            reading: declared.reading,
            quick: declared.quick,
            planned_only: declared.planned_only,
            conclusion: declared.conclusion,
            tables,
        })
    }

    /// Checks that it shows what was published: every table, and only figures that exist.
    pub(super) fn check(&self, published: &PublishedTable) -> Result<(), PageError> {
        for table in &self.tables {
            if published.of_table(&table.table).next().is_none() {
                return Err(PageError::NoTable(table.table.clone()));
            }
            let known = |name: &String| {
                let is = |column: &PublishedColumn| column.name == *name;
                published.columns.iter().any(is)
            };
            let columns = table.columns.iter();
            let mut shown = columns.filter_map(|column| column.published.as_ref());
            if let Some(absent) = shown.find(|name| !known(name)) {
                return Err(PageError::NoColumn(absent.clone()));
            }
        }
        let is_shown = |name: &String| self.tables.iter().any(|table| table.table == *name);
        let mut tables = published.rows.iter().map(|row| &row.table);
        match tables.find(|name| !is_shown(name)) {
            Some(name) => Err(PageError::Unshown(name.clone())),
            None => Ok(()),
        }
    }
}

fn checked(
    source: Source<'_>,
    declared: DeclaredTable,
    before: Vec<ResultColumn>,
) -> Result<ResultTable, DeclarationError> {
    let columns = match declared.columns {
        Some(columns) => columns
            .into_iter()
            .map(|declared| column(source, declared))
            .collect::<Result<_, _>>()?,
        None => before,
    };
    Ok(ResultTable {
        table: declared.table,
        title: declared.title,
        look: declared.look,
        subject: declared.subject,
        label: declared.label,
        also: declared.also,
        columns,
    })
}

/// If no metric is named, it has the name of the published column; `none` means that there is no
/// metric.
fn column(source: Source<'_>, declared: DeclaredColumn) -> Result<ResultColumn, DeclarationError> {
    let span = declared.metric.as_ref().map(Spanned::span);
    let name = declared.metric.map(Spanned::into_inner);
    let metric = match name.as_deref().or(declared.published.as_deref()) {
        Some("none") => None,
        None => {
            let message = "say what of ours stands here: metric = \"latency_p99\"".to_owned();
            return Err(source.invalid(declared.format.span(), message));
        }
        Some(name) => Some(name.parse().map_err(|error: UnknownMetric| {
            let span = span.unwrap_or_else(|| declared.format.span());
            source.invalid(span, error.to_string())
        })?),
    };
    let format = declared.format.as_ref().parse();
    let complain =
        |error: super::format::NoFormat| source.invalid(declared.format.span(), error.to_string());
    Ok(ResultColumn {
        format: format.map_err(complain)?,
        heading: declared.heading,
        published: declared.published,
        metric,
        section: declared.section,
    })
}
