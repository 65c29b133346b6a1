//! The report of a run as one page that needs nothing else: the answer, pictures, tables, and what
//! they rest on.

use super::report::Report;
use crate::html::{HtmlPage, HtmlRow, folded, list, table, verbatim};
use crate::page;
use crate::tables::{SheetRow, TableSheet, calibration_lines, connection_table, marks, sheets};
use bookend_results::quoted::clipped;
use bookend_results::table::{Cell, CellResult, Rank};
use bookend_results::text::significant_text;

impl Report<'_> {
    /// The whole page.
    pub fn html(&self) -> String {
        self.html_among("", "")
    }

    /// The page as one of several: with what leads to the others above it, in HTML, and with more
    /// of what was found below the answer.
    pub fn html_among(&self, others: &str, findings: &str) -> String {
        self.page_among(others, findings).document()
    }

    /// The same, while more can be done with it.
    pub(crate) fn page_among(&self, others: &str, findings: &str) -> HtmlPage {
        let (title, analysis) = self.prose();
        let head = page::head(&title, &self.origin_in_words(), &self.answer());
        let body = [
            others.to_owned(),
            head,
            folded("The question", &verbatim(analysis.trim())),
            findings.to_owned(),
            page::sections([
                self.named_pictures().iter().map(page::figure).collect(),
                self.html_tables(),
                self.html_method(),
                verbatim(&self.run.new.machine.to_string()),
                page::versions(self.run.new.versions.iter()),
                verbatim(&clipped(&self.run.new.command)),
            ]),
        ];
        page::titled(&title, &body.concat())
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

    fn html_tables(&self) -> String {
        let sheets: String = sheets(&self.table).iter().map(sheet).collect();
        let connections = connection_table(&self.table).unwrap_or_default();
        let below: String = [calibration_lines(&self.table), self.remarks().join("\n")]
            .iter()
            .map(|text| verbatim(text))
            .collect();
        let marks = marks(&self.table);
        let marks =
            folded(&format!("{} marks: what speaks against rows", marks.len()), &list(&marks));
        let connections = folded("What connections cost", &verbatim(&connections));
        format!("{}{sheets}{connections}{below}{marks}", self.html_ratios())
    }

    /// Requests per CPU-second of every subject over those of the baseline. Empty: there is no
    /// baseline, or nobody to compare with it.
    fn html_ratios(&self) -> String {
        let Some(baseline) = self.run.new.plan.baseline() else {
            return String::new();
        };
        let ranked = self.table.cells.iter().filter(|cell| cell.rank == Rank::Ranked);
        let rows: Vec<HtmlRow> = ranked.map(|cell| self.ratio_row(cell)).collect();
        if rows.iter().all(|row| row.figures.is_err()) {
            return String::new();
        }
        let headings = ["case", "name", "ratio", "from", "to", "rounds"].map(str::to_owned);
        let title = format!("Requests per CPU-second over those of {}", baseline.name);
        let note = "<p class=\"note\">Above 1: more requests with the same CPU. ~: noise, the 95 % interval of \
            the ratio has 1 in it. ?: too few rounds for an interval.</p>\n";
        page::titled_table(&title, &table(&headings, &rows)) + note
    }

    fn ratio_row(&self, cell: &Cell) -> HtmlRow {
        let outcome = match &cell.result {
            CellResult::Measured(summary) => Ok(&summary.ratios.cost_ratio),
            CellResult::NotMeasured { why, .. } => Err(why.to_string()),
        };
        let end = |value: Option<f64>| value.map_or("-".to_owned(), significant_text);
        let figures = outcome.and_then(|outcome| {
            let ratio = outcome.ratio().ok_or("no ratio")?;
            Ok(vec![
                outcome.to_string(),
                end(ratio.interval.map(|ends| ends.low)),
                end(ratio.interval.map(|ends| ends.high)),
                ratio.pairs.to_string(),
            ])
        });
        HtmlRow { names: vec![cell.case.to_string(), self.table.row_name(cell)], figures }
    }

    fn html_method(&self) -> String {
        let notes: Vec<String> = self.notes().into_iter().map(clipped).collect();
        format!(
            "<p>Every subject is started anew in each round, and cells are measured in random order. A \
             figure is the median of its rounds, a ratio the median of the ratios of rounds that \
             measured both, and an interval holds the median in 95 of 100 runs whatever the \
             distribution. CPU is that of the process tree under test. docs/measure/methodology.md \
             says more, and docs/measure/metrics.md defines every figure.</p>\n{}{}",
            list(&self.parameters()),
            folded("Notes", &list(&notes)),
        )
    }
}

fn sheet(sheet: &TableSheet) -> String {
    let row = |row: &SheetRow| HtmlRow {
        names: vec![row.case.to_string(), row.name.clone()],
        figures: row.fields.clone(),
    };
    let rows: Vec<HtmlRow> = sheet.rows.iter().map(row).collect();
    page::titled_table(sheet.title, &table(&sheet.headings, &rows))
}
