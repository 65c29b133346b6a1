//! A picture with its figures.

use crate::chart::{HeatMap, LineChart, StackChart, Theme};
use crate::html::HtmlRow;

/// A picture of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its heading.
    pub title: String,
    /// What it shows, and how it is read.
    pub caption: String,
    pub(super) drawing: Drawing,
    /// The headings of its figures.
    pub headings: Vec<String>,
    /// Its figures.
    pub rows: Vec<HtmlRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Drawing {
    Heat(HeatMap),
    Lines(LineChart),
    Stacks(StackChart),
}

impl Picture {
    /// The picture as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        match &self.drawing {
            Drawing::Heat(map) => map.svg(theme),
            Drawing::Lines(chart) => chart.svg(theme),
            Drawing::Stacks(chart) => chart.svg(theme),
        }
    }
}
