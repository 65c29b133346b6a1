//! Pictures: a chart of one case, a [`PointChart`] of one figure over many, and those of a report:
//! a [`LineChart`] over two axes, a [`StackChart`] of parts of a whole.
//!
//! A [`Chart`] has the requests per second of every subject, measured with each instrument. There
//! is one group for each instrument and one bar for each subject, with the 95 % interval drawn over
//! the end of the bar. Bars begin at zero and share one scale, so a bar twice as long is twice as
//! fast.

mod axis;
mod canvas;
mod drawing;
mod legend;
mod line_rows;
mod lines;
mod points;
mod stacks;

pub use axis::{AxisUnit, Scale};
pub use canvas::{Theme, page_rules};
pub use line_rows::LineRows;
pub(crate) use lines::failed_at_end;
pub use lines::{AxisName, LineChart, LinePanel, LineParting, LinePoint, LineSeries};
pub use points::{ChartPoint, ChartSeries, PointChart, PointLine};
pub use stacks::{StackBar, StackChart, StackPanel, StackPart};

use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::each_once;
use bookend_results::metric;
use bookend_results::statistics::{Interval, Ratio};
use bookend_results::suite::{Case, TestedEnd};
use bookend_results::table::{Cell, CellResult, Rank, Table};
use bookend_results::text::significant_text;
use drawing::Drawing;

/// The contents of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// A line under the heading: how the case was measured.
    pub subtitle: String,
    /// One group for each instrument, in the order of the plan.
    pub groups: Vec<Group>,
}

/// The bars of one instrument.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The instrument.
    pub name: String,
    /// One bar for each subject, in the order of the plan.
    pub bars: Vec<Bar>,
    /// A conclusion from the bars, in words.
    pub remark: Option<String>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The subject.
    pub name: String,
    /// The subject's place in the plan. It selects the colour, the same in every group.
    pub series: usize,
    /// Requests per second, or one word for why there is no figure.
    pub rate: Result<f64, String>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The share of its calls that failed. `None`: none did.
    pub failed: Option<FailedShare>,
}

/// Why there is no chart. The user can correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChartError {
    /// The run has no such case.
    #[error(
        "this run has no case {asked}: it has {}",
        known.iter().map(Case::to_string).collect::<Vec<_>>().join(", ")
    )]
    NoCase {
        /// The case that was asked for.
        asked: Case,
        /// The cases of the run.
        known: Vec<Case>,
    },
    /// The run has no cells at all.
    #[error("this run has no cells to draw")]
    Empty,
}

impl Chart {
    /// The chart of `case`, or of the first case, from a run's table.
    ///
    /// # Errors
    /// When the table has no such case.
    pub fn of(table: &Table, case: Option<Case>, title: String) -> Result<Self, ChartError> {
        let case = chosen(table, case)?;
        // Calibration lines are not contestants and are not drawn.
        let cells: Vec<&Cell> =
            table.of_case(case).filter(|cell| cell.rank != Rank::Calibration).collect();
        let rounds = cells.iter().map(|cell| cell.rounds.measured).max();
        let subjects = each_once(cells.iter().map(|cell| &cell.id.subject));
        let instruments = each_once(cells.iter().map(|cell| &cell.id.instrument));
        let groups = instruments
            .into_iter()
            .map(|instrument| {
                let own: Vec<_> = cells
                    .iter()
                    .filter(|cell| cell.id.instrument == *instrument)
                    .copied()
                    .collect();
                Group::of(instrument, &own, &subjects)
            })
            .collect();
        Ok(Self {
            title,
            subtitle: format!(
                "C={} {}: requests per second, median of {} rounds",
                case.connections,
                table.streams(case),
                rounds.unwrap_or(0)
            ),
            groups,
        })
    }

    /// Renders the chart as a complete SVG document.
    pub fn svg(&self, theme: Theme) -> String {
        Drawing::new(theme, self.largest_rate()).chart(self)
    }

    fn largest_rate(&self) -> f64 {
        self.groups
            .iter()
            .flat_map(|group| &group.bars)
            .filter_map(|bar| {
                let rate = bar.rate.as_ref().ok()?;
                Some(bar.interval.map_or(*rate, |interval| interval.high.max(*rate)))
            })
            .fold(0.0, f64::max)
    }
}

impl Group {
    fn of(instrument: &str, cells: &[&Cell], subjects: &[&String]) -> Self {
        let series = |cell: &Cell| subjects.iter().position(|name| **name == cell.id.subject);
        let bars = cells.iter().map(|cell| Bar::of(cell, series(cell).unwrap_or_default()));
        let spins = |cell: &&Cell| cell.summary().is_some_and(|one| one.spinning.generator);
        Self {
            name: if cells.iter().any(spins) {
                format!("{instrument} (spins)")
            } else {
                instrument.to_owned()
            },
            bars: bars.collect(),
            remark: remark(cells),
        }
    }
}

impl Bar {
    fn of(cell: &Cell, series: usize) -> Self {
        let (name, failed) = (cell.marked_subject(), cell.failed_share());
        match &cell.result {
            CellResult::Measured(summary) => Self {
                name: if summary.spinning.server { format!("{name} (spins)") } else { name },
                series,
                rate: Ok(summary.value(&metric::REQUESTS_PER_SECOND).unwrap_or(0.0)),
                interval: summary.interval(&metric::REQUESTS_PER_SECOND),
                failed,
            },
            CellResult::NotMeasured { why, .. } => {
                Self { name, series, rate: Err(why.to_string()), interval: None, failed }
            }
        }
    }
}

fn chosen(table: &Table, case: Option<Case>) -> Result<Case, ChartError> {
    let known = table.cases();
    match case {
        Some(asked) if known.contains(&asked) => Ok(asked),
        Some(asked) => Err(ChartError::NoCase { asked, known }),
        None => known.first().copied().ok_or(ChartError::Empty),
    }
}

/// Compares the first subject with the baseline by rate and by cost. Where the two ratios differ,
/// the rates do not compare the servers.
fn remark(cells: &[&Cell]) -> Option<String> {
    let baseline = cells.iter().find(|cell| cell.rank == Rank::Baseline)?;
    let compared = |cell: &&&Cell| cell.rank == Rank::Ranked;
    let cell = cells.iter().find(compared)?;
    let summary = cell.summary()?;
    let rate = ratio_and_interval(summary.ratios.rate_ratio.ratio()?);
    let cost = ratio_and_interval(summary.ratios.cost_ratio.ratio()?);
    let (name, other) = (&cell.id.subject, &baseline.id.subject);
    let end = match summary.side {
        TestedEnd::Server => "server",
        TestedEnd::Client => "client",
    };
    let named = [(cell, name), (baseline, other)];
    let failed = named.map(|(cell, name)| (cell.failed_share(), name.clone()));
    let failed = FailedShare::clause(failed);
    Some(format!("{name} / {other}: {rate} by rate, {cost} per CPU-second of the {end}{failed}"))
}

fn ratio_and_interval(ratio: &Ratio) -> String {
    let interval =
        ratio.interval.map_or(String::new(), |ends| format!(" [{}]", ends.text(significant_text)));
    format!("{} \u{d7}{interval}", significant_text(ratio.median))
}
