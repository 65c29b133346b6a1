//! The report of a run as a page: its contents, and what text from elsewhere can do to it.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::chart::Theme;
use bookend_report::run::{ANSWER_LINES_MAX, Report};
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::{Record, file_of};
use bookend_results::store::Run;
use bookend_results::suite::Extent;
use std::path::Path;
use table_rows::{cell, row, rows, run};

/// What a server may answer, a person may call a suite, and a program may print.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> ](javascript:alert(3)) \
                       \u{1b}[31m\u{202e}\0";

fn report<'a>(run: &'a Run, rows: &'a [Row]) -> Report<'a> {
    Report::new(run, rows)
}

fn sound() -> (Run, Vec<Row>) {
    let run = run();
    let rows = rows(&run.new.plan);
    (run, rows)
}

/// A run with hostile text wherever text can be, and a line of a megabyte.
fn hostile() -> (Run, Vec<Row>) {
    let mut run = run();
    let endless = format!("{HOSTILE}{}", "a".repeat(1 << 20));
    run.new.plan.suite = format!("../../{HOSTILE}");
    run.new.suite_text = format!("name = {HOSTILE:?}");
    run.new.command = endless.clone();
    run.new.versions.insert(HOSTILE.to_owned(), endless.clone());
    run.new.plan.notes.push(endless.clone());
    run.new.plan.subjects[2].name = HOSTILE.to_owned();
    run.new.plan.subjects[0].instruments.push(format!("../{HOSTILE}"));
    let mut rows = rows(&run.new.plan);
    let failed = cell("rust-pajamax", "C=1 S=1");
    for one in rows.iter_mut().filter(|row| row.cell == failed) {
        *one = row(one.round, failed.clone(), Outcome::failed(&endless));
    }
    let Some(window) = rows[1].outcome.window_mut() else {
        panic!("it was measured");
    };
    window.counts.errors.insert(HOSTILE.to_owned(), 5);
    (run, rows)
}

fn recorded(suite: &str) -> Record {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Record::read(&file_of(&root.join("records"), suite, Extent::Full)).expect("a record")
}

#[test]
fn the_answer_comes_first_then_pictures_then_tables_then_what_they_rest_on() {
    let (run, rows) = sound();
    let report = report(&run, &rows);
    let page = report.html();
    let answer = report.answer();
    let parts = [
        "<h1>invented</h1>",
        answer[0].as_str(),
        ">Pictures</h2>",
        "<svg ",
        ">Tables</h2>",
        ">Method</h2>",
        "CPU: AMD EPYC 9754 128-Core Processor",
        "tonic 0.14.2",
        "bookend run invented --quick",
    ];
    let mut rest = page.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn every_ratio_to_the_baseline_is_in_a_table_with_its_interval() {
    let (run, rows) = sound();
    let page = report(&run, &rows).html();
    let heading = "Requests per CPU-second over those of rust-tonic</h3>";
    let table = page.split_once(heading).expect("its heading").1;
    let table = table.split_once("</table>").expect("its end").0;
    assert!(
        table.contains("<th scope=\"col\">from<th scope=\"col\">to<th scope=\"col\">rounds"),
        "{table}"
    );
    // Two subjects besides the baseline, in three cases.
    let body = table.split_once("<tbody").expect("a body").1;
    assert_eq!(body.matches("<tr").count(), 6, "{table}");
    assert!(!report(&run, &[]).html().contains(heading), "nothing was measured");
}

#[test]
fn the_answer_says_who_by_how_much_and_how_sure() {
    let (run, rows) = sound();
    let answer = report(&run, &rows).answer();
    assert!(answer.len() <= ANSWER_LINES_MAX, "{answer:?}");
    let text = answer.join("\n");
    for part in [
        "rust-bookend needs the least CPU: 6.",
        "times as many requests per CPU-second as rust-tonic, through bookend-load",
        "in the mean of 3 cases",
        "Next comes rust-pajamax",
        "7 rounds",
        "a quick run is a first look, not a result to be quoted",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_has_no_figures_is_in_the_answer() {
    let (run, mut rows) = sound();
    let failed = cell("rust-bookend", "C=1 S=1");
    for one in rows.iter_mut().filter(|row| row.cell == failed) {
        *one = row(one.round, failed.clone(), Outcome::failed("it left"));
    }
    let text = report(&run, &rows).answer().join("\n");
    assert!(text.contains("Not measured: rust-bookend (failed: it left)."), "{text}");
    let nothing = report(&run, &[]).answer();
    assert_eq!(nothing[0], "Nothing was measured: no cell of this run has a figure.");
}

#[test]
fn failed_calls_are_in_the_answer_and_have_a_picture() {
    let (run, mut rows) = sound();
    assert!(!report(&run, &rows).html().contains("The fate of every call"));
    for one in rows.iter_mut().filter(|row| row.cell.subject == "rust-bookend") {
        let window = one.outcome.window_mut().expect("measured");
        window.counts.errors.insert("UNAVAILABLE".to_owned(), window.counts.ok);
    }
    let report = report(&run, &rows);
    let text = report.answer().join("\n");
    let part = "Calls failed: 50.0 % of rust-bookend at C=1 S=1";
    assert!(text.contains(part), "{text}");
    assert!(report.html().contains("<h3>The fate of every call</h3>"));
}

#[test]
fn every_picture_has_its_numbers_and_a_file_of_its_own() {
    let (run, rows) = sound();
    let report = report(&run, &rows);
    let page = report.html();
    let pictures = report.named_pictures();
    assert!(pictures.len() >= 4, "{}", pictures.len());
    assert_eq!(page.matches("<figure id=").count(), pictures.len());
    assert_eq!(page.matches("<summary>The numbers</summary>").count(), pictures.len());
    for (name, picture) in &pictures {
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{name}");
        assert!(!picture.rows.is_empty(), "{name}");
        let fields = picture.headings.len();
        let complete = picture.rows.iter().all(|row| match &row.figures {
            Ok(figures) => row.names.len() + figures.len() == fields,
            Err(_) => row.names.len() < fields,
        });
        assert!(complete, "{name}");
        let file = picture.svg(Theme::Both);
        assert!(file.starts_with("<svg xmlns=") && file.contains("<style>"), "{name}");
        assert!(!file.contains("NaN") && !file.contains("inf"), "{name}: {file}");
    }
}

#[test]
fn a_page_loads_nothing_and_leads_nowhere() {
    let (run, rows) = sound();
    let page = report(&run, &rows).html();
    for from_elsewhere in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
}

#[test]
fn hostile_text_is_text_everywhere() {
    let (run, rows) = hostile();
    let report = report(&run, &rows);
    let page = report.html();
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    for element in ["<img", "<script>alert", "\"'>", "\u{1b}", "\u{202e}", "\0"] {
        assert!(!page.contains(element), "{element:?}");
    }
    for (name, picture) in report.named_pictures() {
        assert!(!name.contains(['/', '.', '<']), "{name}");
        let svg = picture.svg(Theme::Both);
        assert!(!svg.contains("<script") && !svg.contains("<img") && !svg.contains('\u{1b}'));
    }
    let text = report.text();
    assert!(!text.contains(['\u{1b}', '\0']), "control characters reach the terminal");
    assert!(!report.csv().lines().next().unwrap_or_default().contains('<'));
}

#[test]
fn no_markdown_outside_of_code_opens_an_element() {
    let (run, rows) = hostile();
    let page = report(&run, &rows).markdown();
    let mut is_code = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            assert!(!line.contains('<') && !line.contains("](javascript"), "{line}");
        }
    }
}

#[test]
fn a_line_of_a_megabyte_does_not_make_a_page_of_megabytes() {
    let (run, rows) = hostile();
    let report = report(&run, &rows);
    for text in [report.html(), report.markdown(), report.text()] {
        assert!(text.len() < 400_000, "{}", text.len());
    }
}

#[test]
fn the_largest_grid_is_a_small_page() {
    let record = recorded("pajamax-tonic");
    let run = record.run();
    let page = Report::new(&run, &record.rows).with_skips(record.facts.skips.clone()).html();
    // Every picture is in it twice, once for narrow screens.
    assert!(page.len() < 600_000, "{} bytes", page.len());
    assert!(page.contains("rust-pajamax/0.4.0-dispatch"));
}

/// The text outside of what a click opens.
fn open_text(page: &str) -> String {
    let mut open = String::new();
    let mut depth = 0;
    for piece in page.split_inclusive('>') {
        depth += usize::from(piece.contains("<details"));
        open.push_str(if depth == 0 { piece } else { "" });
        depth -= usize::from(piece.contains("</details"));
    }
    open
}

#[test]
fn many_pictures_of_a_kind_and_long_tables_are_behind_a_click() {
    let record = recorded("clients-of-servers");
    let page = Report::new(&record.run(), &record.rows).html();
    let open = open_text(&page);
    let pictures = |text: &str, kind: &str| text.matches(&format!("<h3>{kind}, ")).count();
    for kind in ["Requests per CPU-second", "Memory"] {
        assert_eq!((pictures(&page, kind), pictures(&open, kind)), (10, 3), "{kind}");
        assert!(page.contains(&format!("<summary>7 more pictures: {kind}</summary>")));
    }
    assert!(page.matches("<tr>").count() > 1_000);
    assert!(open.matches("<tr>").count() < 100, "{}", open.matches("<tr>").count());
}
