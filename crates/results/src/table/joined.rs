//! Tables of records that were joined from several runs: what is said of them.

use super::{Cell, Table};
use crate::grouping::{each_once, grouped};
use crate::suite::Case;

impl Table {
    /// The first line of a page whose rows are of several runs. `None`: they are of one.
    pub fn joined(&self) -> Option<String> {
        let runs = each_once(self.cells.iter().map(|cell| cell.run)).len();
        let count = if runs == 2 { "two".to_owned() } else { runs.to_string() };
        let later = self.cells.iter().filter(|cell| cell.run > 0);
        let names: Vec<String> = grouped(later.map(|cell| (cell.id.subject.as_str(), cell.case)))
            .into_iter()
            .map(|(subject, cases)| self.places(subject, each_once(cases)))
            .collect();
        (runs > 1).then(|| {
            format!(
                "Joined from {count} runs, and rows of one are not ranked with those of another. \
                 Not of the first: {}.",
                names.join("; ")
            )
        })
    }

    /// The subject, with these cases where it has others.
    fn places(&self, subject: &str, cases: Vec<Case>) -> String {
        let own = self.cells.iter().filter(|cell| cell.id.subject == subject);
        if each_once(own.map(|cell| cell.case)).len() == cases.len() {
            return subject.to_owned();
        }
        let cases: Vec<String> = cases.iter().map(Case::to_string).collect();
        format!("{subject} at {}", cases.join(", "))
    }
}

impl Cell {
    /// What follows the name of a row that is not of the record's own run.
    pub fn other_run(&self) -> &'static str {
        if self.run > 0 { ", other run" } else { "" }
    }
}
