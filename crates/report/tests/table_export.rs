//! A run as text, Markdown, CSV and JSON.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::printable::is_printable;
use bookend_report::run::Report;
use bookend_results::audit::Rule;
use bookend_results::declaration::DeclarationError;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::metric;
use bookend_results::store::Run;
use bookend_results::suite::{Overrides, Plan, Selection, Suite};
use serde_json::Value;
use std::path::Path;
use table_rows::{cell, row, rows, run};

fn rows_with_a_failure() -> Vec<Row> {
    let mut rows = rows(&run().new.plan);
    let failed = cell("rust-bookend", "C=1 S=1");
    for one in rows.iter_mut().filter(|row| row.cell == failed) {
        let error = "said \"no\", and left".to_owned();
        *one = row(one.round, failed.clone(), Outcome::failed(error));
    }
    rows
}

#[test]
fn the_page_says_where_with_what_how_and_how_again() {
    let (run, rows) = (run(), rows(&run().new.plan));
    let page = Report::new(&run, &rows).markdown();
    let expected = [
        "# invented\n",
        "Run 3 of suite invented, started 2024-02-29T12:34:56Z, finished 2024-02-29T12:36:36Z.",
        "## Machine",
        "CPU: AMD EPYC 9754 128-Core Processor, 2 CPUs (virtual machine)",
        "## Parameters",
        "- rounds: 7 (7 stored)",
        "rust-tonic: tonic 0.14.2\n",
        "- GRPC_CLIENT_CPUS=12: this machine has 2 CPUs in all",
        "- round 2 was measured twice",
        &pinned("published"),
        &pinned("cost"),
        &pinned("resource"),
        &pinned("cpu_account"),
        "bookend run invented --quick",
    ];
    let mut rest = page.as_str();
    for part in expected {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place in\n{page}"));
        rest = &rest[at + part.len()..];
    }
    assert!(!page.contains("## Marks"), "a sound run has none");
}

#[test]
fn a_window_that_ends_with_its_calls_has_no_length() {
    let mut run = run();
    let length = "- window: 1000 ms\n";
    assert!(Report::new(&run, &[]).text().contains(length));
    let calls = "C=1 S=100 calls=1000".parse().expect("a case");
    run.new.plan.cases.push(calls);
    assert!(Report::new(&run, &[]).text().contains(length), "some have one");
    run.new.plan.cases = vec![calls];
    assert!(!Report::new(&run, &[]).text().contains("window:"));
}

#[test]
fn a_shortened_run_says_so_wherever_it_is_shown() {
    let mut run = run();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/transports");
    let suite = Suite::read(Path::new(folder)).expect("a suite");
    let overrides = Overrides::from_environment([("GRPC_BENCHMARK_DURATION", "700ms")]);
    let whole = suite.plan(&Selection::default(), &Overrides::default(), 2).expect("a plan");
    let short = suite.plan(&Selection::default(), &overrides.expect("readable"), 2);
    run.new.suite_text.clone_from(&suite.text);
    run.new.command = "GRPC_BENCHMARK_DURATION=700ms bookend run transports".to_owned();
    let said = |run: &Run| {
        let rows: Vec<Row> = (0..10).flat_map(|round| rows_of(&run.new.plan, round)).collect();
        let report = Report::new(run, &rows);
        let json: Value = serde_json::from_str(&report.json()).expect("JSON");
        (report.text(), report.markdown(), json["scope"].clone(), json["quotable"].clone())
    };
    run.new.plan = short.expect("a plan");
    let (text, page, scope, quotable) = said(&run);
    let shortened = "full, shortened: window 700ms instead of 2s";
    for part in [shortened, "environment: GRPC_BENCHMARK_DURATION=700ms", &run.new.command] {
        assert!(text.contains(part) && page.contains(part), "{part}: {text}");
    }
    assert_eq!((scope, quotable), (Value::from(shortened), Value::from(false)));
    run.new.plan = whole;
    let (_, _, scope, quotable) = said(&run);
    assert_eq!((scope, quotable), (Value::from("full"), Value::from(true)));
    run.finished = None;
    assert_eq!(said(&run).3, Value::from(false), "half a run");
}

/// A row for every cell.
fn rows_of(plan: &Plan, round: u32) -> Vec<Row> {
    plan.cells().into_iter().map(|cell| row(round, cell.id, Outcome::failed("x"))).collect()
}

#[test]
fn the_prose_of_the_suite_stands_above_its_figures() {
    let mut run = run();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/pajamax-tonic/suite.toml");
    run.new.suite_text = std::fs::read_to_string(folder).expect("readable");
    run.new.plan.suite = "pajamax-tonic".into();
    let page = Report::new(&run, &[]).markdown();
    let title = "# pajamax and tonic over the published grid of connections and streams\n\n";
    assert!(page.starts_with(title), "{page}");
    assert!(page.contains("\nBy the published table pajamax answers"), "{page}");
}

#[test]
fn the_terminal_shows_notes_above_and_marks_below_the_table() {
    let (run, rows) = (run(), rows_with_a_failure());
    let text = Report::new(&run, &rows).text();
    let note = text.find("note: GRPC_CLIENT_CPUS=12").expect("the note");
    let table = text.find("| name ").expect("the table");
    let mark =
        text.find("mark: C=1 S=1 rust-bookend: failed: said \"no\", and left").expect("the mark");
    assert!(note < table && table < mark, "{text}");
}

#[test]
fn the_sheet_has_a_line_a_cell_and_quotes_what_needs_it() {
    let (run, rows) = (run(), rows_with_a_failure());
    let sheet = Report::new(&run, &rows).csv();
    let lines: Vec<Vec<String>> = sheet.split_terminator("\r\n").map(fields).collect();
    assert_eq!(lines.len(), 13);
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{sheet}");
    let column = |name: &str| lines[0].iter().position(|field| field == name).expect("a column");
    let failed = &lines[3];
    assert_eq!(failed[column("subject")], "rust-bookend");
    assert_eq!(failed[column("result")], "failed: said \"no\", and left");
    assert_eq!(failed[column("requests_per_second")], "");
    assert_eq!(lines[2][column("requests_per_second")], "7140");
    assert_eq!(lines[2][column("rank")], "baseline");
}

/// Takes a line of RFC 4180 apart.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut().expect("never empty");
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => field.push(character),
        }
    }
    fields
}

#[test]
fn the_document_holds_every_raw_row() {
    let (run, rows) = (run(), rows_with_a_failure());
    let document: Value = serde_json::from_str(&Report::new(&run, &rows).json()).expect("JSON");
    assert_eq!(document["schema_version"], 2);
    assert_eq!(document["started"], "2024-02-29T12:34:56Z");
    assert_eq!(document["seed"], u64::MAX - 7);
    assert_eq!(document["plan"]["cases"][1], "C=1 S=100");
    assert_eq!(document["cells"].as_array().map(Vec::len), Some(12));
    let stored: Vec<Row> = serde_json::from_value(document["rows"].clone()).expect("rows");
    assert_eq!(stored, rows);
    assert_eq!(document["cells"][2]["result"]["not_measured"]["why"], "failed");
    let ratio = &document["cells"][0]["result"]["measured"]["cost_ratio"]["of"];
    assert_eq!(ratio["pairs"], 7);
    let figures = &document["cells"][1]["result"]["measured"]["figures"];
    assert_eq!(figures["requests_per_second"]["value"], 7140.0);
}

fn page(name: &str) -> String {
    let file = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A pinned table, as it is now: `UPDATE_EXPECT=1` may have made it again.
fn pinned(table: &str) -> String {
    let file = format!("{}/tests/table_snapshots/{table}.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The tables, and the sections of metrics.md that define their columns.
const DEFINED: [(&str, &str); 4] = [
    ("published", "## The published table\n"),
    ("cost", "## Cost\n"),
    ("resource", "## Latency and memory\n"),
    ("cpu_account", "## Where the machine's CPU went\n"),
];

#[test]
fn every_column_is_defined_in_the_section_of_its_table() {
    let metrics = page("measure/metrics.md");
    for (table, heading) in DEFINED {
        let section = metrics.split(heading).nth(1).expect(heading);
        let section = section.split("\n## ").next().expect("its rows");
        // What a row defines is in its first cell.
        let names: String =
            section.lines().filter_map(|row| row.strip_prefix('|')?.split('|').next()).collect();
        let table = pinned(table);
        let titles = table.lines().nth(1).expect("a heading").split('|').map(str::trim);
        for title in titles.filter(|title| !["", "name"].contains(title)) {
            let is_defined = names.contains(&format!("`{title}`"));
            assert!(
                is_defined,
                "docs/measure/metrics.md: no row below {heading:?} begins with `{title}`"
            );
        }
    }
}

#[test]
fn every_figure_of_the_sheet_and_every_rule_is_defined() {
    let metrics = page("measure/metrics.md");
    let (run, rows) = (run(), rows(&run().new.plan));
    let sheet = Report::new(&run, &rows).csv();
    let columns = sheet
        .lines()
        .next()
        .expect("a heading")
        .split(',')
        .map(|name| name.trim_end_matches("_low").trim_end_matches("_high"))
        .map(|name| name.trim_end_matches("_ns").trim_end_matches("_bytes"));
    for name in columns.chain(Rule::ALL.iter().map(|rule| rule.name())) {
        assert!(
            metrics.contains(&format!("`{name}`")),
            "docs/measure/metrics.md does not define {name}"
        );
    }
}

#[test]
fn the_catalogue_stands_in_the_documentation_as_it_is() {
    let catalogue = metric::markdown();
    assert!(
        page("measure/metrics.md").contains(&catalogue),
        "docs/measure/metrics.md must have this table:\n{catalogue}"
    );
}

#[test]
fn the_example_of_the_suite_format_is_a_suite_and_no_key_is_left_out() {
    let format = page("extend/suite-format.md");
    let example = format
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("an example");
    let folder = Path::new("suites/pajamax-tonic");
    Suite::parse(folder, example).unwrap_or_else(|error| panic!("{error}"));
    for table in ["", "[request]", "[limits]", "[[subjects]]", "[full]"] {
        // An unknown key makes the parser list all that may stand there.
        let wrong = match table {
            "" => format!("qqqqqqqq = 1\n{example}"),
            table => example.replacen(table, &format!("{table}\nqqqqqqqq = 1"), 1),
        };
        match Suite::parse(folder, &wrong) {
            Err(DeclarationError::UnknownKey { expected, .. }) => {
                for key in expected {
                    let known = format.contains(&format!("`{key}`"))
                        || format.contains(&format!("`[{key}]`"))
                        || format.contains(&format!("`[[{key}]]`"));
                    assert!(known, "docs/extend/suite-format.md does not explain {key}");
                }
            }
            other => panic!("{table}: {other:?}"),
        }
    }
}

/// What somebody else's store may have for a name: a formula, escapes, a forged line, a column of a
/// table, a fence, markup, and what turns the direction of writing.
const HOSTILE: &str = "=HYPERLINK(\"http://a\")\u{1b}]0;x\u{7}\r\nforged\u{9b}2J\u{7f}\u{2028}\u{202e}\u{2066}|\
                       \n   ```\n<img src=x onerror=y>[a](javascript:b)";

#[test]
fn names_of_a_foreign_store_do_nothing_to_a_terminal_a_page_or_a_spreadsheet() {
    let mut run = run();
    run.new.plan.suite = HOSTILE.into();
    run.new.command = HOSTILE.into();
    run.new.machine.kernel = HOSTILE.into();
    run.new.plan.subjects[0].name = HOSTILE.into();
    run.new.versions.insert(HOSTILE.into(), HOSTILE.into());
    run.new.plan.variables.insert(HOSTILE.into(), HOSTILE.into());
    run.notes.push(HOSTILE.into());
    let rows = rows(&run.new.plan);
    let skips = [(HOSTILE.to_owned(), vec![HOSTILE.to_owned()])].into();
    let report = Report::new(&run, &rows).with_skips(skips);
    let (csv, page, json) = (report.csv(), report.markdown(), report.json());
    for text in [&report.brief(100, &[]), &report.text(), &page, &json] {
        let acts = |letter: char| letter != '\n' && !is_printable(letter);
        assert!(!text.contains(acts), "{text:?}");
        assert!(!text.contains("\nforged") && !text.contains("\n   ```\n"), "{text}");
    }
    let (mut fence, mut outside) = (None, String::new());
    for line in page.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            None if line.starts_with("```") => fence = Some(line),
            None => outside += line,
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "{page}");
    assert!(!outside.contains("<img") && !outside.contains("](javascript"), "{outside}");
    let stored: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(stored["plan"]["suite"], HOSTILE);

    let lines: Vec<Vec<String>> = csv.split_terminator("\r\n").map(fields).collect();
    assert_eq!(lines.len(), 13);
    for field in lines.iter().flatten() {
        assert!(field.chars().all(is_printable), "{field:?}");
        assert!(
            field.parse::<f64>().is_ok() || !field.starts_with(['=', '+', '-', '@']),
            "{field}"
        );
    }
    let column = lines[0].iter().position(|field| field == "subject").expect("a column");
    assert!(lines[1][column].starts_with("'=HYPERLINK(\"http://a\") ]0;x"), "{lines:?}");
}
