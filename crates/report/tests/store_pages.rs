//! The pages of a store: what leads where, what is distinguished, and what hostile text does to
//! them.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::stored::{ListedRun, PastFigure, StorePages};
use bookend_results::measurement::{CellId, Row};
use bookend_results::store::{Run, RunId, Store, UnreadableRun};
use std::collections::BTreeMap;
use table_rows::{cell, new_run, rows, run};

const HOSTILE: &str = "../<script>alert(1)</script>\"'><img src=x>\u{1b}[31m\u{202e}";

fn pages() -> StorePages {
    StorePages::below("/token/")
}

fn numbered(id: i64) -> Run {
    Run { id: RunId(id), ..run() }
}

fn listed(run: Run, rounds: usize) -> ListedRun {
    ListedRun { run, rounds }
}

/// Rows in which one subject needs `factor` times the CPU time.
fn slowed(subject: &str, factor: f64) -> Vec<Row> {
    let mut rows = rows(&run().new.plan);
    for row in rows.iter_mut().filter(|row| row.cell.subject == subject) {
        if let Some(window) = row.outcome.window_mut() {
            window.ends.server.cpu_seconds *= factor;
        }
    }
    rows
}

fn of_cell(rows: Vec<Row>, cell: &CellId) -> Vec<Row> {
    rows.into_iter().filter(|row| row.cell == *cell).collect()
}

#[test]
fn the_list_leads_to_every_run_the_newest_first() {
    let unfinished = Run { finished: None, ..numbered(12) };
    let page = pages().list("bookend.db", &[Ok(listed(numbered(3), 7)), Ok(listed(unfinished, 2))]);
    let links = ["href=\"/token/runs/12\">12<", "href=\"/token/runs/3\">3<"];
    let at = links.map(|link| page.find(link).unwrap_or_else(|| panic!("no {link}: {page}")));
    assert!(at[0] < at[1]);
    for part in ["<td>2 of 7<td>not finished", "<td>7 of 7<td>ended", "name=\"b\"", "value=\"3\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let empty = pages().list("bookend.db", &[]);
    assert!(empty.contains("There is no result yet"), "{empty}");
}

#[test]
fn a_run_that_cannot_be_read_keeps_its_row() {
    let unreadable = UnreadableRun { id: RunId(9), reason: HOSTILE.to_owned() };
    let page = pages().list("bookend.db", &[Ok(listed(numbered(3), 7)), Err(unreadable)]);
    assert!(page.contains("<td>7 of 7<td>ended"), "{page}");
    let row = "href=\"/token/runs/9\">9</a><td>-<td>-<td>-<td>-<td>-<td>cannot be read: ../&lt;";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("There are 2 results"), "{page}");
}

#[test]
fn the_newest_run_has_a_line_that_moves_until_it_ends() {
    let newest = listed(Run { finished: None, ..numbered(3) }, 2);
    let json = pages().progress(Some(&newest)).json();
    let event: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(event["text"], "Run 3, invented: 2 of 7 rounds are stored.");
    assert_eq!((&event["has_ended"], &event["address"]), (&false.into(), &"/token/runs/3".into()));
    let rows = rows(&newest.run.new.plan);
    let page = |run: &Run| pages().result(run, &rows, BTreeMap::new(), Some(&newest));
    assert!(page(&newest.run).contains("data-events=\"/token/events\""));
    assert!(!page(&numbered(2)).contains("data-events=\""), "another run's page does not move");
    let ended = pages().progress(Some(&listed(numbered(3), 7)));
    assert!(ended.json().contains("\"has_ended\":true"), "{}", ended.json());
}

#[test]
fn a_run_leads_to_the_history_of_each_cell() {
    let run = run();
    let page = pages().result(&run, &rows(&run.new.plan), BTreeMap::new(), None);
    for (index, planned) in run.new.plan.cells().iter().enumerate() {
        let (subject, case) = (&planned.id.subject, planned.case);
        let link = format!("/token/runs/3/cells/{index}\">{subject} {case} via bookend-load</a>");
        assert!(page.contains(&link), "{link}");
    }
    assert!(page.contains("needs the least CPU"), "it is the page of the report");
}

#[test]
fn two_runs_are_told_apart_where_they_differ() {
    let (a, b) = (numbered(5), numbered(4));
    let slow = slowed("rust-tonic", 1.25);
    let own = rows(&a.new.plan);
    let page = pages().comparison((&a, &slow), (&b, &own));
    let words =
        "A answers more in 0 and fewer in 3, the rest is not told apart. Cells with a ratio: 12.";
    assert!(page.contains(words), "{page}");
    assert!(
        page.contains("<th>C=1 S=1<th>rust-tonic<th>bookend-load<td>0.800<td>0.800 - 0.800<td>7")
    );
    assert!(page.contains("<td>~1.00<td>"), "the others are not told apart");
    let same = pages().comparison((&a, &own), (&a, &own));
    assert!(same.contains("Nothing is compared: both sides are the same result."), "{same}");
}

#[test]
fn a_history_marks_the_run_that_changed_it() {
    let cell = cell("rust-tonic", "C=1 S=1");
    let past = |id: i64, factor: f64| PastFigure {
        run: numbered(id),
        rows: of_cell(slowed("rust-tonic", factor), &cell),
    };
    let mut upgraded = past(6, 1.25);
    upgraded.run.new.versions.insert("rust-tonic".to_owned(), "tonic 0.15".to_owned());
    upgraded.run.new.revision = Some("0123456789ab-dirty".to_owned());
    let all = [past(4, 1.0), past(5, 1.0), upgraded, past(7, 1.25)];
    let page = pages().history(&all[3].run, &cell, &all);
    assert!(page.contains("Changed in run 6. Runs with a figure: 4."), "{page}");
    assert!(page.contains("<td>0.800<td>0.800 - 0.800<td>tonic 0.15\n"), "{page}");
    assert_eq!(page.matches("<td>yes\n").count(), 1);
    assert_eq!(page.matches("<td>0123456789ab-dirty").count(), 1, "{page}");
    assert!(page.contains("run 6, 2024-02-29, 0123456789ab-dirty"), "{page}");
    assert!(page.contains("<svg ") && page.contains("fill1 stroke1"), "{page}");
    let none = pages().history(&all[0].run, &cell, &[]);
    assert!(
        none.contains("No change is told apart. Runs with a figure: 0.") && !none.contains("<svg ")
    );
}

#[test]
fn the_rows_of_a_cell_are_found_by_its_name() {
    let mut store = Store::in_memory().expect("opened");
    let id = store.begin_run(&new_run()).expect("begun");
    let all = rows(&new_run().plan);
    for round in 0..2 {
        let of_round: Vec<Row> = all.iter().filter(|row| row.round == round).cloned().collect();
        store.write_round(id, round, &of_round).expect("written");
    }
    let cell = cell("rust-tonic", "C=1 S=100");
    let found = store.rows_of_cell(id, &cell).expect("readable");
    assert_eq!(found.iter().map(|row| row.round).collect::<Vec<_>>(), [0, 1]);
    assert!(found.iter().all(|row| row.cell == cell));
    let other = CellId { subject: HOSTILE.to_owned(), ..cell };
    assert_eq!(store.rows_of_cell(id, &other).expect("readable"), []);
}

#[test]
fn hostile_text_stays_text_on_every_page() {
    let mut run = Run { finished: None, ..run() };
    run.new.plan.suite = HOSTILE.to_owned();
    run.new.plan.subjects[0].name = HOSTILE.to_owned();
    run.new.versions.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    run.new.revision = Some(HOSTILE.to_owned());
    let all = rows(&run.new.plan);
    let cell = run.new.plan.cells()[0].id.clone();
    let newest = listed(run.clone(), 2);
    let past = [
        PastFigure { run: numbered(2), rows: of_cell(all.clone(), &cell) },
        PastFigure { run: run.clone(), rows: of_cell(all.clone(), &cell) },
    ];
    let texts = [
        pages().list(HOSTILE, &[Ok(newest.clone())]),
        pages().result(&run, &all, BTreeMap::new(), Some(&newest)),
        pages().comparison((&run, &all), (&numbered(2), &all)),
        pages().history(&run, &cell, &past),
    ];
    for text in texts {
        assert_eq!(text.matches("<script>").count(), 1, "the page's own: {text}");
        assert!(!text.contains("<img") && !text.contains(['\u{1b}', '\u{202e}']));
        assert!(text.contains("&lt;script&gt;alert(1)"), "it is shown");
    }
}
