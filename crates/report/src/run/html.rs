//! The report of a run as one page that needs nothing else: the answer, pictures, tables, and what
//! they rest on.

use super::report::Report;
use crate::html::{HtmlPage, HtmlRow, folded, list, note, verbatim};
use crate::page;
use crate::tables::{SheetRow, TableSheet, calibration_lines, connection_table, marks, sheets};
use bookend_results::failed_share::FailedShare;
use bookend_results::quoted::clipped;
use bookend_results::table::{Cell, CellResult, Rank, counterpart};
use bookend_results::text::significant_text;
use maud::{Markup, html};

impl Report<'_> {
    /// The whole page.
    pub fn html(&self) -> String {
        self.page_among(&html! {}, &html! {}).document()
    }

    /// The page as one of several: with what leads to the others above it, and with more of what
    /// was found below the answer.
    pub fn page_among(&self, others: &Markup, findings: &Markup) -> HtmlPage {
        let (title, analysis) = self.prose();
        let sections = page::sections([
            page::figures(&self.named_pictures()),
            self.html_tables(),
            self.html_method(),
            verbatim(&self.run.new.provenance_text()),
            page::versions(self.run.new.versions.iter()),
            verbatim(&clipped(&self.run.new.command)),
        ]);
        let body = html! {
            (others)
            (page::head(&title, &self.origin_in_words(), &self.answer()))
            (folded("The question", &verbatim(analysis.trim())))
            (findings)
            (sections)
        };
        page::titled(&title, &body)
    }

    /// Which run of what, and when.
    fn origin_in_words(&self) -> String {
        let new = &self.run.new;
        let started = new.started.to_string();
        let day = started.split('T').next().unwrap_or_default();
        let unfinished = if self.run.finished.is_none() { ", not finished" } else { "" };
        let (joined, scope) = (self.table.joined(), self.run.scope());
        let joined = joined.map_or_else(String::new, |text| format!("{text} "));
        format!("{joined}Suite {}, {scope}, measured on {day}{unfinished}.", new.plan.suite)
    }

    fn html_tables(&self) -> Markup {
        let connections = connection_table(&self.table).unwrap_or_default();
        let marks = marks(&self.table);
        html! {
            (self.html_ratios())
            @for one in sheets(&self.table) { (sheet(&one)) }
            (folded("What connections cost", &verbatim(&connections)))
            (verbatim(&calibration_lines(&self.table)))
            (verbatim(&self.remarks().join("\n")))
            (folded(&format!("{} marks: what speaks against rows", marks.len()), &list(&marks)))
        }
    }

    /// Requests per CPU-second of every subject over those of the baseline. Empty: there is no
    /// baseline, or nobody to compare with it.
    fn html_ratios(&self) -> Markup {
        let Some(baseline) = self.run.new.plan.baseline() else {
            return html! {};
        };
        let ranked = self.table.cells.iter().filter(|cell| cell.rank == Rank::Ranked);
        let rows: Vec<HtmlRow> = ranked.map(|cell| self.ratio_row(cell)).collect();
        if rows.iter().all(|row| row.figures.is_err()) {
            return html! {};
        }
        let mut headings = vec!["case", "name", "ratio", "from", "to", "rounds"];
        headings.extend(self.table.has_failed_calls().then_some("failed"));
        let headings: Vec<String> = headings.into_iter().map(str::to_owned).collect();
        let title = format!("Requests per CPU-second over those of {}", baseline.name);
        let legend = "Above 1: more requests with the same CPU. ~: noise, the 95 % interval of the ratio \
                    has 1 in it. ?: too few rounds for an interval.";
        html! { (page::titled_table(&title, &headings, &rows)) (note(legend)) }
    }

    fn ratio_row(&self, cell: &Cell) -> HtmlRow {
        let outcome = match &cell.result {
            CellResult::Measured(summary) => Ok(&summary.ratios.cost_ratio),
            CellResult::NotMeasured { why, .. } => Err(why.to_string()),
        };
        let baseline = self.run.new.plan.baseline();
        let other = baseline.map(|baseline| counterpart(&cell.id, baseline));
        let of_baseline = other.and_then(|other| self.table.failed_share_of(&other));
        let end = |value: Option<f64>| value.map_or("-".to_owned(), significant_text);
        let figures = outcome.and_then(|outcome| {
            let ratio = outcome.ratio().ok_or("no ratio")?;
            let mut figures = vec![
                outcome.to_string(),
                end(ratio.interval.map(|ends| ends.low)),
                end(ratio.interval.map(|ends| ends.high)),
                ratio.pairs.to_string(),
            ];
            let failed = FailedShare::field_of_ratio(cell.failed_share(), of_baseline);
            figures.extend(self.table.has_failed_calls().then_some(failed));
            Ok(figures)
        });
        HtmlRow { names: vec![cell.case.to_string(), self.table.row_name(cell)], figures }
    }

    fn html_method(&self) -> Markup {
        let method = "Every subject is started anew in each round, and cells are measured in random order. A \
                      figure is the median of its rounds, a ratio the median of the ratios of rounds that \
                      measured both, and an interval holds the median in 95 of 100 runs whatever the \
                      distribution. CPU is that of the process tree under test. docs/measure/methodology.md \
                      says more, and docs/measure/metrics.md defines every figure.";
        html! {
            p { (method) } "\n"
            (list(self.parameters()))
            (folded("Notes", &list(self.notes().into_iter().map(clipped))))
        }
    }
}

fn sheet(sheet: &TableSheet) -> Markup {
    let row = |row: &SheetRow| HtmlRow {
        names: vec![row.case.to_string(), row.name.clone()],
        figures: row.fields.clone(),
    };
    let rows: Vec<HtmlRow> = sheet.rows.iter().map(row).collect();
    page::titled_table(sheet.title, &sheet.headings, &rows)
}
