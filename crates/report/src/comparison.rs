//! A comparison of two results as text.

use crate::text_table::{TextTable, column};
use bookend_results::compare::{ComparedCell, Comparison};
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::grouped;
use bookend_results::metric::MetricDefinition;
use bookend_results::ratio::ratio_text;
use bookend_results::statistics::Ratio;
use bookend_results::text::significant_text;

/// The metric, a line for each pair of cells, and what makes the ratios doubtful.
pub fn comparison_text(comparison: &Comparison) -> String {
    let has_failed = comparison.cells.iter().any(|cell| cell.failed != [None; 2]);
    let mut columns = vec![
        column("A over B", 30),
        column("ratio", 7),
        column("95 % interval", 15),
        column("rounds", 6),
    ];
    columns.extend(has_failed.then(|| column("failed", 6)));
    let mut table = TextTable::new(&columns);
    for (case, cells) in grouped(comparison.cells.iter().map(|cell| (cell.case, cell))) {
        table.heading(format!("--{case}:"));
        for cell in cells {
            match &cell.ratio {
                Ok(ratio) => table.fields(fields(cell, ratio)),
                Err(reason) => table.across(name(cell), format!("no ratio: {reason}")),
            }
        }
    }
    let apart = match comparison.interleaved {
        true => "",
        false => {
            "The two were measured in different runs: what changed on the machine between them is \
             part of the ratio.\n"
        }
    };
    let failed: String = comparison.cells.iter().filter_map(failed_line).collect();
    format!("{}\n{table}{failed}{apart}", words(comparison.metric))
}

/// The ratio of a cell in which many calls failed, in words.
fn failed_line(cell: &ComparedCell) -> Option<String> {
    let clause = Some(cell.failed_clause()).filter(|clause| !clause.is_empty())?;
    let ratio = cell.ratio.ok()?;
    Some(format!("{}, {}: {}{clause}.\n", cell.case, cell.name(), ratio_text(&ratio)))
}

/// `requests per CPU-second`.
fn words(metric: &MetricDefinition) -> String {
    metric.name.replace('_', " ").replace("cpu second", "CPU-second")
}

fn fields(cell: &ComparedCell, ratio: &Ratio) -> Vec<String> {
    let interval =
        ratio.interval.map_or_else(|| "-".to_owned(), |ends| ends.text(significant_text));
    let [a, b] = cell.failed;
    let failed = FailedShare::field_of_ratio(a, b);
    vec![name(cell), ratio_text(ratio), interval, ratio.pairs.to_string(), failed]
}

/// What is compared, behind a sign where calls of either failed.
fn name(cell: &ComparedCell) -> String {
    let [a, b] = cell.failed;
    FailedShare::marked(FailedShare::larger(a, b), &cell.name())
}
