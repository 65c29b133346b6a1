//! Two runs compared: the ratio of each cell that both have, with its interval.

use super::{StorePages, run_in_words};
use crate::html::{HtmlRow, scrolled, table};
use bookend_results::compare::{CompareError, ComparedCell, ComparedSide, Comparison, compare};
use bookend_results::failed_share::FailedShare;
use bookend_results::measurement::Row;
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::quoted::quoted_line;
use bookend_results::ratio::ratio_text;
use bookend_results::store::Run;
use bookend_results::text::significant_text;
use maud::{Markup, html};

const HEADINGS: [&str; 6] = ["case", "subject", "via", "A over B", "95 % interval", "rounds"];

impl StorePages {
    /// Requests per CPU-second of run `a` over those of run `b`, each with its rows.
    pub fn comparison(&self, a: (&Run, &[Row]), b: (&Run, &[Row])) -> String {
        let compared = compare(
            &ComparedSide { run: a.0.id, rows: a.1, subject: None },
            &ComparedSide { run: b.0.id, rows: b.1, subject: None },
            &REQUESTS_PER_CPU_SECOND,
        );
        let title = format!("Run {} over run {}", a.0.id, b.0.id);
        let origin = format!("A is {}, B is {}.", run_in_words(a.0), run_in_words(b.0));
        let turned = (self.comparison_of(b.0.id, a.0.id), "The other way round".to_owned());
        let others = self.others(&[self.link_to(a.0.id), self.link_to(b.0.id), turned]);
        let (mut answer, table) = match &compared {
            Ok(comparison) => (vec![told_apart(comparison)], cells(comparison)),
            Err(error) => (vec![nothing(error)], html! {}),
        };
        answer.extend(differences(a.0, b.0));
        self.page(&title, &origin, &answer, &html! { (others) (table) })
    }
}

fn nothing(error: &CompareError) -> String {
    format!("Nothing is compared: {error}.")
}

/// How many cells differ, and which way.
fn told_apart(comparison: &Comparison) -> String {
    let ratios = comparison.cells.iter().filter_map(|cell| cell.ratio.ok());
    let distinct: Vec<bool> = ratios
        .clone()
        .filter(|ratio| !ratio.is_indistinct())
        .map(|ratio| ratio.median > 1.0)
        .collect();
    let more = distinct.iter().filter(|is_more| **is_more).count();
    let failed = comparison.cells.iter().filter_map(|cell| {
        let [a, b] = cell.failed;
        Some((FailedShare::larger(a, b)?, cell))
    });
    let most = failed.reduce(|most, one| if one.0 > most.0 { one } else { most });
    let failed = most.map_or_else(String::new, |(share, cell)| {
        format!(" Calls failed: {share} of {} at {}, at most.", cell.a, cell.case)
    });
    let are_too_few = ratios.clone().all(|ratio| ratio.interval.is_none());
    let told = match distinct.len() {
        0 if are_too_few => "there are too few rounds to tell the two apart".to_owned(),
        0 => "none tells the two apart".to_owned(),
        all => format!(
            "A answers more in {more} and fewer in {}, the rest is not told apart",
            all - more
        ),
    };
    format!("Requests per CPU-second: {told}. Cells with a ratio: {}.{failed}", ratios.count())
}

/// What differs besides what was changed on purpose, a sentence each.
fn differences(a: &Run, b: &Run) -> Vec<String> {
    let (own, other) = (&a.new, &b.new);
    let apart = "The two were measured one after the other: what changed on the machine between \
                 them is part of each ratio.";
    let sentences = [
        (a.id != b.id, apart),
        (own.machine.is_other_than(&other.machine), "They were measured on different machines."),
        (own.plan.suite != other.plan.suite, "They are runs of different suites."),
        (own.plan.window_ms != other.plan.window_ms, "Their windows are of different lengths."),
    ];
    sentences
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, sentence)| sentence.to_owned())
        .collect()
}

fn cells(comparison: &Comparison) -> Markup {
    let has_failed = comparison.cells.iter().any(|cell| cell.failed != [None; 2]);
    let headings = HEADINGS.into_iter().chain(has_failed.then_some("failed"));
    let headings: Vec<String> = headings.map(str::to_owned).collect();
    let rows: Vec<HtmlRow> = comparison.cells.iter().map(|cell| row(cell, has_failed)).collect();
    scrolled("Ratios", &table(&headings, &rows))
}

fn row(cell: &ComparedCell, has_failed: bool) -> HtmlRow {
    let [a, b] = cell.failed;
    let name = FailedShare::marked(FailedShare::larger(a, b), &cell.a);
    let names = [&cell.case.to_string(), &name, &cell.instrument];
    let figures = cell.ratio.map(|ratio| {
        let interval =
            ratio.interval.map_or_else(|| "-".to_owned(), |ends| ends.text(significant_text));
        let failed = has_failed.then(|| FailedShare::field_of_ratio(a, b));
        let figures = [ratio_text(&ratio), interval, ratio.pairs.to_string()];
        figures.into_iter().chain(failed).collect()
    });
    HtmlRow {
        names: names.map(|name| quoted_line(name)).to_vec(),
        figures: figures.map_err(|reason| format!("no ratio: {reason}")),
    }
}
