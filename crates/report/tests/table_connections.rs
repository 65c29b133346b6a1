//! What connections cost, and who is not compared: invented rows over several transports, and with
//! ends that spin while they wait.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_report::chart::{Chart, ChartMetric, ChartSelection, Theme};
use bookend_report::run::Report;
use bookend_report::tables::{connection_table, cost_table, instrument_table, published_table};
use bookend_results::compare::{ComparedSide, compare};
use bookend_results::measurement::{Outcome, Row, Spinning};
use bookend_results::metric::{
    REQUESTS_PER_CLIENT_CPU_SECOND, REQUESTS_PER_CPU_SECOND, REQUESTS_PER_SECOND,
};
use bookend_results::ratio::RatioOutcome;
use bookend_results::statistics::NoRatio;
use bookend_results::store::{Run, RunId};
use bookend_results::suite::{Case, Plan};
use bookend_results::table::Table;
use table_rows::{plan, rows, run};

const CASES: [&str; 5] = [
    "C=10 S=10",
    "C=10 S=10 tls",
    "C=10 S=10 per-call",
    "C=10 S=10 tls per-call",
    "C=1 S=100 unix",
];

fn connected() -> (Plan, Vec<Row>) {
    let plan =
        Plan { cases: CASES.map(|case| case.parse::<Case>().expect("a case")).to_vec(), ..plan() };
    let mut rows = rows(&plan);
    for row in &mut rows {
        let cost = match row.cell.case.to_string().as_str() {
            "C=10 S=10 tls" => 1.5,
            "C=10 S=10 per-call" => 10.0,
            "C=10 S=10 tls per-call" => 40.0,
            _ => 1.0,
        };
        if let Outcome::Measured(figures) = &mut row.outcome {
            // Less is answered for the same time.
            figures.counts.ok = (figures.counts.ok as f64 / cost) as u64;
        }
    }
    (plan, rows)
}

fn table() -> Table {
    let (plan, rows) = connected();
    Table::new(&plan, &rows)
}

/// The subject's rows, with an end that spins in them.
fn spun(rows: &mut [Row], of: impl Fn(&Row) -> bool, spinning: Spinning) {
    for row in rows.iter_mut().filter(|row| of(row)) {
        if let Outcome::Measured(figures) = &mut row.outcome {
            figures.spinning = spinning;
        }
    }
}

const GENERATOR: Spinning = Spinning { server: false, generator: true };

const SERVER: Spinning = Spinning { server: true, generator: false };

#[test]
fn each_case_is_compared_with_the_plainer_one_of_the_same_subject() {
    let table = table();
    let of = |case: &str| {
        let cell = table
            .cells
            .iter()
            .find(|cell| cell.id.subject == "rust-tonic" && cell.case.to_string() == case);
        cell.and_then(|cell| cell.summary()).expect("figures").clone()
    };
    let cost = |outcome: &RatioOutcome| 1.0 / outcome.ratio().expect("a ratio").median;
    let near = |is: f64, should: f64| assert!((is / should - 1.0).abs() < 0.01, "{is}, {should}");
    near(cost(&of("C=10 S=10 tls").ratios.over_h2c.cost), 1.5);
    near(cost(&of("C=10 S=10 tls per-call").ratios.over_h2c.cost), 4.0);
    near(cost(&of("C=10 S=10 tls per-call").ratios.over_lasting.cost), 40.0 / 1.5);
    near(cost(&of("C=10 S=10 per-call").ratios.over_lasting.rate), 10.0);
    let plain = of("C=10 S=10");
    assert_eq!(plain.ratios.over_h2c.cost, RatioOutcome::NotCompared);
    assert_eq!(plain.ratios.over_lasting.cost, RatioOutcome::NotCompared);
    // Its case in plain text was not planned.
    let alone = of("C=1 S=100 unix");
    assert_eq!(alone.ratios.over_h2c.cost, RatioOutcome::NotCompared);
}

#[test]
fn what_connections_cost_stands_in_a_table_with_intervals() {
    let text = connection_table(&table()).expect("there is something to compare");
    let lines: Vec<&str> = text.lines().collect();
    let heading =
        lines.iter().position(|line| line.contains("C=10 S=10 tls per-call:")).expect("a heading");
    let below = &lines[heading + 1..];
    let fields: Vec<&str> = below[0].split('|').map(str::trim).collect();
    assert_eq!(&fields[1..3], ["rust-pajamax", "h2c"]);
    assert!(fields[3].starts_with("4.0") && fields[4].contains(" - "), "{fields:?}");
    assert!(below[1].contains("| lasting"), "{}", below[1]);
    let titles: Vec<&str> = lines[1].split('|').map(str::trim).collect();
    let metrics = include_str!("../../../docs/measure/metrics.md");
    for title in titles.iter().filter(|title| !title.is_empty()) {
        assert!(metrics.contains(&format!("`{title}`")), "{title} is not defined");
    }
}

#[test]
fn where_there_is_one_transport_nothing_is_said_of_it() {
    let plan = plan();
    let table = Table::new(&plan, &rows(&plan));
    assert_eq!(connection_table(&table), None);
    assert!(!published_table(&table).contains("h2c"));
}

#[test]
fn every_report_names_the_transport() {
    let (plan, rows) = connected();
    let mut of_run: Run = run();
    of_run.new.plan = plan;
    let report = Report::new(&of_run, &rows);
    for text in [report.text(), report.markdown()] {
        assert!(text.contains("- transports: h2c, tls, unix\n"), "{text}");
        assert!(text.contains("----S=10 h2c per-call"), "{text}");
        assert!(text.contains("CPU/request"), "{text}");
    }
    let sheet = report.csv();
    let mut lines = sheet.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let heading = lines.next().expect("a heading");
    let column = |name: &str| heading.iter().position(|one| *one == name).expect("a column");
    let (transport, ratio) = (column("transport"), column("over_h2c_cost_ratio_low"));
    let secured: Vec<Vec<&str>> = lines.filter(|line| line[transport] == "tls").collect();
    assert_eq!(secured.len(), 8);
    for line in secured {
        let low: f64 = line[ratio].parse().expect("a figure");
        assert!(low > 0.2 && low < 0.7, "{low}");
    }
    assert!(report.json().contains("\"case\": \"C=10 S=10 tls per-call\""));
    let case = "C=10 S=10".parse().expect("a case");
    let wanted = ChartSelection { case: Some(case), ..ChartSelection::default() };
    let chart = Chart::of(report.table(), &wanted, "title".to_owned()).expect("a chart");
    assert!(chart.svg(Theme::Light).contains("C=10 S=10 h2c: "));
}

#[test]
fn a_rate_made_by_spinning_is_not_held_against_one_made_asleep() {
    let plan = plan();
    let mut rows = rows(&plan);
    spun(&mut rows, |row| row.cell.subject == "rust-pajamax", GENERATOR);
    let table = Table::new(&plan, &rows);
    for cell in &table.cells {
        let summary = cell.summary().expect("figures");
        let is_spun = cell.id.subject == "rust-pajamax";
        let spinning = RatioOutcome::Spinning;
        assert_eq!(summary.ratios.cost_ratio == spinning, is_spun, "{:?}", cell.id);
        assert_eq!(summary.ratios.rate_ratio == spinning, is_spun, "{:?}", cell.id);
    }
    let text = cost_table(&table);
    let line = text.lines().find(|line| line.contains("| rust-pajamax"));
    assert_eq!(line.map(|line| line.matches("spins").count()), Some(2), "{text}");
    let mut of_run = run();
    of_run.new.plan = plan;
    let page = Report::new(&of_run, &rows).text();
    assert!(page.contains("\nbookend-load spins while it waits: "), "{page}");
}

#[test]
fn all_of_one_kind_are_ranked_among_themselves() {
    let plan = plan();
    let mut rows = rows(&plan);
    spun(&mut rows, |_| true, GENERATOR);
    let table = Table::new(&plan, &rows);
    let ranked = table.cells.iter().filter(|cell| cell.id.subject == "rust-pajamax");
    for cell in ranked {
        let summary = cell.summary().expect("figures");
        assert!(summary.ratios.cost_ratio.ratio().is_some());
        assert!(summary.ratios.rate_ratio.ratio().is_some());
    }
}

#[test]
fn the_cpu_time_of_a_server_that_spins_is_no_figure() {
    let plan = plan();
    let mut rows = rows(&plan);
    spun(&mut rows, |_| true, SERVER);
    let table = Table::new(&plan, &rows);
    for cell in &table.cells {
        let summary = cell.summary().expect("figures");
        assert_eq!(summary.value(&REQUESTS_PER_CPU_SECOND), None);
        assert_eq!(summary.interval(&REQUESTS_PER_CPU_SECOND), None);
        assert_ne!(summary.verdict.to_string(), "server-bound");
        if cell.id.subject == "rust-pajamax" {
            assert_eq!(summary.ratios.cost_ratio, RatioOutcome::Spinning);
            assert!(summary.ratios.rate_ratio.ratio().is_some(), "both spin");
        }
    }
}

#[test]
fn an_instrument_that_spins_is_not_compared_with_one_that_sleeps() {
    let mut plan = plan();
    for subject in &mut plan.subjects {
        subject.instruments.push("bookend-load/spin".into());
    }
    let mut rows = rows(&plan);
    spun(&mut rows, |row| row.cell.instrument == "bookend-load/spin", GENERATOR);
    let table = Table::new(&plan, &rows);
    let summary = table
        .cells
        .iter()
        .find(|cell| cell.id.instrument == "bookend-load/spin")
        .and_then(|cell| cell.summary())
        .expect("figures");
    assert_eq!(summary.value(&REQUESTS_PER_CLIENT_CPU_SECOND), None);
    let ratio = &summary.ratios.instrument_cost_ratio;
    assert_eq!(*ratio, RatioOutcome::Spinning);
    let text = instrument_table(&table).expect("two instruments");
    assert!(text.contains("spins"), "{text}");
    let rates = ChartSelection { metric: ChartMetric::Rate, ..ChartSelection::default() };
    let chart = Chart::of(&table, &rates, "title".to_owned()).expect("a chart");
    let names: Vec<&str> = chart.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["bookend-load", "bookend-load/spin (spins)"]);
}

#[test]
fn two_results_are_not_compared_where_one_was_made_by_spinning() {
    let plan = plan();
    let asleep = rows(&plan);
    let mut awake = asleep.clone();
    spun(&mut awake, |_| true, GENERATOR);
    let side = |run, rows| ComparedSide { run: RunId(run), rows, subject: None };
    for metric in [&REQUESTS_PER_CPU_SECOND, &REQUESTS_PER_SECOND] {
        let comparison = compare(&side(1, &asleep), &side(2, &awake), metric).expect("cells");
        for cell in &comparison.cells {
            assert_eq!(cell.ratio, Err(NoRatio::Spinning));
        }
        let alike = compare(&side(1, &awake), &side(2, &awake), metric).expect("cells");
        assert!(alike.cells.iter().all(|cell| cell.ratio.is_ok()));
    }
}
