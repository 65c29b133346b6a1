//! Prose with figures of the record in it, so that no figure in it is typed.

use super::figures::Cells;
use super::format::FigureFormat;
use crate::from_text::named;
use bookend_results::failed_share::FailedShare;
use bookend_results::metric::Metric;
use bookend_results::suite::Case;
use bookend_results::table::Cell;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A figure of the record that prose names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedFigure {
    /// The subject.
    #[serde(rename = "of")]
    pub subject: String,
    /// The case.
    pub case: Case,
    /// The instrument. `None`: the first that measured it.
    #[serde(rename = "via")]
    pub instrument: Option<String>,
    /// The subject whose figure it is divided by.
    pub over: Option<String>,
    /// The figure.
    #[serde(deserialize_with = "named")]
    pub metric: Metric,
    /// How it is written.
    #[serde(deserialize_with = "named")]
    pub format: FigureFormat,
}

impl NamedFigure {
    /// `8.81 (7.21 to 11.2)`, or words where there is no figure.
    fn text(&self, cells: &Cells<'_>) -> String {
        let cell =
            |subject: &String| cells.find_with(subject, self.case, self.instrument.as_deref());
        let own = cell(&self.subject);
        let other = self.over.as_ref().map(cell);
        let figure = match (own, other) {
            (Some(own), None) => cells.estimate(&self.metric, own, None),
            (Some(own), Some(Some(other))) => cells.estimate(&self.metric, own, Some(other)),
            _ => None,
        };
        let Some((value, interval)) = figure else {
            return "(no figure yet)".to_owned();
        };
        let number = |value| self.format.text(value);
        let cells = own.into_iter().chain(other.flatten());
        let failed = cells.map(Cell::failed_share).fold(None, FailedShare::larger);
        let failed = failed.map(|share| format!("{share} of the calls failed"));
        let interval =
            interval.map(|ends| format!("{} to {}", number(ends.low), number(ends.high)));
        let known: Vec<String> = interval.into_iter().chain(failed).collect();
        match known.is_empty() {
            true => number(value),
            false => format!("{} ({})", number(value), known.join("; ")),
        }
    }
}

/// The prose with each `{name}` replaced by the figure of that name.
pub(super) fn filled_in(
    prose: &str,
    figures: &BTreeMap<String, NamedFigure>,
    cells: &Cells<'_>,
) -> String {
    let mut text = prose.trim().to_owned();
    for (name, figure) in figures {
        let place = format!("{{{name}}}");
        if text.contains(&place) {
            text = text.replace(&place, &figure.text(cells));
        }
    }
    text
}

/// The names in braces.
pub(super) fn names(prose: &str) -> impl Iterator<Item = &str> {
    prose.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}
