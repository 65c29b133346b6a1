//! The fate of every call, where not all ended well.

use super::cpu::panels;
use super::drawn::{Drawn, DrawnGroup, names, word_of};
use crate::call_fate::{CODES_MAX, most_frequent, parts_of};
use crate::chart::{StackBar, StackChart};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_results::metric;
use bookend_results::quoted::clipped;
use bookend_results::table::{Cell, Summary};
use bookend_results::text::{percent_text, rate_text};

/// How many of a cell's calls ended how, a picture for each group in which some failed.
pub(super) fn pictures(drawn: &Drawn<'_>) -> Vec<Picture> {
    drawn.groups.iter().filter_map(|group| picture(drawn, group)).collect()
}

fn picture(drawn: &Drawn<'_>, group: &DrawnGroup<'_>) -> Option<Picture> {
    let summaries = group.cells.iter().filter_map(|cell| cell.summary());
    let codes = most_frequent(summaries.map(|summary| &summary.errors));
    if codes.is_empty() {
        return None;
    }
    let shown = &codes[..codes.len().min(CODES_MAX)];
    let bar = |cell: &Cell| match cell.summary() {
        Some(summary) => StackBar::Parts(shares(summary, shown)),
        None => StackBar::Word(word_of(cell)),
    };
    let chart = StackChart {
        title: group.titled("The fate of every call"),
        subtitle: drawn.origin(),
        axis: "percent of the calls of all rounds".to_owned(),
        parts: parts_of(&codes),
        rows: group.subjects().into_iter().cloned().collect(),
        panels: panels(group, bar),
    };
    let headings = ["case", "name", "calls", "OK"]
        .map(str::to_owned)
        .into_iter()
        .chain(codes.iter().map(|code| clipped(code)))
        .collect();
    Some(Picture {
        title: chart.title.clone(),
        caption: "How calls ended, over all windows. Failed calls are in no other figure."
            .to_owned(),
        drawing: Drawing::Stacks(chart),
        headings,
        rows: group.cells.iter().map(|cell| figures(cell, &codes)).collect(),
    })
}

/// In percent: OK, each code, and all others.
fn shares(summary: &Summary, codes: &[String]) -> Vec<f64> {
    let (ok, all) = calls(summary);
    let of = |code: &String| summary.errors.get(code).copied().unwrap_or(0) as f64;
    let named: Vec<f64> = codes.iter().map(of).collect();
    let rest = all - ok - named.iter().sum::<f64>();
    std::iter::once(ok)
        .chain(named)
        .chain([rest])
        .map(|calls| 100.0 * calls / all.max(1.0))
        .collect()
}

/// Calls that ended with OK, and all.
fn calls(summary: &Summary) -> (f64, f64) {
    let of = |metric| summary.value(metric).unwrap_or(0.0);
    let ok = of(&metric::OK_TOTAL);
    (ok, ok + of(&metric::ERRORS_TOTAL))
}

fn figures(cell: &Cell, codes: &[String]) -> HtmlRow {
    let figures = cell
        .summary()
        .map(|summary| {
            let (ok, all) = calls(summary);
            let share = |count: f64| {
                format!("{} ({})", rate_text(count), percent_text(count / all.max(1.0)))
            };
            let of = |code: &String| summary.errors.get(code).copied().unwrap_or(0) as f64;
            let failed = codes.iter().map(|code| share(of(code)));
            [rate_text(all), share(ok)].into_iter().chain(failed).collect()
        })
        .ok_or_else(|| word_of(cell));
    HtmlRow { names: names(cell), figures }
}
