//! The fate of every call, where not all ended well.

use super::super::basis::called;
use super::super::load_test::LoadTest;
use super::super::wording::share_text;
use crate::call_fate::{most_frequent, parts_of};
use crate::chart::{StackBar, StackChart, StackPanel};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};

/// `None` where all calls ended with OK.
pub(super) fn picture(tests: &[LoadTest]) -> Option<Picture> {
    let misfortunes: Vec<_> = tests.iter().map(LoadTest::misfortunes).collect();
    let kinds = most_frequent(misfortunes.iter());
    if kinds.is_empty() {
        return None;
    }
    // The last part is what has no colour of its own.
    let coloured = &kinds[..kinds.len().min(parts_of(&kinds).len() - 1)];
    let shares = |test: &LoadTest| {
        let whole = all(test).max(1) as f64;
        let own = test.misfortunes();
        let of = |kind: &String| own.get(kind).copied().unwrap_or(0);
        let named: Vec<u64> = coloured.iter().map(of).collect();
        let rest = kinds[coloured.len()..].iter().map(of).fold(0, u64::saturating_add);
        std::iter::once(test.report.bookend.ok)
            .chain(named)
            .chain([rest])
            .map(|calls| 100.0 * calls as f64 / whole)
            .collect()
    };
    let chart = StackChart {
        title: "The fate of every call".to_owned(),
        subtitle: called(tests),
        axis: "percent of the calls that ended in the window, or were due in it and never made"
            .to_owned(),
        parts: parts_of(&kinds),
        rows: tests.iter().map(|test| test.name.clone()).collect(),
        panels: vec![StackPanel {
            title: String::new(),
            bars: tests.iter().map(|test| StackBar::Parts(shares(test))).collect(),
        }],
    };
    let headings = ["name", "calls", "OK"]
        .map(str::to_owned)
        .into_iter()
        .chain(kinds.iter().cloned())
        .collect();
    Some(Picture {
        title: chart.title.clone(),
        caption:
            "How calls ended. Latencies are only those of calls that ended with OK; a call that \
                  was due and never made found no room within its timeout."
                .to_owned(),
        drawing: Drawing::Stacks(chart),
        headings,
        rows: tests.iter().map(|test| row(test, &kinds)).collect(),
    })
}

/// Calls that ended, and those that were never made.
fn all(test: &LoadTest) -> u64 {
    let failed = test.failed().saturating_add(test.not_made());
    test.report.bookend.ok.saturating_add(failed)
}

fn row(test: &LoadTest, kinds: &[String]) -> HtmlRow {
    let (whole, own) = (all(test), test.misfortunes());
    let share = |calls: u64| format!("{calls} ({})", share_text(calls, whole));
    let of = |kind: &String| share(own.get(kind).copied().unwrap_or(0));
    let figures = [whole.to_string(), share(test.report.bookend.ok)]
        .into_iter()
        .chain(kinds.iter().map(of))
        .collect();
    HtmlRow { names: vec![test.name.clone()], figures: Ok(figures) }
}
