//! What all pictures of a run have in common: whose rows are drawn, how they were measured, and the
//! colours.

use crate::html::HtmlRow;
use crate::run::report::Report;
use bookend_results::failed_share::FailedShare;
use bookend_results::grouping::{each_once, grouped};
use bookend_results::suite::Case;
use bookend_results::table::{Cell, CellResult, Rank, instrument_group};

/// What all pictures of a run have in common: whose rows are drawn, and in which colour.
pub(super) struct Drawn<'a> {
    pub(super) report: &'a Report<'a>,
    /// The cells that are compared, in the order of the plan, by how they were measured.
    pub(super) groups: Vec<DrawnGroup<'a>>,
    /// Each subject has a colour, the same in every picture.
    pub(super) subjects: Vec<&'a String>,
}

/// Cells that one instrument measured, or clients that their subjects brought.
pub(super) struct DrawnGroup<'a> {
    /// The instruments. Empty where there is but one group.
    pub(super) name: String,
    pub(super) cells: Vec<&'a Cell>,
}

impl<'a> Drawn<'a> {
    pub(super) fn of(report: &'a Report<'a>) -> Self {
        // A picture ranks, and rows of a run that was joined to the record are of another day.
        let is_drawn = |cell: &&Cell| cell.rank != Rank::Calibration && cell.run == 0;
        let cells: Vec<&Cell> = report.table.cells.iter().filter(is_drawn).collect();
        let baseline = report.run.new.plan.baseline().map_or("", |baseline| &baseline.name);
        let keyed = cells.iter().map(|cell| (instrument_group(&cell.id, baseline), *cell));
        let mut groups: Vec<DrawnGroup<'a>> = grouped(keyed)
            .into_iter()
            .map(|(_, cells)| {
                let instruments = each_once(cells.iter().map(|cell| cell.id.instrument.as_str()));
                DrawnGroup { name: instruments.join(" and "), cells }
            })
            .collect();
        if let [only] = groups.as_mut_slice() {
            only.name.clear();
        }
        let subjects = each_once(cells.iter().map(|cell| &cell.id.subject));
        Self { report, groups, subjects }
    }

    pub(super) fn style(&self, subject: &str) -> usize {
        self.subjects.iter().position(|known| *known == subject).unwrap_or_default()
    }

    /// A line that stands in the files of pictures, which may be seen without their page.
    pub(super) fn origin(&self) -> String {
        let plan = &self.report.run.new.plan;
        format!("{}, {} rounds", plan.suite, self.report.stored_rounds())
    }
}

impl DrawnGroup<'_> {
    /// A title that names the instruments, where there are several groups.
    pub(super) fn titled(&self, title: &str) -> String {
        match self.name.as_str() {
            "" => title.to_owned(),
            name => format!("{title}, {name}"),
        }
    }

    /// The subjects, in the order of the plan.
    pub(super) fn subjects(&self) -> Vec<&String> {
        each_once(self.cells.iter().map(|cell| &cell.id.subject))
    }

    /// The cases, in the order of the plan.
    pub(super) fn cases(&self) -> Vec<Case> {
        each_once(self.cells.iter().map(|cell| cell.case))
    }

    /// The cell of a subject in a case.
    pub(super) fn find(&self, subject: &str, case: Case) -> Option<&Cell> {
        self.cells.iter().copied().find(|cell| cell.id.subject == subject && cell.case == case)
    }
}

/// The names of a row of a table of figures.
pub(super) fn names(cell: &Cell) -> Vec<String> {
    vec![cell.case.to_string(), cell.marked_subject()]
}

/// The headings and the rows of these cells, with a last column for failed calls where there were
/// any.
pub(super) fn with_failed(
    drawn: &Drawn<'_>,
    headings: &[&str],
    mut rows: Vec<HtmlRow>,
    cells: &[&Cell],
) -> (Vec<String>, Vec<HtmlRow>) {
    let mut headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    if drawn.report.table.has_failed_calls() {
        headings.push("failed".to_owned());
        for (row, cell) in rows.iter_mut().zip(cells) {
            if let Ok(figures) = &mut row.figures {
                figures.push(FailedShare::field(cell.failed_share()));
            }
        }
    }
    (headings, rows)
}

/// The words for a cell without figures, where a picture has no room for the reason.
pub(super) fn word_of(cell: &Cell) -> String {
    match &cell.result {
        CellResult::Measured(_) => "no ratio".to_owned(),
        CellResult::NotMeasured { why, .. } => why.to_string(),
    }
}
