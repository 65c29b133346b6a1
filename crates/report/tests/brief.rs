//! What `bookend run` prints: to the last blank, on terminals of 100 and of 60 columns.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::latency;
use bookend_contract::transport::Transport;
use bookend_report::run::Report;
use bookend_results::mark::Mark;
use bookend_results::measurement::{Measurement, Outcome, Row};
use bookend_results::store::Run;
use bookend_results::table::{ACK_WAITS, CUT};
use expect_test::expect_file;
use std::collections::BTreeMap;
use table_rows::{cell, rows, run};

/// What the command says below it.
fn next() -> Vec<String> {
    ["instrument: never checked", "See it: bookend report 3"].map(str::to_owned).to_vec()
}

fn skips(subject: &str) -> BTreeMap<String, Vec<String>> {
    let skips = [ACK_WAITS, CUT[0]].map(str::to_owned).to_vec();
    BTreeMap::from([(subject.to_owned(), skips)])
}

fn windows<'r>(
    rows: &'r mut [Row],
    subject: &str,
    case: &str,
) -> impl Iterator<Item = &'r mut Measurement> {
    let own = cell(subject, case);
    let own = rows.iter_mut().filter(move |row| row.cell == own);
    own.filter_map(|row| row.outcome.window_mut())
}

/// Two servers of which one waits for acknowledgements, measured on a machine with other work.
fn waiting() -> (Run, Vec<Row>) {
    let mut run = run();
    run.new.plan.subjects.remove(2);
    run.new.plan.cases.pop();
    let mut rows = rows(&run.new.plan);
    let mut waits = latency::empty();
    latency::record(&mut waits, 41_000_000, 1_000);
    for window in windows(&mut rows, "rust-pajamax", "C=1 S=100") {
        window.counts.ok = 2_400;
        window.ends.server.cpu_seconds = 0.0035;
        window.latency_histogram = latency::encode(&waits);
    }
    for window in windows(&mut rows, "rust-tonic", "C=1 S=100") {
        let (cpus, share) = (vec![0], 0.29);
        window.marks = vec![Mark::Steal { share: 0.031 }, Mark::ForeignProcess { cpus, share }];
    }
    for window in windows(&mut rows, "rust-tonic", "C=1 S=1") {
        window.generator.busy_seconds = Some(window.window_seconds);
    }
    (run, rows)
}

#[test]
fn a_first_look_fits_a_terminal_of_100_columns_and_one_of_60() {
    let (run, rows) = waiting();
    let report = Report::new(&run, &rows).with_skips(skips("rust-pajamax"));
    expect_file!["table_snapshots/brief_100.txt"].assert_eq(&report.brief(100, &next()));
    expect_file!["table_snapshots/brief_60.txt"].assert_eq(&report.brief(60, &next()));
    // A wider terminal changes nothing.
    assert_eq!(report.brief(250, &next()), report.brief(100, &next()));
}

/// Something of everything: long names, several instruments and transports, calls that failed, rows
/// without figures, marks.
fn troubled() -> (Run, Vec<Row>) {
    let mut run = run();
    let tls = run.new.plan.cases[1].over(Transport::Tls);
    run.new.plan.cases.extend([tls, "C=4 S=4 per-call calls=5000".parse().expect("a case")]);
    for subject in &mut run.new.plan.subjects {
        subject.name += "/a-variant-whose-name-is-quite-long";
        subject.instruments.push("ghz/with-flags-that-have-a-long-name-as-well".into());
    }
    let mut rows = rows(&run.new.plan);
    for (at, row) in rows.iter_mut().enumerate() {
        let Outcome::Measured(window) = &mut row.outcome else {
            continue;
        };
        match at % 5 {
            0 => row.outcome = Outcome::failed("the server ended; ".repeat(200)),
            1 => {
                window.counts.errors.insert("DEADLINE_EXCEEDED".into(), window.counts.ok);
                window.counts.errors.insert("x".repeat(130), 1);
            }
            2 => window.marks = vec![Mark::other("y".repeat(130)), Mark::Steal { share: 0.5 }],
            _ => window.generator.busy_seconds = Some(window.window_seconds),
        }
    }
    (run, rows)
}

#[test]
fn no_line_is_longer_than_the_terminal_is_wide() {
    let runs = [waiting(), troubled()];
    for (run, rows) in &runs {
        let first = run.new.plan.subjects[0].name.clone();
        let report = Report::new(run, rows).with_skips(skips(&first));
        for columns in [40, 60, 80, 100] {
            let text = report.brief(columns, &next());
            let long: Vec<&str> =
                text.lines().filter(|line| line.chars().count() > columns).collect();
            assert_eq!(long, [""; 0], "{columns}: {text}");
            let is_blank = |line: &str| line.ends_with(' ');
            assert!(!text.lines().any(is_blank), "{text}");
        }
    }
}

#[test]
fn names_are_whole_on_every_terminal_that_has_room_for_them() {
    let (run, rows) = troubled();
    for columns in [80, 100] {
        let text = Report::new(&run, &rows).brief(columns, &[]);
        for subject in run.new.plan.subjects.iter().filter(|one| !one.calibration) {
            assert!(text.contains(&subject.name), "{} in {text}", subject.name);
        }
    }
}

#[test]
fn the_sentence_is_the_first_and_the_last_that_is_read() {
    for (run, rows) in [waiting(), troubled(), (run(), Vec::new())] {
        let report = Report::new(&run, &rows);
        for columns in [60, 100] {
            let text = report.brief(columns, &next());
            let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
            let headline = words(&report.headline());
            let paragraphs: Vec<&str> = text.split("\n\n").collect();
            let ends = [paragraphs[0], paragraphs[paragraphs.len() - 1]];
            assert_eq!(ends.map(words), [headline.clone(), headline], "{text}");
            assert!(text.contains("\nSee it: bookend report 3\n\n"), "{text}");
        }
    }
}

#[test]
fn a_busy_machine_is_said_once_with_its_worst_figures() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    assert!(!Report::new(&run, &rows).brief(100, &[]).contains("busy"));
    for (at, subject) in ["rust-tonic", "rust-pajamax", "rust-floor"].into_iter().enumerate() {
        for window in windows(&mut rows, subject, "C=1 S=1") {
            let share = 0.1 * (at + 1) as f64;
            let foreign = Mark::ForeignProcess { cpus: vec![at], share };
            window.marks.extend([foreign, Mark::Steal { share: share / 10.0 }]);
        }
    }
    let text = Report::new(&run, &rows).brief(200, &[]);
    let said = "This machine was busy, so run it again when it is idle: other processes used up to \
                30.0 % of a CPU and the hypervisor took up to 3.0 % of the CPU time, in 21 of 84 \
                windows.";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&text).contains(said), "{text}");
    for word in ["steal", "foreign"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    // The full report has them row by row.
    assert!(Report::new(&run, &rows).text().contains("foreign process on CPU 0"));
}

#[test]
fn every_other_mark_has_a_line_for_its_kind_with_its_rows() {
    let run = run();
    let mut rows = rows(&run.new.plan);
    for subject in ["rust-tonic", "rust-pajamax"] {
        for (round, window) in windows(&mut rows, subject, "C=1 S=1").enumerate() {
            window.ends.server.cpu_seconds = if round > 4 { 0.48 } else { 0.97 };
        }
    }
    let kept = Mark::other("it said `late`");
    windows(&mut rows, "rust-bookend", "C=1 S=1")
        .for_each(|window| window.marks.push(kept.clone()));
    let text = Report::new(&run, &rows).brief(100, &[]);
    let kind = "\nrounds disagree: C=1 S=1 rust-pajamax, C=1 S=1 rust-tonic\n";
    let whole = "\nit said `late` (7 of 7 rounds): C=1 S=1 rust-bookend\n";
    assert!(text.contains(kind) && text.contains(whole), "{text}");
}

#[test]
fn the_legend_has_at_most_three_lines_and_no_sign_that_is_not_there() {
    let legend = |report: Report<'_>| {
        let text = report.brief(100, &[]);
        let paragraphs = text.split("\n\n").map(str::to_owned);
        paragraphs
            .filter(|part| part.starts_with("CPU/call and CPU: "))
            .collect::<Vec<_>>()
            .concat()
    };
    let run = run();
    let sound = legend(Report::new(&run, &rows(&run.new.plan)));
    assert!(sound.contains("ratio: CPU/call of rust-tonic over the row's"), "{sound}");
    assert!(!sound.contains(['~', '?', '>', '!']), "{sound}");
    let (run, rows) = troubled();
    let all = legend(Report::new(&run, &rows));
    assert!(all.contains("~: not told apart from 1. >=: at least."), "{all}");
    let (run, rows) = waiting();
    let words = legend(Report::new(&run, &rows).with_skips(skips("rust-pajamax")));
    assert!(words.contains("\ncloses on messages in pieces: "), "{words}");
    for legend in [sound, all, words] {
        assert!((1..=3).contains(&legend.lines().count()), "{legend}");
    }
}

#[test]
fn a_row_says_in_words_what_is_odd_about_it() {
    let (run, mut rows) = waiting();
    for window in windows(&mut rows, "rust-tonic", "C=1 S=100") {
        window.counts.errors.insert("UNAVAILABLE".into(), window.counts.ok);
    }
    let report = Report::new(&run, &rows).with_skips(skips("rust-pajamax"));
    let text = report.brief(100, &[]);
    for words in [
        "waits for a delayed ACK; closes on messages in pieces",
        "the load generator was the limit",
        "failed with UNAVAILABLE",
    ] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let meaning = "waits for a delayed ACK: up to 40 ms; req/s, CPU and p99 measure that wait";
    assert_eq!(text.matches(meaning).count(), 1, "{text}");
}

#[test]
fn without_a_baseline_there_is_no_column_of_ratios() {
    let mut run = run();
    run.new.plan.subjects.iter_mut().for_each(|subject| subject.baseline = false);
    let text = Report::new(&run, &rows(&run.new.plan)).brief(100, &[]);
    assert!(text.contains("CPU/call") && !text.contains("ratio"), "{text}");
}

#[test]
fn every_column_of_a_first_look_is_defined() {
    let metrics = include_str!("../../../docs/measure/metrics.md");
    let section = metrics.split("## The first table\n").nth(1).expect("its section");
    let section = section.split("\n## ").next().expect("its rows");
    let (run, rows) = (run(), rows(&run().new.plan));
    let text = Report::new(&run, &rows).brief(100, &[]);
    let headings = text.lines().find(|line| line.contains("CPU/call  ")).expect("the headings");
    let headings: Vec<&str> =
        headings.split("  ").map(str::trim).filter(|title| !title.is_empty()).collect();
    assert_eq!(headings, ["CPU/call", "ratio", "req/s", "CPU", "p99", "failed"]);
    for title in headings {
        assert!(section.contains(&format!("| `{title}` |")), "{title} is not defined");
    }
}
