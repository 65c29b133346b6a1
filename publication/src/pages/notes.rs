//! What processes noted besides their figures: connections, threads, collections of garbage.
//!
//! A caller's notes are about one cell. A server's notes are about its lifetime: one cell if it was
//! started for that cell (a client under test, a fixed number of calls), otherwise all cells of a
//! round.

use super::page::Page;
use bookend_report::markdown;
use bookend_results::grouping::grouped;
use bookend_results::measurement::Row;
use bookend_results::metric::Unit;
use bookend_results::record::rows_of_cell;
use bookend_results::statistics::median;
use bookend_results::suite::TestedEnd;
use std::collections::BTreeMap;

/// A note of a process, and the process at the other end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    process: String,
    name: String,
    with: String,
}

/// Median, largest and number of rounds, as text.
type Figures = [String; 3];

/// A line of the table, without the processes at the other end: notes that are the same in several
/// cases, or with several others, share one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    process: String,
    note: String,
    cases: String,
    figures: Figures,
}

const ALL_CASES: &str = "all of a round";

const EVERY_CASE: &str = "every case";

/// One line for each note: its median over the rounds and the largest. Empty if there are no notes
/// but zeros.
pub(super) fn table(page: &Page<'_>) -> String {
    let mut notes: BTreeMap<(Note, String), BTreeMap<u32, f64>> = BTreeMap::new();
    let plan = &page.record.facts.plan;
    for cell in plan.cells() {
        for row in rows_of_cell(plan, &page.record.rows, &cell.id) {
            for (note, value) in of_row(row) {
                notes.entry(note).or_default().insert(row.round, value);
            }
        }
    }
    // A zero in every row says only that nobody did that here.
    let mut largest: BTreeMap<String, f64> = BTreeMap::new();
    for ((note, _), values) in &notes {
        let most = largest.entry(note.name.clone()).or_default();
        *most = values.values().copied().fold(*most, f64::max);
    }
    notes.retain(|(note, _), _| largest[&note.name] > 0.0);
    let order: Vec<String> = plan.cases.iter().map(ToString::to_string).collect();
    let with_figures =
        notes.iter().map(|((note, case), values)| (note.clone(), (case.clone(), figures(values))));
    let lines = folded(with_figures, &order);
    if lines.is_empty() {
        return String::new();
    }
    let noted = lines.into_iter().map(|(line, with)| {
        let [middle, largest, rounds] = line.figures;
        let largest = if largest == middle { String::new() } else { format!(" ({largest})") };
        let place = [line.process, line.cases, with.join(", "), rounds];
        (place, format!("{} {middle}{largest}", line.note))
    });
    let headings = ["process", "case", "with", "rounds", "notes: median (and largest)"];
    let rows: Vec<_> = grouped(noted)
        .into_iter()
        .map(|(place, notes)| [place.as_slice(), &[notes.join(", ")]].concat())
        .collect();
    markdown::table(&headings.map(str::to_owned), headings.len(), &rows)
}

fn figures(by_round: &BTreeMap<u32, f64>) -> Figures {
    let values: Vec<f64> = by_round.values().copied().collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let middle = median(&values).unwrap_or(largest);
    let number = |value| Unit::Number.text(value);
    [number(middle), number(largest), values.len().to_string()]
}

/// Joins the notes with equal figures into one line: of several cases, and then with several
/// others.
fn folded(
    notes: impl IntoIterator<Item = (Note, (String, Figures))>,
    order: &[String],
) -> Vec<(Line, Vec<String>)> {
    let mut lines = Vec::new();
    for (Note { process, name, with }, own) in grouped(notes) {
        for (cases, figures) in equal_cases(own, order) {
            let (process, note) = (process.clone(), name.clone());
            lines.push((Line { process, note, cases, figures }, with.clone()));
        }
    }
    grouped(lines)
}

/// The cases of one note grouped by their figures, equal ones together.
fn equal_cases(mut own: Vec<(String, Figures)>, order: &[String]) -> Vec<(String, Figures)> {
    own.sort_by_key(|(case, _)| order.iter().position(|known| known == case));
    let is_several = own.len() > 1;
    let groups = grouped(own.into_iter().map(|(case, figures)| (figures, case)));
    let whole = (is_several && groups.len() == 1).then(|| EVERY_CASE.to_owned());
    let name = |cases: Vec<String>| whole.clone().unwrap_or_else(|| cases.join(", "));
    groups.into_iter().map(|(figures, cases)| (name(cases), figures)).collect()
}

/// The notes of a row, each with its case.
fn of_row(row: &Row) -> Vec<((Note, String), f64)> {
    let Some(measurement) = row.outcome.window() else {
        return Vec::new();
    };
    let cell = &row.cell;
    let (server, caller) = match measurement.ends.side {
        TestedEnd::Server => (&cell.subject, &cell.instrument),
        TestedEnd::Client => (&cell.instrument, &cell.subject),
    };
    let case = cell.case.to_string();
    let life = if row.has_own_server { (case.as_str(), caller.as_str()) } else { (ALL_CASES, "") };
    let backend = format!("backend of {server}");
    let all = [
        (caller, (case.as_str(), server.as_str()), &measurement.notes),
        (server, life, &row.server_notes),
        (&backend, life, &row.backend_notes),
    ];
    let mut noted = Vec::new();
    for (process, (case, with), notes) in all {
        for (name, value) in notes {
            let (process, name, with) = (process.clone(), name.clone(), with.to_owned());
            noted.push(((Note { process, name, with }, case.to_owned()), *value));
        }
    }
    noted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(case: &str, with: &str, median: &str) -> (Note, (String, Figures)) {
        let note = Note {
            process: "server".to_owned(),
            name: "threads_peak".to_owned(),
            with: with.to_owned(),
        };
        (note, (case.to_owned(), [median, median, "3"].map(str::to_owned)))
    }

    fn fold(notes: Vec<(Note, (String, Figures))>) -> Vec<String> {
        let order = ["C=2 S=2", "C=16 S=16", "C=128 S=128"].map(str::to_owned);
        folded(notes, &order)
            .into_iter()
            .map(|(line, with)| format!("{}; {}; {}", line.cases, with.join(", "), line.figures[0]))
            .collect()
    }

    #[test]
    fn what_is_equal_in_every_case_is_one_line() {
        let notes = [("C=2 S=2", "a"), ("C=16 S=16", "a"), ("C=2 S=2", "b"), ("C=16 S=16", "b")]
            .map(|(case, with)| noted(case, with, "12"));
        assert_eq!(fold(notes.to_vec()), ["every case; a, b; 12"]);
    }

    #[test]
    fn a_case_that_differs_keeps_its_line_and_the_others_are_named() {
        let notes = [("C=128 S=128", "12"), ("C=16 S=16", "13"), ("C=2 S=2", "12")]
            .map(|(case, median)| noted(case, "a", median));
        let lines = ["C=2 S=2, C=128 S=128; a; 12", "C=16 S=16; a; 13"];
        assert_eq!(fold(notes.to_vec()), lines);
    }

    #[test]
    fn one_case_alone_is_named() {
        let notes = vec![noted("C=2 S=2", "a", "1"), noted("C=16 S=16", "b", "1")];
        assert_eq!(fold(notes), ["C=2 S=2; a; 1", "C=16 S=16; b; 1"]);
    }
}
