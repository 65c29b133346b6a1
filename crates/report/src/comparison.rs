//! A comparison of two results as text.

use crate::text_table::{TextTable, column};
use bookend_results::compare::{ComparedCell, Comparison};
use bookend_results::grouping::grouped;
use bookend_results::metric::MetricDefinition;
use bookend_results::ratio::ratio_text;
use bookend_results::statistics::Ratio;
use bookend_results::text::significant_text;

/// The metric, a line for each pair of cells, and what makes the ratios doubtful.
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut table = TextTable::new(&[
        column("A over B", 30),
        column("ratio", 7),
        column("95 % interval", 15),
        column("rounds", 6),
    ]);
    for (case, cells) in grouped(comparison.cells.iter().map(|cell| (cell.case, cell))) {
        table.heading(format!("--{case}:"));
        for cell in cells {
            match &cell.ratio {
                Ok(ratio) => table.fields(fields(cell, ratio)),
                Err(reason) => table.across(cell.name(), format!("no ratio: {reason}")),
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
    format!("{}\n{table}{apart}", words(comparison.metric))
}

/// `requests per CPU-second`.
fn words(metric: &MetricDefinition) -> String {
    metric.name.replace('_', " ").replace("cpu second", "CPU-second")
}

fn fields(cell: &ComparedCell, ratio: &Ratio) -> Vec<String> {
    let interval =
        ratio.interval.map_or_else(|| "-".to_owned(), |ends| ends.text(significant_text));
    vec![cell.name(), ratio_text(ratio), interval, ratio.pairs.to_string()]
}
