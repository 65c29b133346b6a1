//! Prose with figures of the record in it, so that no figure in it is typed.

use super::figures::Cells;
use super::format::FigureFormat;
use crate::from_text::named;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::each_once;
use bookend_results::metric::Metric;
use bookend_results::suite::Case;
use bookend_results::table::Cell;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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
    /// `8.81 (7.21 to 11.2)`, and the run of the record that it is of. `None`: there is no figure.
    fn text(&self, cells: &Cells<'_>) -> Option<(String, u32)> {
        let cell =
            |subject: &String| cells.find_with(subject, self.case, self.instrument.as_deref());
        let own = cell(&self.subject)?;
        let other = match &self.over {
            None => None,
            Some(other) => Some(cell(other)?),
        };
        let (value, interval) = cells.estimate(&self.metric, own, other)?;
        let run = cells.run_of(own, other)?;
        let number = |value| self.format.text(value);
        let failed = [Some(own), other].into_iter().flatten().map(Cell::failed_share);
        let failed = failed.fold(None, FailedShare::larger);
        let failed = failed.map(|share| format!("{share} of the calls failed"));
        let interval =
            interval.map(|ends| format!("{} to {}", number(ends.low), number(ends.high)));
        let known: Vec<String> = interval.into_iter().chain(failed).collect();
        let text = match known.is_empty() {
            true => number(value),
            false => format!("{} ({})", number(value), known.join("; ")),
        };
        Some((text, run))
    }

    /// What is said of the rows that it is of: the versions that were measured, or the version of
    /// what measured them.
    fn said(&self, part: &str, cells: &Cells<'_>) -> String {
        let of = cells.version(&self.subject);
        match (part, &self.over, &self.instrument) {
            (VIA, _, Some(instrument)) => cells.version(instrument).to_owned(),
            (VERSIONS, Some(over), _) => format!("{of} over {}", cells.version(over)),
            _ => of.to_owned(),
        }
    }

    /// `rust-tonic at C=1 S=50 via ghz`.
    fn place(&self) -> String {
        let via = self.instrument.as_ref().map_or_else(String::new, |name| format!(" via {name}"));
        format!("{} at {}{via}", self.subject, self.case)
    }
}

/// `{name.versions}` stands for the versions of what the figure of that name is of.
pub(super) const VERSIONS: &str = "versions";

/// `{name.via}` stands for the version of what measured it.
pub(super) const VIA: &str = "via";

/// Why prose is not printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Withheld {
    /// The record has no figure of these.
    NoFigures(Vec<String>),
    /// Its figures are of several runs, which nothing may stand over.
    SeveralRuns,
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFigures(places) => {
                write!(f, "the record has no figure of {}", places.join(", "))
            }
            Self::SeveralRuns => {
                f.write_str("its figures are of two runs; it waits until they are recorded anew")
            }
        }
    }
}

/// The prose with each `{name}` replaced by the figure of that name, all of one run.
///
/// # Errors
/// When a figure does not exist, or the figures are of several runs.
pub(super) fn filled_in(
    prose: &str,
    figures: &BTreeMap<String, NamedFigure>,
    cells: &Cells<'_>,
) -> Result<String, Withheld> {
    let mut text = prose.trim().to_owned();
    let mut runs = BTreeSet::new();
    let mut missing = Vec::new();
    for place in names(prose) {
        let (name, part) = place.split_once('.').unwrap_or((place, ""));
        let Some(figure) = figures.get(name) else { continue };
        if !part.is_empty() {
            text = text.replace(&format!("{{{place}}}"), &figure.said(part, cells));
            continue;
        }
        match figure.text(cells) {
            Some((figure, run)) => {
                runs.insert(run);
                text = text.replace(&format!("{{{name}}}"), &figure);
            }
            None => missing.push(figure.place()),
        }
    }
    match (missing.as_slice(), runs.len()) {
        ([], 0 | 1) => Ok(text),
        ([], _) => Err(Withheld::SeveralRuns),
        _ => Err(Withheld::NoFigures(each_once(missing))),
    }
}

/// The names in braces.
pub(super) fn names(prose: &str) -> impl Iterator<Item = &str> {
    prose.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name))
}
