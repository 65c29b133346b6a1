//! The look of ghz: one block for each row, one line for each figure, with a histogram.

use super::figures::Cells;
use super::page::Page;
use super::presentation::ResultTable;
use super::rows::{RowLine, cells_below, headings, lines};
use super::text;
use crate::published::PublishedRow;
use hdrhistogram::Histogram;

/// The widest bar of a histogram, as ghz draws it.
const BAR_WIDTH: f64 = 40.0;

/// Buckets between the fastest and the slowest answer, as ghz counts them.
const BUCKETS: u32 = 10;

const COLUMN_WIDTH: usize = 18;

pub(super) fn table(page: &Page<'_>, cells: &Cells<'_>, table: &ResultTable) -> String {
    let mut blocks = String::new();
    for row in page.rows_of(table) {
        let place = &row.place;
        blocks.push_str(&format!("#### {}: {}\n\n", place.subject, place.label));
        let excerpts: String = table
            .excerpts
            .iter()
            .filter(|excerpt| excerpt.subject == place.subject)
            .map(|excerpt| {
                let lines: String =
                    excerpt.lines.iter().map(|line| format!("  {line}\n")).collect();
                format!("\n{}, published:\n{lines}", excerpt.section)
            })
            .collect();
        let block = figures(cells, table, &lines(page, cells, table, row))
            + &excerpts
            + &histograms(page, cells, table, row);
        blocks.push_str(&text::fenced(&block));
        blocks.push('\n');
    }
    blocks
}

/// The lines of the summary, with the cells side by side.
fn figures(cells: &Cells<'_>, table: &ResultTable, lines: &[RowLine]) -> String {
    let headings = headings(cells, &table.columns);
    let widest = headings.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let name_width = widest + 4;
    let titles: Vec<String> = lines.iter().map(|line| line.whose.clone()).collect();
    let mut block = line_of(name_width, "", &titles);
    for (index, heading) in headings.iter().enumerate() {
        let section = match table.columns.get(index) {
            Some(column) => column.section.as_deref(),
            None => (index == table.columns.len()).then_some("What it cost"),
        };
        if let Some(section) = section {
            block.push_str(&format!("\n{section}:\n"));
        }
        let field = |line: &RowLine| match &line.fields {
            Ok(fields) => fields[index].clone(),
            Err(word) => word.clone(),
        };
        let fields: Vec<String> = lines.iter().map(field).collect();
        block.push_str(&line_of(name_width, &format!("  {heading}"), &fields));
    }
    block
}

fn line_of(name_width: usize, name: &str, fields: &[String]) -> String {
    let columns: String = fields.iter().map(|field| format!(" {field:>COLUMN_WIDTH$}")).collect();
    format!("{name:<name_width$}{columns}\n")
}

fn histograms(
    page: &Page<'_>,
    cells: &Cells<'_>,
    table: &ResultTable,
    row: &PublishedRow,
) -> String {
    let mut text = histogram("published", &published_buckets(page, row));
    for (whose, id) in cells_below(cells, table, row) {
        let figures = cells.find(&id).and_then(|cell| cells.figures(cell).ok());
        let buckets = figures.and_then(|figures| Some(buckets(figures.rounds.latencies()?)));
        let whose = format!("{whose}, all rounds");
        text.push_str(&histogram(&whose, &buckets.unwrap_or_default()));
    }
    text
}

/// A histogram with its title. Empty if it has no buckets.
fn histogram(whose: &str, buckets: &[(String, f64)]) -> String {
    match bars(buckets) {
        none if none.is_empty() => none,
        bars => format!("\nResponse time histogram, ms, {whose}:\n{bars}"),
    }
}

fn published_buckets(page: &Page<'_>, row: &PublishedRow) -> Vec<(String, f64)> {
    page.histogram
        .iter()
        .flat_map(|histogram| &histogram.rows)
        .filter(|bucket| bucket.place.is_same_run(&row.place))
        .filter_map(|bucket| {
            let bound = bucket.printed.get("upper_bound")?.clone();
            Some((bound, bucket.value("count")?))
        })
        .collect()
}

/// Buckets as ghz divides them: the fastest alone, then equal steps up to the slowest.
fn buckets(histogram: &Histogram<u64>) -> Vec<(String, f64)> {
    let (fastest, slowest) = (histogram.min(), histogram.max());
    let step = (slowest - fastest) as f64 / f64::from(BUCKETS);
    let mut counted = 0;
    let bound_ns = |index: u32| match index {
        BUCKETS => slowest,
        _ => fastest + (step * f64::from(index)) as u64,
    };
    let bucket = |index: u32| {
        let up_to = histogram.count_between(0, bound_ns(index));
        let count = up_to - counted;
        counted = up_to;
        (format!("{:.3}", bound_ns(index) as f64 / 1e6), count as f64)
    };
    (0..=BUCKETS).map(bucket).collect()
}

fn bars(buckets: &[(String, f64)]) -> String {
    let most = buckets.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    let width = |of: fn(&(String, f64)) -> usize| buckets.iter().map(of).max().unwrap_or(0);
    let bound_width = width(|(bound, _)| bound.len());
    let count_width = width(|(_, count)| format!("[{count:.0}]").len());
    let bar = |(bound, count): &(String, f64)| {
        let count_text = format!("[{count:.0}]");
        let length = (count / most.max(1.0) * BAR_WIDTH).round() as usize;
        let bar = "∎".repeat(length);
        let line = format!("  {bound:<bound_width$} {count_text:<count_width$} |{bar}");
        format!("{}\n", line.trim_end())
    };
    buckets.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_contract::latency;

    #[test]
    fn the_buckets_hold_every_answer_once() {
        let mut histogram = latency::empty();
        for step in 0..1_000_u64 {
            latency::record(&mut histogram, 1_000_000_000 + step * 1_000_000, 1);
        }
        let buckets = buckets(&histogram);
        assert_eq!(buckets.len(), 11);
        let counted: f64 = buckets.iter().map(|(_, count)| count).sum();
        assert_eq!(counted, 1_000.0);
    }

    #[test]
    fn the_longest_bar_is_the_fullest_bucket() {
        let buckets = [("1.0".to_owned(), 1.0), ("20.0".to_owned(), 80.0)];
        let full = "∎".repeat(40);
        assert_eq!(bars(&buckets), format!("  1.0  [1]  |∎\n  20.0 [80] |{full}\n"));
    }
}
