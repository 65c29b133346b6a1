//! The picture of one case: whose bars are drawn, which figure they show, and what is said in words
//! instead.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::chart::{Bar, Chart, ChartError, ChartMetric, ChartSelection, Theme};
use bookend_results::measurement::{Outcome, Row};
use bookend_results::metric::REQUESTS_PER_CPU_SECOND;
use bookend_results::suite::{Case, Plan};
use bookend_results::table::Table;
use table_rows::{plan, rows};

/// Two instruments. Through the second, one of the subjects has no rows.
fn measured() -> (Plan, Vec<Row>) {
    let mut plan = plan();
    for subject in &mut plan.subjects {
        subject.instruments.push("ghz".into());
    }
    let mut rows = rows(&plan);
    rows.retain(|row| row.cell.instrument != "ghz" || row.cell.subject != "rust-pajamax");
    (plan, rows)
}

fn case() -> Case {
    "C=1 S=100".parse().expect("a case")
}

fn drawn(wanted: ChartSelection) -> Result<Chart, ChartError> {
    let (plan, rows) = measured();
    let wanted = ChartSelection { case: Some(case()), ..wanted };
    Chart::of(&Table::new(&plan, &rows), &wanted, "title".to_owned())
}

fn names(chart: &Chart) -> Vec<(String, Vec<String>)> {
    let of_bars = |bars: &[Bar]| bars.iter().map(|bar| bar.name.clone()).collect();
    chart.groups.iter().map(|one| (one.name.clone(), of_bars(&one.bars))).collect()
}

#[test]
fn bars_are_the_cpu_time_of_a_request_unless_rates_are_asked_for() {
    let cpu = drawn(ChartSelection::default()).expect("a chart");
    assert!(cpu.subtitle.starts_with("C=1 S=100: CPU time of the server"), "{}", cpu.subtitle);
    let rate = drawn(ChartSelection { metric: ChartMetric::Rate, ..ChartSelection::default() });
    let rate = rate.expect("a chart");
    assert!(rate.subtitle.starts_with("C=1 S=100: requests per second"), "{}", rate.subtitle);
    let (plan, rows) = measured();
    let table = Table::new(&plan, &rows);
    let cell = table.of_case(case()).find(|cell| cell.id.subject == "rust-pajamax");
    let summary = cell.and_then(|cell| cell.summary()).expect("figures");
    let per_cpu_second = summary.value(&REQUESTS_PER_CPU_SECOND);
    let of = |chart: &Chart| {
        let bars = &chart.groups[0].bars;
        bars.iter().find(|bar| bar.name == "rust-pajamax").expect("a bar").clone()
    };
    let (bar, ends) = (of(&cpu), of(&cpu).interval.expect("seven rounds"));
    assert!((bar.figure * per_cpu_second.expect("a figure") / 1e9 - 1.0).abs() < 1e-9);
    assert!(ends.low <= bar.figure && bar.figure <= ends.high, "{bar:?}");
    assert!(bar.text.ends_with(" ns") || bar.text.ends_with(" µs"), "{}", bar.text);
    assert!(of(&rate).text.ends_with(" /s"), "{}", of(&rate).text);
}

#[test]
fn every_subject_has_its_ratio_to_the_baseline_in_words() {
    let chart = drawn(ChartSelection::default()).expect("a chart");
    for group in &chart.groups {
        let baseline = group.bars.iter().any(|bar| bar.name == "rust-tonic");
        assert!(baseline, "{group:?}");
        assert_eq!(group.ratios.len(), group.bars.len() - 1, "{group:?}");
        for (bar, ratio) in
            group.bars.iter().filter(|bar| bar.name != "rust-tonic").zip(&group.ratios)
        {
            assert!(ratio.starts_with(&format!("{} / rust-tonic: ", bar.name)), "{ratio}");
            assert!(
                ratio.contains(" by rate, ") && ratio.ends_with(" per CPU-second of the server")
            );
        }
    }
}

#[test]
fn who_has_no_figure_has_no_bar_and_is_named_below() {
    let chart = drawn(ChartSelection::default()).expect("a chart");
    let ghz = names(&chart).into_iter().find(|(name, _)| name == "ghz").expect("a group").1;
    assert!(!ghz.is_empty() && !ghz.contains(&"rust-pajamax".to_owned()), "{ghz:?}");
    let note = "Without a figure: rust-pajamax with ghz (not reached).";
    assert_eq!(chart.notes, [note]);
    let svg = chart.svg(Theme::Light);
    assert!(svg.contains(&format!(">{note}<")) && !svg.contains(">missing<"), "{svg}");
    let only = ChartSelection {
        instruments: vec!["ghz".to_owned()],
        subjects: vec!["rust-pajamax".to_owned()],
        ..ChartSelection::default()
    };
    let refused = drawn(only).expect_err("nothing to draw").to_string();
    let words = "there is nothing to draw at C=1 S=100: rust-pajamax with ghz (not reached)";
    assert_eq!(refused, words);
}

#[test]
fn instruments_and_subjects_are_chosen_by_their_names() {
    let chosen = |instruments: &[&str], subjects: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        drawn(ChartSelection {
            instruments: owned(instruments),
            subjects: owned(subjects),
            ..ChartSelection::default()
        })
    };
    let chart = chosen(&["bookend-load"], &["rust-tonic", "rust-pajamax"]).expect("a chart");
    let bars = ["rust-pajamax", "rust-tonic"].map(str::to_owned).to_vec();
    assert_eq!(names(&chart), [("bookend-load".to_owned(), bars)]);
    assert_eq!(chart.notes, Vec::<String>::new());
    let refused = chosen(&["h2load"], &[]).expect_err("no such instrument").to_string();
    assert_eq!(refused, "C=1 S=100 has no instrument h2load: it has bookend-load, ghz");
    let refused = chosen(&[], &["rust-tonik"]).expect_err("no such subject").to_string();
    assert!(refused.starts_with("C=1 S=100 has no subject rust-tonik: it has "), "{refused}");
}

#[test]
fn the_signs_of_ratios_are_explained_where_they_stand() {
    let (plan, mut rows) = measured();
    for row in &mut rows {
        if let Outcome::Measured(window) = &mut row.outcome {
            window.ends.server.cpu_seconds = 0.1 + f64::from(row.round % 2) * 0.01;
            window.counts.ok = 1000 + u64::from(row.cell.subject == "rust-tonic") * 5;
        }
    }
    let wanted = ChartSelection { case: Some(case()), ..ChartSelection::default() };
    rows.retain(|row| row.round < 2 || row.cell.instrument != "ghz");
    let chart = Chart::of(&Table::new(&plan, &rows), &wanted, "title".to_owned()).expect("a chart");
    assert!(chart.groups[1].ratios.iter().all(|ratio| ratio.contains(": ?")), "{chart:?}");
    assert_eq!(chart.notes[0], "? too few rounds for an interval.");
}
