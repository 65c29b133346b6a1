//! No form of a result hides calls that failed: a run with a cell in which 26.4 % failed and one in
//! which 0.5 % did, through all of them.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::report::Intervals;
use bookend_report::chart::{Chart, ChartMetric, ChartSelection, Theme};
use bookend_report::comparison::comparison_text;
use bookend_report::run::Report;
use bookend_report::stored::{PastFigure, StorePages};
use bookend_report::tables::{calibration_lines, connection_table, instrument_table, sheets};
use bookend_results::compare::{ComparedSide, compare};
use bookend_results::measurement::{CellId, Outcome, Row};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::store::{Run, RunId};
use bookend_results::table::rules_of;
use table_rows::{cell, rows, run};

const MANY: &str = "26.4 %";
const SOME: &str = "0.5 %";

/// Of a thousand calls in a cell, those that fail.
fn failing(cell: &CellId) -> u64 {
    match (cell.subject.as_str(), cell.case.to_string().as_str()) {
        ("rust-pajamax", "C=1 S=100" | "C=1 S=100 tls") | ("rust-floor", "C=1 S=1") => 264,
        ("rust-tonic", "C=100 S=100") => 5,
        _ => 0,
    }
}

/// Each cell by two instruments and counted by interval, over plain text and over TLS.
fn failed() -> (Run, Vec<Row>) {
    let mut run = run();
    let plan = &mut run.new.plan;
    plan.cases.push("C=1 S=100 tls".parse().expect("a case"));
    plan.subjects.iter_mut().for_each(|subject| subject.instruments.push("ghz".into()));
    let mut rows = rows(plan);
    for row in &mut rows {
        let share = failing(&row.cell);
        let Outcome::Measured(window) = &mut row.outcome else {
            continue;
        };
        let failed = window.counts.ok * share / (1000 - share);
        window.counts.errors.insert("UNAVAILABLE".into(), failed);
        let counts = vec![window.counts.ok / 10; 12];
        window.intervals = Some(Intervals { interval_ms: 100, window_start: 2, counts });
    }
    (run, rows)
}

fn has_both(form: &str, text: &str) {
    for share in [MANY, SOME] {
        assert!(text.contains(share), "{form} hides {share}: {text}");
    }
}

#[test]
fn no_table_of_a_run_hides_them() {
    let (run, rows) = failed();
    let report = Report::new(&run, &rows);
    let table = report.table();
    let texts = [
        ("brief", report.brief(100, &[])),
        ("text", report.text()),
        ("markdown", report.markdown()),
        ("html", report.html()),
        ("instruments", instrument_table(table).expect("two instruments")),
    ];
    for (form, text) in &texts {
        has_both(form, text);
        assert!(text.contains("! rust-pajamax") && text.contains("! rust-tonic"), "{form}: {text}");
        assert!(!text.contains("! rust-bookend"), "{form}: {text}");
    }
    for sheet in sheets(table) {
        let fields: Vec<String> =
            sheet.rows.iter().flat_map(|row| row.fields.clone().expect("figures")).collect();
        has_both(sheet.title, &fields.join(" "));
        assert_eq!(sheet.headings.last().map(String::as_str), Some("failed"), "{}", sheet.title);
    }
    let connections = connection_table(table).expect("two transports");
    assert!(connections.contains("26.4 % over 26.4 %"), "{connections}");
    let floor = calibration_lines(table);
    assert!(floor.contains(", 26.4 % of the calls failed\n"), "{floor}");
    // After a ratio in a heading, whichever of the two failed.
    let text = report.text();
    assert!(text.contains("^6.2-26.4 %-failed"), "{text}");
    assert!(text.contains("^6.2-0 over 0.5 %-failed"), "{text}");
    let html = report.html();
    assert!(html.contains("<td>0 over 0.5 %"), "the table of ratios has no row of the baseline");
}

#[test]
fn tables_have_no_column_of_zeros() {
    let run = run();
    let rows = rows(&run.new.plan);
    let report = Report::new(&run, &rows);
    assert!(
        !report.text().contains("failed") && !report.html().contains("<th scope=\"col\">failed")
    );
}

#[test]
fn no_export_hides_them() {
    let (run, rows) = failed();
    let report = Report::new(&run, &rows);
    let csv = report.csv();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let headings = lines.next().expect("headings");
    let at = headings.iter().position(|name| *name == "error_share").expect("its column");
    let shares: Vec<f64> = lines.filter_map(|line| line.get(at)?.parse().ok()).collect();
    let has = |share: f64| shares.iter().any(|one| (one - share).abs() < 0.001);
    assert!(has(0.264) && has(0.005), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&report.json()).expect("JSON");
    let cells = json["cells"].as_array().expect("cells");
    let share = |cell: &serde_json::Value| {
        cell["result"]["measured"]["figures"]["error_share"]["value"].as_f64()
    };
    let shares: Vec<f64> = cells.iter().filter_map(share).collect();
    let has = |share: f64| shares.iter().any(|one| (one - share).abs() < 0.001);
    assert!(has(0.264) && has(0.005), "{shares:?}");
}

#[test]
fn no_picture_with_a_figure_of_calls_hides_them() {
    let (run, rows) = failed();
    let pictures = Report::new(&run, &rows).pictures();
    let titles = ["Requests per CPU-second", "Rate over the time", "Latency by", "Memory"];
    for title in titles {
        let own: Vec<_> =
            pictures.iter().filter(|picture| picture.title.starts_with(title)).collect();
        assert!(!own.is_empty(), "{title}");
        for picture in own {
            for theme in [Theme::Light, Theme::Page] {
                let svg = picture.svg(theme);
                assert!(svg.contains(">! 26.4 %<") && svg.contains(">! 0.5 %<"), "{title}: {svg}");
            }
            let svg = picture.svg(Theme::Light);
            assert!(svg.contains("; ! N %: share of calls that failed<"), "{title}");
            assert!(picture.rows.iter().any(|row| row.names[1] == "! rust-pajamax"), "{title}");
        }
    }
    let report = Report::new(&run, &rows);
    for (at, failed) in [("C=1 S=100", MANY), ("C=100 S=100", SOME)] {
        for metric in [ChartMetric::Cpu, ChartMetric::Rate] {
            let case = Some(at.parse().expect("a case"));
            let wanted = ChartSelection { case, metric, ..ChartSelection::default() };
            let chart = Chart::of(report.table(), &wanted, at.to_owned());
            let svg = chart.expect("a chart").svg(Theme::Light);
            assert!(svg.contains(&format!("! {failed} failed<")), "{svg}");
            assert!(svg.contains(">! rust-pajamax<") || svg.contains(">! rust-tonic<"), "{svg}");
        }
    }
    let html = report.html();
    assert!(html.contains("A figure behind ! is the share of the calls that failed there."));
}

#[test]
fn the_answer_says_it_where_it_says_the_ratio() {
    let (run, rows) = failed();
    let lines = Report::new(&run, &rows).answer();
    let of_pajamax = "! rust-pajamax (26.4 % of its calls failed at C=1 S=100)";
    let is_told =
        |line: &&String| line.contains("rust-pajamax") && !line.starts_with("Calls failed");
    let with_ratio: Vec<&String> = lines.iter().filter(is_told).collect();
    assert!(!with_ratio.is_empty(), "{lines:#?}");
    for line in with_ratio {
        assert!(
            line.contains(of_pajamax) || line.contains("while 26.4 % of rust-pajamax's"),
            "{line}"
        );
        assert!(line.contains("! rust-tonic") || !line.contains("rust-tonic,"), "{line}");
    }
    let listed = lines.iter().find(|line| line.starts_with("Calls failed: ")).expect("a line");
    assert!(listed.contains(MANY), "the largest shares are named first: {listed}");
    // Without a baseline nothing is compared, and a cost alone is a figure too.
    let mut alone = run.clone();
    alone.new.plan.subjects.iter_mut().for_each(|subject| subject.baseline = false);
    let lines = Report::new(&alone, &rows).answer();
    let told = |line: &String| {
        let costs = line.strip_prefix("Requests per CPU-second: ! rust-pajamax ");
        costs.is_some_and(|costs| costs.contains("(26.4 % of its calls failed at C=1 S=100), "))
    };
    assert!(lines.iter().any(told), "{lines:#?}");
}

#[test]
fn a_window_of_which_many_calls_failed_is_marked_by_rule() {
    let (run, rows) = failed();
    let rules = |subject: &str, at: &str| {
        let row = rows.iter().find(|row| row.cell == cell(subject, at)).expect("a row");
        rules_of(&run.new.plan, row).contains("calls-failed")
    };
    assert!(rules("rust-pajamax", "C=1 S=100") && rules("rust-tonic", "C=100 S=100"));
    assert!(!rules("rust-bookend", "C=1 S=100"));
    let marks = Report::new(&run, &rows).text();
    assert!(marks.contains("26.4 % of the calls failed (7 of 7 rounds)"), "{marks}");
}

/// A round in which every call failed is not outvoted by the others.
#[test]
fn the_share_is_of_all_rounds_together() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    let own = cell("rust-pajamax", "C=1 S=100");
    let row = rows.iter_mut().find(|row| row.cell == own).expect("a row");
    let window = row.outcome.window_mut().expect("measured");
    window.counts.errors.insert("UNAVAILABLE".into(), window.counts.ok * 9);
    let report = Report::new(&run, &rows);
    let share = report.table().failed_share_of(&own).expect("some failed").share();
    assert!((0.4..0.6).contains(&share), "{share}");
}

#[test]
fn no_comparison_hides_them() {
    let (_, rows) = failed();
    let side = |subject| ComparedSide { run: RunId(1), rows: &rows, subject: Some(subject) };
    let (a, b) = (side("rust-pajamax"), side("rust-tonic"));
    let comparison = compare(&a, &b, &REQUESTS_PER_CPU_SECOND).expect("comparable");
    let text = comparison_text(&comparison);
    assert!(text.contains(" failed |"), "{text}");
    assert!(
        text.contains("0 over 0.5 %") && text.contains("! rust-pajamax / rust-tonic"),
        "{text}"
    );
    assert!(text.contains(", while 26.4 % of rust-pajamax's calls failed."), "{text}");
    let gate = bookend_contract::gate::Gate {
        kind: bookend_contract::gate::GateKind::Slo,
        condition: "ratio>=0.95".parse().expect("a condition"),
    };
    let judged = comparison.judge(&gate);
    let told = judged.iter().filter(|one| one.measured.ends_with("of rust-pajamax's calls failed"));
    assert_eq!(told.count(), 4, "{judged:#?}");
}

#[test]
fn no_page_of_a_store_hides_them() {
    let (run, rows) = failed();
    let sound = table_rows::rows(&run.new.plan);
    let pages = StorePages::below("/");
    let other = Run { id: RunId(4), ..run.clone() };
    let compared = pages.comparison((&run, &rows), (&other, &sound));
    has_both("comparison", &compared);
    assert!(compared.contains("Calls failed: 26.4 % of rust-pajamax at C=1 S=100"), "{compared}");
    let own = cell("rust-pajamax", "C=1 S=100");
    let of_cell = |rows: &[Row]| rows.iter().filter(|row| row.cell == own).cloned().collect();
    let past = [
        PastFigure { run: run.clone(), rows: of_cell(&rows) },
        PastFigure { run: other, rows: of_cell(&sound) },
    ];
    let history = pages.history(&run, &own, &past);
    for part in [" ! 26.4 % failed<", "<td>26.4 %", "Calls failed: 26.4 % of those of run 3"] {
        assert!(history.contains(part), "{part}: {history}");
    }
    let result = pages.result(&run, &rows, Default::default(), (None, None));
    has_both("result", &result);
}
