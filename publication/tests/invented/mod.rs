//! An invented document with one claim, and records of it.
#![allow(dead_code, reason = "each test program uses some of it")]

use super::table_rows::{cell, measurement, row, run};
use bookend_publication::claims::{Answer, ClaimOutcome, JudgedSuite, Judgement, SuiteClaims};
use bookend_publication::document::{Document, PrintedRow};
use bookend_publication::published::Place;
use bookend_results::audit::Span;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::record::Record;
use std::collections::BTreeMap;
use std::path::Path;

pub const DOCUMENT: &str = "[document]\ntitle = \"An invented page\"\nexpectations = true\n";

/// A claim about the cost of two subjects at one case, with `more` lines.
pub fn ten_times(more: &str) -> String {
    format!(
        "{DOCUMENT}\n[[claims]]\nid = \"ten-times\"\nwhere = \"Conclusion\"\nclaim = \"ten times\"\n\
         published = \"10\"\n{more}\n"
    )
}

pub const MEASURE: &str = "measure = { metric = \"requests_per_cpu_second\", of = \"rust-pajamax\", \
                       over = \"rust-tonic\", cases = [\"C=1 S=100\"] }";

pub fn parse(text: &str) -> Result<SuiteClaims, String> {
    let file = Path::new("claims.toml");
    SuiteClaims::parse(file, text).map_err(|error| error.to_string())
}

/// A round in which pajamax answers `factor` times as many requests a CPU-second as tonic.
pub fn round(number: u32, factor: f64) -> Vec<Row> {
    let cost = |subject: &str, cpu_seconds: f64| {
        let measured = measurement(100, 10_000, cpu_seconds);
        let outcome = Outcome::Measured(Box::new(measured));
        row(number, cell(subject, "C=1 S=100"), outcome)
    };
    vec![cost("rust-tonic", 0.9), cost("rust-pajamax", 0.9 / factor)]
}

pub fn recorded(factors: &[f64]) -> Record {
    let rows: Vec<Row> =
        (0_u32..).zip(factors).flat_map(|(number, factor)| round(number, *factor)).collect();
    record_in(factors.len(), &rows)
}

/// A document that prints a ratio of ten with the given figures.
pub fn printed(rates: [f64; 2]) -> Document {
    let subjects = ["rust-pajamax", "rust-tonic"];
    let rows = subjects.iter().zip(rates).map(|(subject, rate)| {
        let mut row = PrintedRow {
            place: Place {
                table: "results".into(),
                subject: (*subject).into(),
                label: "C=1 S=100".into(),
            },
            cell: Some(cell(subject, "C=1 S=100")),
            ..PrintedRow::default()
        };
        let figures = &mut row.figures;
        figures.insert("requests_per_second".into(), Span::exact(rate));
        figures.insert("server_cpu_mean".into(), Span::exact(0.5));
        if *subject == "rust-pajamax" {
            figures.insert("cost_ratio".into(), Span::exact(10.0));
        }
        row
    });
    Document { rows: rows.collect(), ..Document::default() }
}

pub fn verdict_of(
    text: &str,
    document: Document,
    record: Option<Record>,
) -> (ClaimOutcome, String) {
    let claims = parse(text).expect("well-formed");
    let judged = JudgedSuite::new("invented", claims, document, record);
    let judgements: Vec<Judgement<'_>> = judged.judgements();
    let Answer { outcome, why, .. } = judgements[0].replicates.clone();
    (outcome, why)
}

pub const NEAR_TEN: [f64; 7] = [9.8, 10.1, 10.0, 9.9, 10.2, 10.0, 9.9];

/// Rounds in which tonic answers this number of thousand requests a second in each of the cases.
pub fn rates<const ROUNDS: usize>(cases: &[(&str, [f64; ROUNDS])]) -> Record {
    let rows: Vec<Row> = cases
        .iter()
        .flat_map(|(case, rates)| {
            (0_u32..).zip(rates).map(|(number, rate)| {
                let measured = measurement(1, (rate * 1e3) as u64, 0.5);
                let outcome = Outcome::Measured(Box::new(measured));
                row(number, cell("rust-tonic", case), outcome)
            })
        })
        .collect();
    record_in(ROUNDS, &rows)
}

fn record_in(rounds: usize, rows: &[Row]) -> Record {
    let mut run = run();
    run.new.plan.rounds = u32::try_from(rounds).expect("few");
    Record::of_run(&run, rows, BTreeMap::new())
}
