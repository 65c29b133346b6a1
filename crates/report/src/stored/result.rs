//! One run: the page of its report, and what leads from there to the history of each cell.

use super::{ListedRun, StorePages, served};
use crate::html::{folded, list};
use crate::run::Report;
use bookend_results::measurement::Row;
use bookend_results::quoted::quoted_line;
use bookend_results::store::{Run, RunId};
use maud::{Markup, html};
use std::collections::BTreeMap;

impl StorePages {
    /// The page of a run with its rows and what each server was found to lack, and with what leads
    /// to a comparison with the one `before`. The `newest` run has a line that moves while it goes
    /// on.
    pub fn result(
        &self,
        run: &Run,
        rows: &[Row],
        skips: BTreeMap<String, Vec<String>>,
        (before, newest): (Option<RunId>, Option<&ListedRun>),
    ) -> String {
        let report = Report::new(run, rows).with_skips(skips);
        let is_moving =
            |newest: &&ListedRun| newest.run.id == run.id && newest.run.finished.is_none();
        let compared = before.map(|before| {
            (
                self.comparison_of(run.id, before),
                format!("Compare with run {before}, the one before"),
            )
        });
        let others = html! {
            (self.others(compared.as_slice()))
            @if let Some(newest) = newest.filter(is_moving) {
                (self.progress(Some(newest)).html(&self.events_address()))
            }
        };
        served(report.page_among(&others, &self.histories(run)))
    }

    fn histories(&self, run: &Run) -> Markup {
        let cells = run.new.plan.cells();
        let links = cells.iter().enumerate().map(|(index, cell)| {
            let id = &cell.id;
            let name = format!("{} {} via {}", id.subject, id.case, id.instrument);
            html! { a href=(self.cell_address(run.id, index)) { (quoted_line(&name)) } }
        });
        folded("Each cell over all runs of this suite", &list(links))
    }
}
