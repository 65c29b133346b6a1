//! Line charts below each other over one axis along the bottom: two figures of the same moments.

use super::axis::Axis;
use super::canvas::Theme;
use super::lines::LineChart;

/// Line charts with one heading and one axis along the bottom: those of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct LineRows {
    /// The first, with the heading.
    pub first: LineChart,
    /// Those below it.
    pub others: Vec<LineChart>,
}

/// Of one row, where there are several.
const HEIGHT: f64 = 190.0;

/// Between two rows.
const GAP: f64 = 10.0;

impl LineRows {
    /// Renders the rows as SVG.
    pub fn svg(&self, theme: Theme) -> String {
        if self.others.is_empty() {
            return self.first.svg(theme);
        }
        let mut canvas = self.first.titled(theme, self.has_failed_calls());
        let along = self.all().flat_map(|chart| chart.points().map(|point| point.x));
        let across = Axis::around(self.first.scales[0], along);
        for (row, chart) in self.all().enumerate() {
            canvas.y += if row > 0 { GAP } else { 0.0 };
            let [_, up] = chart.axes();
            chart.draw(&mut canvas, [across, up], 1, HEIGHT);
        }
        self.first.name_across(&mut canvas);
        canvas.document(&self.first.title)
    }

    /// Whether a point of a row has a share of failed calls.
    pub(crate) fn has_failed_calls(&self) -> bool {
        self.all().any(LineChart::has_failed_calls)
    }

    fn all(&self) -> impl Iterator<Item = &LineChart> {
        std::iter::once(&self.first).chain(&self.others)
    }
}
