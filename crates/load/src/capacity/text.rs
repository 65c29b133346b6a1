//! What was found, as text.

use crate::summary::duration;
use bookend_contract::capacity::{Capacity, ClosedLoop, RateTrial, ScalabilityFit};

/// From this share of OK calls on, the others are not worth a word.
const ALL_OK: f64 = 0.999;

/// The answer, the rates that were tried, and how the server scales; ends with a line break.
pub fn text(capacity: &Capacity) -> String {
    [
        format!(
            "\nCapacity:\n  Objective:\t{}\n  Capacity:\t{}\n",
            capacity.objective,
            answer(capacity)
        ),
        trials(&capacity.trials),
        closed_loops(&capacity.closed_loops, capacity.fit.as_ref()),
        capacity.fit.as_ref().map_or_else(String::new, law),
    ]
    .concat()
}

fn answer(capacity: &Capacity) -> String {
    let limit = if capacity.generator_was_limit {
        ", where this generator was the limit: the target can do at least this much"
    } else {
        ""
    };
    let disagreement = capacity.trials_disagree.map_or_else(String::new, |[low, high]| {
        format!(
            "; trials disagree: somewhere between {low:.0} and {high:.0}, more --duration tells"
        )
    });
    let kept = |rate: f64| match capacity.kept_ok_per_second {
        Some(ok) if ok < rate * ALL_OK => format!("{ok:.0} OK of {rate:.0} calls a second"),
        _ => format!("{rate:.0} calls a second"),
    };
    match (capacity.kept_rate, capacity.missed_rate) {
        (Some(rate), Some(missed)) => {
            let kept = kept(rate);
            format!("{kept}: kept there, missed at {missed:.0}{disagreement}{limit}")
        }
        (Some(rate), None) => format!("at least {}{disagreement}{limit}", kept(rate)),
        (None, _) if capacity.trials.is_empty() => {
            "unknown: no rate was tried to its end".to_owned()
        }
        (None, _) if capacity.generator_was_limit => {
            "unknown: this generator did not keep to the schedule".to_owned()
        }
        (None, _) => "no rate that was tried keeps the objective".to_owned(),
    }
}

fn trials(trials: &[RateTrial]) -> String {
    let rows = trials.iter().map(|trial| {
        [
            format!("{:.0}", trial.rate),
            format!("{:.0}", trial.ok_per_second),
            format!("{:.1}", trial.in_flight),
            duration(trial.p50_ns),
            duration(trial.p99_ns),
            format!("{:.2} %", trial.error_share * 100.0),
            trial.missed.clone().unwrap_or_else(|| "kept".to_owned()),
        ]
    });
    let head = ["calls/s", "OK/s", "in flight", "50 %", "99 %", "errors", "objective"];
    table("Rates", head, rows.collect())
}

fn closed_loops(points: &[ClosedLoop], fit: Option<&ScalabilityFit>) -> String {
    let row = |point: &ClosedLoop| {
        [
            point.in_flight.to_string(),
            format!("{:.0}", point.ok_per_second),
            fit.map_or_else(
                || "-".to_owned(),
                |fit| format!("{:.0}", fit.at(f64::from(point.in_flight))),
            ),
        ]
    };
    let head = ["in flight", "OK/s", "by the law"];
    table("Closed loops", head, points.iter().map(row).collect())
}

fn law(fit: &ScalabilityFit) -> String {
    let peak = match (fit.peak_in_flight, fit.peak_per_second) {
        (Some(in_flight), Some(rate)) => {
            format!("highest with {in_flight:.0} in flight: {rate:.0} calls a second")
        }
        (None, Some(rate)) => format!("approaches {rate:.0} calls a second"),
        _ => "grows with every call in flight".to_owned(),
    };
    format!(
        "\nUniversal Scalability Law:\n  Alone:\t{:.0} calls a second\n  Contention:\t{:.3} %\n  \
         Coherency:\t{:.5} %\n  Rate:\t{peak}\n  Explained:\t{:.1} % of the variance\n",
        fit.alone_per_second,
        fit.contention * 100.0,
        fit.coherency * 100.0,
        fit.explained * 100.0
    )
}

/// Columns to the right, but for the last one.
fn table<const COLUMNS: usize>(
    title: &str,
    head: [&str; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let all: Vec<[String; COLUMNS]> =
        std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max();
    let line = |row: &[String; COLUMNS]| {
        let padded = |(column, cell): (usize, &String)| {
            let width = width(column).unwrap_or(0);
            if column + 1 == COLUMNS { format!("  {cell}") } else { format!("  {cell:>width$}") }
        };
        row.iter().enumerate().map(padded).collect::<String>() + "\n"
    };
    let lines: String = all.iter().map(line).collect();
    format!("\n{title}:\n{lines}")
}
