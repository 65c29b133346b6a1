//! The pages of a store: what leads where, what is distinguished, and what hostile text does to
//! them.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::run::Report;
use bookend_report::stored::{ListedRun, PastFigure, RunOutcome, StorePages};
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
    ListedRun { run, rounds, outcome: None }
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
    let mut unfinished = Run { finished: None, ..numbered(12) };
    unfinished.new.revision = Some("0123456789ab".to_owned());
    let page = pages().list("bookend.db", &[Ok(listed(numbered(3), 7)), Ok(listed(unfinished, 2))]);
    let links = ["href=\"/token/runs/12\">12<", "href=\"/token/runs/3\">3<"];
    let at = links.map(|link| page.find(link).unwrap_or_else(|| panic!("no {link}: {page}")));
    assert!(at[0] < at[1]);
    for part in [
        "bookend.db: 2 results, the newest first",
        ">2 of 7<td",
        ">not finished\n",
        ">7 of 7<td",
        ">ended\n",
        ">rust-pajamax, rust-tonic, rust-bookend<",
        ">0123456789ab<",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains(">All results</a>"), "it is that page");
    let empty = pages().list("bookend.db", &[]);
    assert!(empty.contains("there is no result yet") && !empty.contains("<button>"), "{empty}");
}

#[test]
fn the_list_says_who_won_and_the_newest_answer_stands_first() {
    let run = numbered(3);
    let rows = slowed("rust-pajamax", 1.25);
    let outcome = RunOutcome::of(&run, &rows);
    let answer = Report::new(&run, &rows).answer()[0].clone();
    assert_eq!(outcome.answer, answer);
    let winner = outcome.winner.clone().expect("three are compared");
    assert_eq!(winner.name, "rust-bookend");
    assert!(answer.starts_with(&winner.name), "{answer}");
    let won = ListedRun { outcome: Some(outcome), ..listed(run, 7) };
    let page = pages().list("bookend.db", &[Ok(won), Ok(listed(numbered(4), 7))]);
    for part in [&answer, &winner.name, &winner.over_next] {
        assert!(page.contains(part.as_str()), "{part}: {page}");
    }
    assert!(page.contains(&format!("<p>Run 3, invented: {answer}")), "{page}");
}

#[test]
fn two_that_do_not_differ_are_named_together() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    for row in &mut rows {
        if let Some(window) = row.outcome.window_mut() {
            window.ends.server.cpu_seconds = 0.5 + 0.1 * f64::from(row.round % 2);
            window.counts.ok = 1000 + u64::from(row.round) * 100;
        }
    }
    let winner = RunOutcome::of(&run, &rows).winner.expect("three are compared");
    assert!(winner.name.contains(" or ") && winner.over_next.starts_with('~'), "{winner:?}");
}

#[test]
fn runs_are_compared_by_ticks_of_which_the_newest_alike_are_set() {
    let mut other = numbered(4);
    other.new.plan.suite = "another".to_owned();
    let runs = [numbered(3), other, numbered(5)].map(|run| Ok(listed(run, 7)));
    let page = pages().list("bookend.db", &runs);
    let tick = |run: i64| format!("name=\"run\" value=\"{run}\" aria-label=\"compare run {run}\"");
    for (run, is_set) in [(5, true), (4, false), (3, true)] {
        let behind = page.split(&tick(run)).nth(1).unwrap_or_else(|| panic!("{run}: {page}"));
        assert_eq!(behind.starts_with(" checked>"), is_set, "{run}: {page}");
    }
    assert!(page.contains("action=\"/token/compare\"") && !page.contains("type=\"number\""));
    let one = pages().list("bookend.db", &runs[..1]);
    assert!(!one.contains("<button>"), "one run is compared with none: {one}");
}

#[test]
fn a_run_that_cannot_be_read_keeps_its_row() {
    let unreadable = UnreadableRun { id: RunId(9), reason: HOSTILE.to_owned() };
    let page = pages().list("bookend.db", &[Ok(listed(numbered(3), 7)), Err(unreadable)]);
    assert!(page.contains(">7 of 7<td"), "{page}");
    let row =
        "href=\"/token/runs/9\">9</a><td class=\"words\" colspan=\"9\">cannot be read: ../&lt;";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("2 results"), "{page}");
}

#[test]
fn the_newest_run_has_a_line_that_moves_until_it_ends() {
    let newest = listed(Run { finished: None, ..numbered(3) }, 2);
    let json = pages().progress(Some(&newest)).json();
    let event: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(event["text"], "Run 3, invented: 2 of 7 rounds are stored.");
    assert_eq!((&event["has_ended"], &event["address"]), (&false.into(), &"/token/runs/3".into()));
    let rows = rows(&newest.run.new.plan);
    let page = |run: &Run| pages().result(run, &rows, BTreeMap::new(), (None, Some(&newest)));
    assert!(page(&newest.run).contains("data-events=\"/token/events\""));
    assert!(!page(&numbered(2)).contains("data-events=\""), "another run's page does not move");
    let ended = pages().progress(Some(&listed(numbered(3), 7)));
    assert!(ended.json().contains("\"has_ended\":true"), "{}", ended.json());
}

#[test]
fn a_run_leads_to_the_history_of_each_cell() {
    let run = run();
    let page = pages().result(&run, &rows(&run.new.plan), BTreeMap::new(), (Some(RunId(2)), None));
    for (index, planned) in run.new.plan.cells().iter().enumerate() {
        let (subject, case) = (&planned.id.subject, planned.case);
        let link = format!("/token/runs/3/cells/{index}\">{subject} {case} via bookend-load</a>");
        assert!(page.contains(&link), "{link}");
    }
    assert!(page.contains("needs the least CPU"), "it is the page of the report");
    let before = "href=\"/token/compare?run=3&amp;run=2\">Compare with run 2, the one before<";
    assert!(page.contains(before), "{page}");
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
    let turned = "href=\"/token/compare?run=4&amp;run=5\">The other way round<";
    assert!(page.contains(turned), "{page}");
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
        none.contains("No change is distinguishable. Runs with a figure: 0.")
            && !none.contains("<svg ")
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
    let outcome = RunOutcome::of(&run, &all);
    let past = [
        PastFigure { run: numbered(2), rows: of_cell(all.clone(), &cell) },
        PastFigure { run: run.clone(), rows: of_cell(all.clone(), &cell) },
    ];
    let texts = [
        pages().list(HOSTILE, &[Ok(ListedRun { outcome: Some(outcome), ..newest.clone() })]),
        pages().result(&run, &all, BTreeMap::new(), (None, Some(&newest))),
        pages().comparison((&run, &all), (&numbered(2), &all)),
        pages().history(&run, &cell, &past),
    ];
    for text in texts {
        assert_eq!(text.matches("<script>").count(), 1, "the page's own: {text}");
        assert!(!text.contains("<img") && !text.contains(['\u{1b}', '\u{202e}']));
        assert!(text.contains("&lt;script&gt;alert(1)"), "it is shown");
    }
}
