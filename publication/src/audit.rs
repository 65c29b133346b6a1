//! The audit of a published document: every rule on every row, and which rules could be applied at
//! all.

mod across;
mod circumstances;
mod columns;
mod limits;
mod time_out;

use crate::document::{Document, PrintedRow};
use crate::published::Place;
use bookend_results::audit::{Checked, Finding, Rule, Span, finding};
use bookend_results::measurement::CellId;
use bookend_results::text::{precise_latency_text, significant_text};
use std::collections::BTreeMap;

/// A rule that a printed row breaks.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentFinding {
    /// Where the row stands.
    pub place: Place,
    /// Our cell that repeats it.
    pub cell: Option<CellId>,
    /// The rule and its evidence.
    pub finding: Finding,
}

/// How many rows a rule could be applied to, and how many broke it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The rule.
    pub rule: Rule,
    /// Rows with the figures that it needs.
    pub rows: usize,
    /// Rows among them that broke it.
    pub broken: usize,
}

/// A rule of printed rows. Rules that compare rows use the document.
type PrintedRule = fn(&PrintedRow, &Document) -> Checked;

/// The rules that apply only to printed rows, in addition to those for any row.
const PRINTED_RULES: [(Rule, PrintedRule); 22] = [
    (Rule::CpuAboveMachine, cpu_above_machine),
    (Rule::MeanAbovePercentile, mean_above_percentile),
    (Rule::RatioDiffers, across::ratio_differs),
    (Rule::KibPrintedAsMib, across::kib_printed_as_mib),
    (Rule::ClientAtItsLimit, client_at_its_limit),
    (Rule::ClocksDiffer, across::clocks_differ),
    (Rule::TotalIsTimeOut, time_out::total_is_time_out),
    (Rule::MeanIncludesFailures, time_out::mean_includes_failures),
    (Rule::RateIncludesFailures, time_out::rate_includes_failures),
    (Rule::HistogramDiffers, time_out::histogram_differs),
    (Rule::SameFigureTwice, columns::same_figure_twice),
    (Rule::BelowResolution, columns::below_resolution),
    (Rule::NobodyAtItsLimit, limits::nobody_at_its_limit),
    (Rule::SharedCeiling, limits::shared_ceiling),
    (Rule::CpuStandsStill, limits::cpu_stands_still),
    (Rule::RateNotAsked, limits::rate_not_asked),
    (Rule::DiffersFromItself, limits::differs_from_itself),
    (Rule::OrderFixed, circumstances::order_fixed),
    (Rule::BestOfRuns, circumstances::best_of_runs),
    (Rule::OneStart, circumstances::one_start),
    (Rule::EndsShareCpus, circumstances::ends_share_cpus),
    (Rule::WaitingOmitted, circumstances::waiting_omitted),
];

/// A client above this share of its CPUs has no room left: its other work besides making calls
/// (collecting garbage, printing) must fit in the rest.
const CLIENT_LIMIT: f64 = 0.9;

/// A mean above this percentile, or above a higher one, deserves a mark.
const HIGH_PERCENTILE: f64 = 75.0;

/// Everything in `document` that cannot be true, in the order of its rows, and what was checked.
pub fn audit_document(document: &Document) -> (Vec<DocumentFinding>, Vec<Coverage>) {
    let mut looked: BTreeMap<Rule, (usize, usize)> = BTreeMap::new();
    let mut findings = Vec::new();
    for row in &document.rows {
        for (rule, evidence) in checks(row, document) {
            let (rows, broken) = looked.entry(rule).or_default();
            *rows += 1;
            if let Some(evidence) = evidence {
                *broken += 1;
                findings.push(DocumentFinding {
                    place: row.place.clone(),
                    cell: row.cell.clone(),
                    finding: finding(rule, evidence),
                });
            }
        }
    }
    let coverage = |(rule, (rows, broken))| Coverage { rule, rows, broken };
    (findings, looked.into_iter().map(coverage).collect())
}

/// Each rule that can be applied to the row, with the evidence if it is broken.
fn checks(row: &PrintedRow, document: &Document) -> Vec<(Rule, Option<String>)> {
    if let Some(name) = implausible(row) {
        return vec![(Rule::NotANumber, Some(format!("{name} is no figure")))];
    }
    let figures = row.row_figures(&document.conditions);
    let for_any_row = figures.checks();
    let for_printed_rows =
        PRINTED_RULES.into_iter().filter_map(|(rule, check)| Some((rule, check(row, document)?)));
    for_any_row.chain(for_printed_rows).map(|(rule, checked)| (rule, checked.err())).collect()
}

fn implausible(row: &PrintedRow) -> Option<&str> {
    row.figures.iter().find_map(|(name, span)| (!span.is_plausible()).then_some(name.as_str()))
}

fn cpu_above_machine(row: &PrintedRow, document: &Document) -> Checked {
    let machine = document.conditions.machine_cpus?;
    let mut known = [("server", row.server_cpu()), ("client", row.client_cpu())]
        .into_iter()
        .filter_map(|(end, cpu)| Some((end, cpu?)))
        .peekable();
    known.peek()?;
    Some(match known.find(|(_, cpu)| cpu.low > machine) {
        None => Ok(()),
        Some((end, cpu)) => Err(format!(
            "the {end} used {} CPUs of a machine that has {machine}",
            significant_text(cpu.value)
        )),
    })
}

fn client_at_its_limit(row: &PrintedRow, document: &Document) -> Checked {
    let limit = document.conditions.client_cpus?;
    let used = row.client_cpu()?;
    if used.low < limit * CLIENT_LIMIT {
        return Some(Ok(()));
    }
    let percent = |cpus: f64| cpus * 100.0;
    Some(Err(format!(
        "the client used {:.0} % of its {:.0} %, the server {} %: the rate is a lower bound",
        percent(used.value),
        percent(limit),
        row.server_cpu().map_or("?".to_owned(), |cpu| format!("{:.0}", percent(cpu.value))),
    )))
}

/// The highest percentile that the mean is above.
fn mean_above_percentile(row: &PrintedRow, _: &Document) -> Checked {
    let mean = row.figure("latency_mean")?;
    let mut high = row.percentiles_ns();
    high.retain(|(percent, _)| *percent >= HIGH_PERCENTILE);
    high.first()?;
    let below = |(_, value): &&(f64, Span)| mean.low > value.high;
    let Some((percent, value)) = high.iter().rfind(below) else {
        return Some(Ok(()));
    };
    let share = percent / 100.0;
    let rest = (mean.value - share * value.value) / (1.0 - share);
    Some(Err(format!(
        "the mean of {} is above p{percent}, {}: the slowest {:.0} % must take {} or more on \
         average",
        precise_latency_text(mean.value),
        precise_latency_text(value.value),
        100.0 - percent,
        precise_latency_text(rest)
    )))
}
