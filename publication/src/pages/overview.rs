//! What the picture of a page shows, and the short table with the same figures: as `results.toml`
//! declares it.

use super::format::FigureFormat;
use crate::from_text::{list, named};
use bookend_report::chart::Scale;
use bookend_results::metric::Metric;
use bookend_results::suite::Case;
use serde::Deserialize;

/// What the picture shows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overview {
    /// The heading of the picture.
    pub title: String,
    /// The line under it: what its axis shows.
    pub axis: String,
    /// The heading of the column that names the lines.
    pub lines_are: String,
    /// The figure.
    #[serde(deserialize_with = "named")]
    pub metric: Metric,
    /// How it is written.
    #[serde(deserialize_with = "named")]
    pub format: FigureFormat,
    /// How the axis divides its figures.
    #[serde(default)]
    pub scale: Scale,
    /// A figure to which all others are to be compared.
    pub reference: Option<f64>,
    /// The series side by side in each line.
    #[serde(deserialize_with = "list")]
    pub series: Vec<OverviewSeries>,
    /// The lines. If empty: one for each case of the run.
    #[serde(default, deserialize_with = "list")]
    pub lines: Vec<OverviewLine>,
    /// Further columns of the table.
    #[serde(default, deserialize_with = "list")]
    pub besides: Vec<OverviewColumn>,
}

/// A series of an overview.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverviewSeries {
    /// Its name in the legend.
    pub name: String,
    /// The heading of its column. `None`: its name.
    pub heading: Option<String>,
    /// Its subject. `None`: that of the line.
    pub subject: Option<String>,
    /// Its instrument. `None`: the first that measured the subject.
    pub instrument: Option<String>,
    /// The subject whose figure it is divided by.
    pub over: Option<String>,
    /// What the document prints of it, by column; it is that and nothing of ours.
    pub published: Option<String>,
}

/// A line of an overview.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverviewLine {
    /// Its name.
    pub label: String,
    /// Its subject. `None`: that of each series.
    pub subject: Option<String>,
    /// Its case.
    pub case: Case,
}

/// A further column of the table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverviewColumn {
    /// Its heading.
    pub heading: String,
    /// Its subject. `None`: that of the line.
    pub subject: Option<String>,
    /// Its instrument. `None`: the first that measured the subject.
    pub instrument: Option<String>,
    /// Its figure.
    #[serde(deserialize_with = "named")]
    pub metric: Metric,
    /// How it is written.
    #[serde(deserialize_with = "named")]
    pub format: FigureFormat,
}
