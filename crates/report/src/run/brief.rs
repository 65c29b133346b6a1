//! A run on a terminal: the one sentence that is to be kept in mind first and last, and between
//! them one table and what has to be known to read it.

use super::busy::{busy_line, mark_lines};
use super::doubts::{failures_line, scope_line};
use super::report::Report;
use crate::tables::{brief_calibration, brief_legend, brief_table, brief_words, spinning_lines};
use crate::wrap::within;
use bookend_contract::printable;
use bookend_results::quoted::{clipped, one_line};
use bookend_results::ranking::Rankings;

/// No line of a report for a terminal is longer, however wide the terminal is.
pub const BRIEF_COLUMNS: usize = 100;

/// Fewest columns that it is laid out for.
const COLUMNS_MIN: usize = 40;

/// The lines behind the first of a paragraph begin with this.
const INDENT: &str = "    ";

impl Report<'_> {
    /// The report for a terminal with that many columns. `next` are lines about what to do then,
    /// and come before the last line.
    pub fn brief(&self, columns: usize, next: &[String]) -> String {
        let width = columns.clamp(COLUMNS_MIN, BRIEF_COLUMNS);
        let prose = |lines: &[String]| {
            lines.iter().map(|line| within(line, width, INDENT)).collect::<String>()
        };
        let headline = within(&self.headline(), width, INDENT);
        let (table, words) = (&self.table, brief_words(&self.table));
        let parts = [
            format!("{}{headline}", self.joined()),
            prose(&self.beginning()),
            brief_table(table, width),
            within(&brief_legend(table), width, INDENT) + &prose(&words),
            brief_calibration(table, width),
            prose(&self.besides()),
            prose(next),
            headline,
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        printable::lines(&parts.join("\n")).into_owned()
    }

    /// What was measured, and the notes of the run.
    fn beginning(&self) -> Vec<String> {
        let (plan, scope) = (&self.run.new.plan, self.run.scope());
        let (suite, method, rounds) = (&plan.suite, &plan.request.method, plan.rounds);
        let instrument = self.table.cells.first().filter(|_| !self.table.several_instruments);
        let through = instrument.map_or(String::new(), |cell| {
            format!(", {}", self.through(std::slice::from_ref(&cell.id.instrument)))
        });
        let head = format!("{suite}: {method}, {rounds} rounds{through}; {scope}");
        let notes = self.notes().into_iter().map(|note| format!("note: {}", clipped(note)));
        std::iter::once(head).chain(notes).map(|line| one_line(&line)).collect()
    }

    /// What the table does not say: who else is ahead, what failed, and what to doubt.
    fn besides(&self) -> Vec<String> {
        let rankings = Rankings::of(&self.run.new.plan, &self.table, self.rows);
        let others = self.compared(&rankings).into_iter().skip(1);
        let failures = failures_line(&self.table);
        let spinning = spinning_lines(&self.table);
        let doubts = [busy_line(self.rows), scope_line(self)].into_iter().flatten();
        let lines = others.chain(failures).chain(spinning).chain(mark_lines(&self.table));
        lines.chain(doubts).map(|line| one_line(&line)).collect()
    }
}
