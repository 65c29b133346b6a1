//! All ratios to the baseline as a heat map.

use super::drawn::{Drawn, DrawnGroup, word_of};
use crate::chart::{HeatCell, HeatMap, HeatRow};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_results::grouping::each_once;
use bookend_results::ratio::RatioOutcome;
use bookend_results::statistics::Ratio;
use bookend_results::suite::Case;
use bookend_results::table::{Cell, Rank};
use bookend_results::text::significant_text;

/// Requests per CPU-second of every subject over those of the baseline. `None`: there is no
/// baseline, or nobody to compare with it.
pub(super) fn picture(drawn: &Drawn<'_>) -> Option<Picture> {
    let baseline = drawn.report.run.new.plan.baseline()?;
    let ranked: Vec<&Cell> = drawn.cells().filter(|cell| cell.rank == Rank::Ranked).collect();
    ranked.iter().find_map(|cell| ratio_of(cell))?;
    let cases = each_once(ranked.iter().map(|cell| cell.case));
    let rows = rows(drawn, &cases);
    let title = format!("Requests per CPU-second over those of {}", baseline.name);
    let caption = "Blue answers more requests with the same CPU, orange fewer. Grey with ~ is noise: the \
        95 % interval of the ratio has 1 in it. Without a colour, with ?, there are too few rounds for \
        one.";
    let headings = ["case", "name", "ratio", "from", "to", "rounds"];
    Some(Picture {
        caption: caption.to_owned(),
        drawing: Drawing::Heat(HeatMap {
            title: title.clone(),
            subtitle: format!("{}; blue is cheaper, grey is noise", drawn.origin()),
            columns: cases.iter().map(Case::to_string).collect(),
            rows,
        }),
        headings: headings.map(str::to_owned).to_vec(),
        rows: ranked.iter().map(|cell| figures(drawn, cell)).collect(),
        title,
    })
}

/// A row for each subject, those of a group together. Where the baseline was not measured in the
/// same way, there is nothing to show.
fn rows(drawn: &Drawn<'_>, cases: &[Case]) -> Vec<HeatRow> {
    let of_group = |group: &DrawnGroup<'_>| {
        let is_ranked = |name: &&String| group.cells.iter().any(|cell| is_row_of(cell, name));
        let subjects: Vec<String> =
            group.subjects().into_iter().filter(is_ranked).cloned().collect();
        subjects
            .into_iter()
            .enumerate()
            .map(|(number, subject)| HeatRow {
                cells: cases.iter().map(|case| drawn_cell(group.find(&subject, *case))).collect(),
                heading: (number == 0 && !group.name.is_empty()).then(|| group.name.clone()),
                label: subject,
            })
            .collect::<Vec<_>>()
    };
    let has_ratio =
        |group: &&DrawnGroup<'_>| group.cells.iter().any(|cell| ratio_of(cell).is_some());
    drawn.groups.iter().filter(has_ratio).flat_map(of_group).collect()
}

fn ratio_of(cell: &Cell) -> Option<Ratio> {
    cell.summary()?.ratios.cost_ratio.ratio().copied()
}

fn is_row_of(cell: &Cell, subject: &str) -> bool {
    cell.id.subject == subject && cell.rank == Rank::Ranked
}

fn drawn_cell(cell: Option<&Cell>) -> HeatCell {
    let Some(cell) = cell else {
        return HeatCell::Empty;
    };
    match cell.summary().map(|summary| summary.ratios.cost_ratio) {
        Some(outcome @ RatioOutcome::Of(Ratio { interval: None, .. })) => {
            HeatCell::Word(outcome.to_string())
        }
        Some(outcome @ RatioOutcome::Of(ratio)) => HeatCell::Ratio {
            ratio: ratio.median,
            is_distinct: !ratio.is_indistinct(),
            text: outcome.to_string(),
        },
        Some(outcome) => HeatCell::Word(outcome.to_string()),
        None => HeatCell::Word(word_of(cell)),
    }
}

fn figures(drawn: &Drawn<'_>, cell: &Cell) -> HtmlRow {
    let outcome = cell.summary().map(|summary| summary.ratios.cost_ratio);
    let figures = match outcome.as_ref().and_then(RatioOutcome::ratio) {
        Some(ratio) => {
            let end = |value: Option<f64>| value.map_or("-".to_owned(), significant_text);
            Ok(vec![
                outcome.map(|outcome| outcome.to_string()).unwrap_or_default(),
                end(ratio.interval.map(|ends| ends.low)),
                end(ratio.interval.map(|ends| ends.high)),
                ratio.pairs.to_string(),
            ])
        }
        None => Err(word_of(cell)),
    };
    let name = drawn.report.table.row_name(cell);
    HtmlRow { names: vec![cell.case.to_string(), name], figures }
}
