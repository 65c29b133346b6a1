//! A picture with its figures.

use crate::chart::{LineChart, LineRows, PointChart, StackChart, Theme};
use crate::html::{HtmlRow, slug};
use maud::{Markup, PreEscaped};
use std::collections::BTreeSet;

/// A picture of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its heading: what it shows, and behind a comma which group of cells, if there are several.
    pub title: String,
    /// What it shows, and how it is read.
    pub caption: String,
    pub(crate) drawing: Drawing,
    /// The headings of its figures.
    pub headings: Vec<String>,
    /// Its figures.
    pub rows: Vec<HtmlRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Drawing {
    Lines(LineChart),
    Rows(LineRows),
    Points(PointChart),
    Stacks(StackChart),
}

impl Picture {
    /// The picture as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        match &self.drawing {
            Drawing::Lines(chart) => chart.svg(theme),
            Drawing::Rows(charts) => charts.svg(theme),
            Drawing::Points(chart) => chart.svg(theme),
            Drawing::Stacks(chart) => chart.svg(theme),
        }
    }

    /// What it shows, whichever group of cells it is of.
    pub(crate) fn kind(&self) -> &str {
        self.title.split_once(", ").map_or(&self.title, |(kind, _)| kind)
    }

    /// Whether it has figures of cells whose calls failed.
    pub(crate) fn has_failed_calls(&self) -> bool {
        match &self.drawing {
            Drawing::Lines(chart) => chart.has_failed_calls(),
            Drawing::Rows(charts) => charts.has_failed_calls(),
            Drawing::Points(_) | Drawing::Stacks(_) => false,
        }
    }

    /// The picture as a part of a page, and once more for narrow screens: the page shows one of the
    /// two.
    pub(crate) fn markup(&self) -> Markup {
        // The canvas wrote its elements and escaped their texts.
        let both = [Theme::Page, Theme::NarrowPage].map(|theme| self.svg(theme));
        PreEscaped(both.concat())
    }
}

/// The pictures, each with a name of its own for an element and for a file.
pub(crate) fn named(pictures: Vec<Picture>) -> Vec<(String, Picture)> {
    let mut taken = BTreeSet::new();
    let mut free_name = |picture: &Picture| {
        let own = slug(&picture.title);
        let free = std::iter::once(own.clone())
            .chain((2..).map(|number| format!("{own}-{number}")))
            .find(|name| !taken.contains(name))
            .unwrap_or(own);
        taken.insert(free.clone());
        free
    };
    pictures.into_iter().map(|picture| (free_name(&picture), picture)).collect()
}
