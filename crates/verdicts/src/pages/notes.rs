//! What processes noted besides their figures: connections, threads, collections of garbage.
//!
//! A caller's notes are about one cell. A server's notes are about its lifetime: one cell if it was
//! started for that cell (a client under test, a fixed number of calls), otherwise all cells of a
//! round.

use super::page::Page;
use bookend_results::markdown;
use bookend_results::measurement::Row;
use bookend_results::statistics::median;
use bookend_results::suite::TestedEnd;
use bookend_results::text::significant_text;
use std::collections::{BTreeMap, BTreeSet};

/// The process, the name of the note, its case, and the process at the other end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    process: String,
    note: String,
    case: String,
    with: String,
}

/// Median, largest and number of rounds, as text.
type Figures = [String; 3];

/// A line of the table: notes that are the same in several cases, or with several others, share
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    process: String,
    note: String,
    cases: String,
    with: Vec<String>,
    figures: Figures,
}

const ALL_CASES: &str = "all of a round";

const EVERY_CASE: &str = "every case";

/// One line for each note: its median over the rounds and the largest. Empty if there are no notes.
pub(super) fn table(page: &Page<'_>) -> String {
    let mut notes: BTreeMap<Key, BTreeMap<u32, f64>> = BTreeMap::new();
    for row in &page.record.rows {
        for (key, value) in of_row(row) {
            notes.entry(key).or_default().insert(row.round, value);
        }
    }
    let cases = page.record.facts.plan.cases.iter();
    let order: Vec<String> = cases.map(ToString::to_string).collect();
    let notes = notes.into_iter().map(|(key, values)| (key, figures(&values)));
    let lines = folded(notes.collect(), &order);
    if lines.is_empty() {
        return String::new();
    }
    let headings = ["who", "case", "with", "note", "median", "largest", "rounds"];
    let rows: Vec<Vec<String>> = lines.into_iter().map(Line::fields).collect();
    markdown::table(&headings.map(str::to_owned), 4, &rows)
}

fn figures(values: &BTreeMap<u32, f64>) -> Figures {
    let values: Vec<f64> = values.values().copied().collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let middle = median(&values).unwrap_or(largest);
    [number(middle), number(largest), values.len().to_string()]
}

/// Joins the notes with equal figures into one line: of several cases, and then with several
/// others.
fn folded(notes: Vec<(Key, Figures)>, order: &[String]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (process, note, with) in series(&notes) {
        let own = notes
            .iter()
            .filter(|(key, _)| key.process == *process && key.note == *note && key.with == *with);
        for (cases, figures) in equal_cases(own, order) {
            let line = Line {
                process: process.clone(),
                note: note.clone(),
                cases,
                with: vec![with.clone()],
                figures,
            };
            match lines.iter_mut().find(|known| known.differs_in_with_alone(&line)) {
                Some(known) => known.with.extend(line.with),
                None => lines.push(line),
            }
        }
    }
    lines
}

/// Every process with a note and the process at the other end, each once.
fn series(notes: &[(Key, Figures)]) -> BTreeSet<(&String, &String, &String)> {
    let series = notes.iter();
    series.map(|(key, _)| (&key.process, &key.note, &key.with)).collect()
}

/// The cases of one series grouped by their figures, equal ones together.
fn equal_cases<'a>(
    own: impl Iterator<Item = &'a (Key, Figures)>,
    order: &[String],
) -> Vec<(String, Figures)> {
    let place = |case: &str| order.iter().position(|known| known == case);
    let mut own: Vec<&(Key, Figures)> = own.collect();
    own.sort_by_key(|(key, _)| place(&key.case));
    let mut groups: Vec<(Vec<&str>, &Figures)> = Vec::new();
    for (key, figures) in &own {
        match groups.iter_mut().find(|(_, known)| *known == figures) {
            Some((cases, _)) => cases.push(&key.case),
            None => groups.push((vec![&key.case], figures)),
        }
    }
    let is_whole = groups.len() == 1 && own.len() > 1;
    let groups = groups.into_iter();
    let named = groups.map(|(cases, figures)| {
        if is_whole {
            (EVERY_CASE.to_owned(), figures.clone())
        } else {
            (cases.join(", "), figures.clone())
        }
    });
    named.collect()
}

impl Line {
    fn differs_in_with_alone(&self, other: &Line) -> bool {
        let same_note = self.process == other.process && self.note == other.note;
        same_note && self.cases == other.cases && self.figures == other.figures
    }

    fn fields(self) -> Vec<String> {
        let with = self.with.join(", ");
        let mut fields = vec![self.process, self.cases, with, self.note];
        fields.extend(self.figures);
        fields
    }
}

/// Counts as they are, fractions with three digits.
fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { significant_text(value) }
}

fn of_row(row: &Row) -> Vec<(Key, f64)> {
    let Some(measurement) = row.outcome.window() else {
        return Vec::new();
    };
    let cell = &row.cell;
    let (server, caller) = match measurement.side {
        TestedEnd::Server => (&cell.subject, &cell.instrument),
        TestedEnd::Client => (&cell.instrument, &cell.subject),
    };
    let at_its_end = |process: &String, with: &str| {
        if row.has_own_server {
            (process.clone(), cell.case.to_string(), with.to_owned())
        } else {
            (process.clone(), ALL_CASES.to_owned(), String::new())
        }
    };
    let backend = format!("backend of {server}");
    let all = [
        ((caller.clone(), cell.case.to_string(), server.clone()), &measurement.notes),
        (at_its_end(server, caller), &row.server_notes),
        (at_its_end(&backend, caller), &row.backend_notes),
    ];
    let keyed = all.into_iter().flat_map(|((process, case, with), notes)| {
        notes.iter().map(move |(note, value)| {
            let key = Key {
                process: process.clone(),
                case: case.clone(),
                with: with.clone(),
                note: note.clone(),
            };
            (key, *value)
        })
    });
    keyed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(case: &str, with: &str, median: &str) -> (Key, Figures) {
        let key = Key {
            process: "server".to_owned(),
            note: "threads_peak".to_owned(),
            case: case.to_owned(),
            with: with.to_owned(),
        };
        (key, [median, median, "3"].map(str::to_owned))
    }

    fn fold(notes: Vec<(Key, Figures)>) -> Vec<String> {
        let order = ["C=2 S=2", "C=16 S=16", "C=128 S=128"].map(str::to_owned);
        let lines = folded(notes, &order).into_iter();
        lines
            .map(|line| format!("{}; {}; {}", line.cases, line.with.join(", "), line.figures[0]))
            .collect()
    }

    #[test]
    fn what_is_equal_in_every_case_is_one_line() {
        let notes = [("C=2 S=2", "a"), ("C=16 S=16", "a"), ("C=2 S=2", "b"), ("C=16 S=16", "b")];
        let notes = notes.map(|(case, with)| noted(case, with, "12"));
        assert_eq!(fold(notes.to_vec()), ["every case; a, b; 12"]);
    }

    #[test]
    fn a_case_that_differs_keeps_its_line_and_the_others_are_named() {
        let notes = [("C=128 S=128", "12"), ("C=16 S=16", "13"), ("C=2 S=2", "12")];
        let notes = notes.map(|(case, median)| noted(case, "a", median));
        let lines = ["C=2 S=2, C=128 S=128; a; 12", "C=16 S=16; a; 13"];
        assert_eq!(fold(notes.to_vec()), lines);
    }

    #[test]
    fn one_case_alone_is_named() {
        let notes = vec![noted("C=2 S=2", "a", "1"), noted("C=16 S=16", "b", "1")];
        assert_eq!(fold(notes), ["C=2 S=2; a; 1", "C=16 S=16; b; 1"]);
    }
}
