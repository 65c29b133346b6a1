//! The figures of one cell over its rounds, where pages need more than the run's own tables.

use super::versions::version;
use bookend_results::compare::ratio_of;
use bookend_results::measurement::{CellId, Row};
use bookend_results::metric::{COST_RATIO, Metric, REQUESTS_PER_CPU_SECOND};
use bookend_results::ratio::RatioOutcome;
use bookend_results::record::{Record, first_run, rows_of_cell, run_of};
use bookend_results::round::MeasuredRounds;
use bookend_results::statistics::Interval;
use bookend_results::suite::Case;
use bookend_results::table::{Cell, CellResult, Summary, Table};

/// With fewer rounds, an interval reflects luck more than the cell.
const INTERVAL_ROUNDS_MIN: usize = 3;

/// The cells of a record.
pub(super) struct Cells<'a> {
    record: &'a Record,
    pub(super) table: Table,
}

/// A measured cell.
pub(super) struct CellFigures<'a> {
    pub(super) summary: &'a Summary,
    pub(super) rounds: MeasuredRounds<'a>,
    /// Requests per CPU-second over those of the cell that it is compared with.
    pub(super) cost_ratio: RatioOutcome,
}

impl<'a> Cells<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let table = Table::new(&record.facts.plan, &record.rows);
        let table = table.with_skips(record.facts.skips.clone());
        Self { record, table }
    }

    /// The planned cell with that id.
    pub(super) fn find(&self, id: &CellId) -> Option<&Cell> {
        self.table.cells.iter().find(|cell| cell.id == *id)
    }

    /// The cell of a subject in a case with an instrument. `None`: with the subject's own client,
    /// else with the first that measured it.
    pub(super) fn find_with(
        &self,
        subject: &str,
        case: Case,
        instrument: Option<&str>,
    ) -> Option<&Cell> {
        let mut measured = self.table.cells.iter().filter(|cell| {
            let CellId { subject: own, case: measured, instrument: with } = &cell.id;
            own == subject && *measured == case && instrument.is_none_or(|name| name == with)
        });
        let own = measured.clone().find(|cell| family(&cell.id.instrument) == family(subject));
        own.or_else(|| measured.next())
    }

    /// A metric of a cell, or over that of another cell round by round, with its interval.
    pub(super) fn estimate(
        &self,
        metric: &Metric,
        own: &Cell,
        other: Option<&Cell>,
    ) -> Option<(f64, Option<Interval>)> {
        match other {
            None => {
                let figures = self.figures(own).ok()?;
                Some((figures.value(metric)?, figures.interval(metric)))
            }
            Some(other) => {
                let Metric::Listed(definition) = metric else {
                    return None;
                };
                let rows = self.rows_of_both(own, other);
                let ratio = ratio_of(definition, (&own.id, rows), (&other.id, rows)).ok()?;
                let is_sure = ratio.pairs >= INTERVAL_ROUNDS_MIN;
                Some((ratio.median, ratio.interval.filter(|_| is_sure)))
            }
        }
    }

    /// Requests per CPU-second of a cell over those of another, round by round.
    fn cost_ratio(&self, own: &Cell, other: &Cell) -> RatioOutcome {
        let rows = self.rows_of_both(own, other);
        ratio_of(&REQUESTS_PER_CPU_SECOND, (&own.id, rows), (&other.id, rows)).into()
    }

    /// The run of the record that a figure of a cell is of, or of one cell over another. `None`: no
    /// run measured it.
    pub(super) fn run_of(&self, own: &Cell, other: Option<&Cell>) -> Option<u32> {
        let rows = self.rows_of_both(own, other.unwrap_or(own));
        rows.first().map(|row| run_of(&self.record.facts.plan, row))
    }

    /// The rows of the first run that measured both.
    fn rows_of_both(&self, own: &Cell, other: &Cell) -> &'a [Row] {
        first_run(&self.record.facts.plan, &self.record.rows, |run| {
            [own, other].iter().all(|cell| run.iter().any(|row| row.cell == cell.id))
        })
    }

    /// The version of a subject or an instrument.
    pub(super) fn version<'b>(&'b self, name: &'b str) -> &'b str {
        version(name, &self.record.facts.versions)
    }

    /// The figures of a cell, or the word for why there are no figures.
    pub(super) fn figures<'b>(&'b self, cell: &'b Cell) -> Result<CellFigures<'b>, String> {
        match &cell.result {
            CellResult::NotMeasured { why, .. } => Err(why.to_string()),
            CellResult::Measured(summary) => {
                let plan = &self.record.facts.plan;
                let own = rows_of_cell(plan, &self.record.rows, &cell.id);
                let rounds = MeasuredRounds::of(own, plan.deadline_ns());
                let cost_ratio = summary.ratios.cost_ratio;
                Ok(CellFigures { summary, rounds, cost_ratio })
            }
        }
    }

    /// As above, with ratios to another cell than that of the baseline.
    pub(super) fn figures_over<'b>(
        &'b self,
        cell: &'b Cell,
        other: &CellId,
    ) -> Result<CellFigures<'b>, String> {
        let other = self.find(other).filter(|other| other.id != cell.id);
        let cost_ratio =
            other.map_or(RatioOutcome::NotCompared, |other| self.cost_ratio(cell, other));
        self.figures(cell).map(|figures| CellFigures { cost_ratio, ..figures })
    }
}

impl CellFigures<'_> {
    /// A metric of the cell in its base unit.
    pub(super) fn value(&self, metric: &Metric) -> Option<f64> {
        let ratio = match metric {
            Metric::Listed(_) if metric.is(&COST_RATIO) => Some(&self.cost_ratio),
            Metric::Listed(definition) => definition.ratio(&self.summary.ratios),
            _ => None,
        };
        match ratio {
            Some(outcome) => outcome.ratio().map(|ratio| ratio.median),
            None => metric.pooled(&self.rounds),
        }
    }

    /// The interval of a metric, if it has one and there are enough rounds.
    pub(super) fn interval(&self, metric: &Metric) -> Option<Interval> {
        let Metric::Listed(definition) = metric else {
            return None;
        };
        definition
            .ratio(&self.summary.ratios)
            .and_then(|outcome| outcome.ratio()?.interval)
            .or_else(|| self.summary.interval(definition))
            .filter(|_| self.has_intervals())
    }

    /// Whether there are enough rounds for intervals.
    pub(super) fn has_intervals(&self) -> bool {
        self.rounds.each().len() >= INTERVAL_ROUNDS_MIN
    }

    /// Requests per CPU-second with the interval of the rounds' mean, if there are enough rounds.
    pub(super) fn cost(&self) -> (Option<f64>, Option<Interval>) {
        let interval =
            self.summary.interval(&REQUESTS_PER_CPU_SECOND).filter(|_| self.has_intervals());
        (self.summary.value(&REQUESTS_PER_CPU_SECOND), interval)
    }
}

/// What a subject and its client are named for: `go-grpc` of `go-grpc/oldest-long`.
fn family(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}
