//! Pictures: a chart of one case, a [`PointChart`] of one figure over many, and those of a report:
//! a [`LineChart`] over two axes, a [`StackChart`] of parts of a whole.
//!
//! A [`Chart`] has one figure of every subject, measured with each instrument. There is one group
//! for each instrument and one bar for each subject, with the 95 % interval drawn over the end of
//! the bar. Bars begin at zero and share one scale, so a bar twice as long is twice as much.

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

use crate::first_few::first_few;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::{each_once, grouped};
use bookend_results::metric;
use bookend_results::statistics::{Interval, Ratio};
use bookend_results::suite::{Case, TestedEnd};
use bookend_results::table::{Cell, CellResult, Rank, Summary, Table};
use bookend_results::text::{precise_latency_text, rate_text, significant_text};
use drawing::Drawing;

/// What a [`Chart`] shows of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChartSelection {
    /// The case. `None`: the first.
    pub case: Option<Case>,
    /// The figure.
    pub metric: ChartMetric,
    /// The instruments. Empty: all.
    pub instruments: Vec<String>,
    /// The subjects. Empty: all.
    pub subjects: Vec<String>,
}

/// The figure that bars stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChartMetric {
    /// CPU time of the end under test for a request, in nanoseconds.
    #[default]
    Cpu,
    /// Requests per second.
    Rate,
}

/// The contents of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// A line under the heading: how the case was measured.
    pub subtitle: String,
    /// One group for each instrument, in the order of the plan.
    pub groups: Vec<Group>,
    /// What a reader must know besides, a sentence each.
    pub notes: Vec<String>,
}

/// The bars of one instrument.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The instrument.
    pub name: String,
    /// One bar for each subject that has a figure, in the order of the plan.
    pub bars: Vec<Bar>,
    /// The ratio of each subject to the baseline, in words.
    pub ratios: Vec<String>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The subject.
    pub name: String,
    /// The subject's place among those that are drawn. It selects the colour, the same in every
    /// group.
    pub series: usize,
    /// The figure.
    pub figure: f64,
    /// As text.
    pub text: String,
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
    /// The case has no such instrument or subject.
    #[error("{case} has no {kind} {asked}: it has {}", known.join(", "))]
    NoName {
        /// The case.
        case: Case,
        /// `instrument` or `subject`.
        kind: &'static str,
        /// The name that was asked for.
        asked: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// No cell of the case has the figure.
    #[error("there is nothing to draw at {case}: {why}")]
    NoFigure {
        /// The case.
        case: Case,
        /// What its cells have instead.
        why: String,
    },
    /// The run has no cells at all.
    #[error("this run has no cells to draw")]
    Empty,
}

impl ChartMetric {
    /// The figure of a cell. `None`: it has none.
    fn of(self, summary: &Summary) -> Option<(f64, Option<Interval>)> {
        let (definition, turned): (_, fn(f64) -> f64) = match self {
            Self::Cpu => (&metric::REQUESTS_PER_CPU_SECOND, |rate| 1e9 / rate),
            Self::Rate => (&metric::REQUESTS_PER_SECOND, |rate| rate),
        };
        let figure = turned(summary.value(definition)?);
        let ends = summary.interval(definition).map(|ends| [turned(ends.low), turned(ends.high)]);
        let interval = ends.map(|[a, b]| Interval { low: a.min(b), high: a.max(b) });
        figure.is_finite().then_some((figure, interval))
    }

    fn text(self, figure: f64) -> String {
        match self {
            Self::Cpu => precise_latency_text(figure),
            Self::Rate => format!("{} /s", thousands(&rate_text(figure))),
        }
    }

    /// What is measured, and which way it is better.
    fn reading(self, end: &str) -> String {
        match self {
            Self::Cpu => format!("CPU time of the {end} for a request (shorter is better)"),
            Self::Rate => "requests per second (longer is better)".to_owned(),
        }
    }
}

impl Chart {
    /// The chart of what was selected from a run's table.
    ///
    /// # Errors
    /// When the table does not have it.
    pub fn of(table: &Table, wanted: &ChartSelection, title: String) -> Result<Self, ChartError> {
        let case = chosen(table, wanted.case)?;
        let cells = wanted.cells(table, case)?;
        let metric = wanted.metric;
        let rounds = cells.iter().map(|cell| cell.rounds.measured).max();
        let end = cells.iter().find_map(|cell| Some(end_of(cell.summary()?)));
        let subjects = each_once(cells.iter().map(|cell| &cell.id.subject));
        let by_instrument = grouped(cells.iter().map(|cell| (&cell.id.instrument, *cell)));
        let groups: Vec<Group> = by_instrument
            .iter()
            .map(|(instrument, cells)| Group::of(metric, instrument, cells, &subjects))
            .filter(|group| !group.bars.is_empty())
            .collect();
        let without = without_figure(metric, &cells);
        if groups.is_empty() {
            return Err(ChartError::NoFigure { case, why: without.unwrap_or_default() });
        }
        let reading = metric.reading(end.unwrap_or("server"));
        let (connections, streams) = (case.connections, table.streams(case));
        let rounds = rounds.unwrap_or(0);
        Ok(Self {
            title,
            subtitle: format!("C={connections} {streams}: {reading}, median of {rounds} rounds"),
            notes: meaning_of_signs(&groups)
                .into_iter()
                .chain(without.map(|cells| format!("Without a figure: {cells}.")))
                .collect(),
            groups,
        })
    }

    /// Renders the chart as a complete SVG document.
    pub fn svg(&self, theme: Theme) -> String {
        Drawing::new(theme, self.largest_figure()).chart(self)
    }

    fn largest_figure(&self) -> f64 {
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        bars.map(|bar| bar.interval.map_or(bar.figure, |ends| ends.high.max(bar.figure)))
            .fold(0.0, f64::max)
    }
}

impl ChartSelection {
    /// Calibration lines are not contestants and are not drawn.
    fn cells<'a>(&self, table: &'a Table, case: Case) -> Result<Vec<&'a Cell>, ChartError> {
        let mut cells: Vec<&Cell> =
            table.of_case(case).filter(|cell| cell.rank != Rank::Calibration).collect();
        let instrument: fn(&Cell) -> &String = |cell| &cell.id.instrument;
        let subject: fn(&Cell) -> &String = |cell| &cell.id.subject;
        let chosen =
            [("instrument", &self.instruments, instrument), ("subject", &self.subjects, subject)];
        for (kind, asked, name) in chosen {
            let known = each_once(cells.iter().map(|cell| name(cell).clone()));
            if let Some(asked) = asked.iter().find(|asked| !known.contains(asked)) {
                return Err(ChartError::NoName { case, kind, asked: asked.clone(), known });
            }
            cells.retain(|cell| asked.is_empty() || asked.contains(name(cell)));
        }
        Ok(cells)
    }
}

impl Group {
    fn of(metric: ChartMetric, instrument: &str, cells: &[&Cell], subjects: &[&String]) -> Self {
        let series = |cell: &Cell| subjects.iter().position(|name| **name == cell.id.subject);
        let bar = |cell: &&Cell| Bar::of(metric, cell, series(cell).unwrap_or_default());
        let spins = |cell: &&Cell| cell.summary().is_some_and(|one| one.spinning.generator);
        Self {
            name: if cells.iter().any(spins) {
                format!("{instrument} (spins)")
            } else {
                instrument.to_owned()
            },
            bars: cells.iter().filter_map(bar).collect(),
            ratios: ratios(cells),
        }
    }
}

impl Bar {
    fn of(metric: ChartMetric, cell: &Cell, series: usize) -> Option<Self> {
        let summary = cell.summary()?;
        let (name, (figure, interval)) = (cell.marked_subject(), metric.of(summary)?);
        Some(Self {
            name: if summary.spinning.server { format!("{name} (spins)") } else { name },
            series,
            figure,
            text: metric.text(figure),
            interval,
            failed: cell.failed_share(),
        })
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

/// The cells without a bar, each with the reason. `None`: every cell has one.
fn without_figure(metric: ChartMetric, cells: &[&Cell]) -> Option<String> {
    let why = |cell: &Cell| match &cell.result {
        CellResult::NotMeasured { why, .. } => Some(why.to_string()),
        CellResult::Measured(summary) if metric.of(summary).is_some() => None,
        CellResult::Measured(summary) if summary.spinning.server => Some("spins".to_owned()),
        CellResult::Measured(_) => Some("none".to_owned()),
    };
    let without = cells.iter().filter_map(|cell| Some(((why(cell)?, &cell.id.instrument), *cell)));
    let texts: Vec<String> = grouped(without)
        .into_iter()
        .map(|((why, instrument), cells)| {
            let names: Vec<String> = cells.iter().map(|cell| cell.marked_subject()).collect();
            format!("{} with {instrument} ({why})", first_few(&names))
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// The meaning of the signs before ratios, if a ratio has one.
fn meaning_of_signs(groups: &[Group]) -> Option<String> {
    let meanings = [('~', "not told apart from 1"), ('?', "too few rounds for an interval")];
    let stands = |sign: char| groups.iter().any(|one| one.ratios.iter().any(|r| r.contains(sign)));
    let told = meanings.iter().filter(|(sign, _)| stands(*sign));
    let told: Vec<String> = told.map(|(sign, meaning)| format!("{sign} {meaning}")).collect();
    (!told.is_empty()).then(|| format!("{}.", told.join("; ")))
}

/// Compares each subject with the baseline by rate and by cost. Where the two ratios differ, the
/// rates do not compare the servers.
fn ratios(cells: &[&Cell]) -> Vec<String> {
    let baseline = cells.iter().find(|cell| cell.rank == Rank::Baseline);
    let compared = cells.iter().filter(|cell| cell.rank == Rank::Ranked);
    baseline.map_or_else(Vec::new, |baseline| {
        compared.filter_map(|cell| ratio_line(cell, baseline)).collect()
    })
}

fn ratio_line(cell: &Cell, baseline: &Cell) -> Option<String> {
    let summary = cell.summary()?;
    let by_rate = summary
        .ratios
        .rate_ratio
        .ratio()
        .map(|rate| format!("{} by rate", ratio_and_interval(rate)));
    let by_cost = summary.ratios.cost_ratio.ratio().map(|cost| {
        format!("{} per CPU-second of the {}", ratio_and_interval(cost), end_of(summary))
    });
    let told: Vec<String> = by_rate.into_iter().chain(by_cost).collect();
    let (name, other) = (&cell.id.subject, &baseline.id.subject);
    let named = [(cell, name), (baseline, other)];
    let failed = named.map(|(cell, name)| (cell.failed_share(), name.clone()));
    let failed = FailedShare::clause(failed);
    (!told.is_empty()).then(|| format!("{name} / {other}: {}{failed}", told.join(", ")))
}

fn end_of(summary: &Summary) -> &'static str {
    match summary.side {
        TestedEnd::Server => "server",
        TestedEnd::Client => "client",
    }
}

fn ratio_and_interval(ratio: &Ratio) -> String {
    let interval =
        ratio.interval.map_or(String::new(), |ends| format!(" [{}]", ends.text(significant_text)));
    format!("{}{} \u{d7}{interval}", ratio.sign(), significant_text(ratio.median))
}

/// `1376444` as people write it: `1,376,444`.
fn thousands(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_thousands() {
        assert_eq!(thousands("1376444"), "1,376,444");
        assert_eq!(thousands("999"), "999");
    }
}
