//! A search of the capacity as text.

use crate::text_table::{Aligned, PlainTable};
use bookend_contract::capacity::{Capacity, ClosedLoop, RateTrial, ScalabilityFit};
use bookend_results::failed_share::FailedShare;
use bookend_results::text::precise_latency_text;

/// From this share of OK calls on, the others are not worth a word.
const ALL_OK: f64 = 0.999;

/// The answer, the rates that were tried, and how the server scales; ends with a line break.
pub fn capacity_text(capacity: &Capacity) -> String {
    [
        format!(
            "\nCapacity:\n  Objective:\t{}\n  Capacity:\t{}\n",
            capacity.objective,
            answer(capacity)
        ),
        agents(&capacity.agents),
        trials(&capacity.trials),
        closed_loops(&capacity.closed_loops, capacity.fit.as_ref()),
        capacity.fit.as_ref().map_or_else(String::new, law),
    ]
    .concat()
}

fn answer(capacity: &Capacity) -> String {
    let has_agents = !capacity.agents.is_empty();
    let limit = match (capacity.generator_was_limit, has_agents) {
        (false, _) => "",
        (true, false) => {
            ", where this generator was the limit: the target can do at least this much"
        }
        (true, true) => ", where the agents were the limit: the target can do at least this much",
    };
    let disagreement = capacity.trials_disagree.map_or_else(String::new, |[low, high]| {
        format!(
            "; trials disagree: somewhere between {low:.0} and {high:.0}, more --duration tells"
        )
    });
    let kept = |rate: f64| {
        let failed = failed_beside(capacity, rate);
        match capacity.kept_ok_per_second {
            Some(ok) if ok < rate * ALL_OK => {
                format!("{ok:.0} OK of {rate:.0} calls a second{failed}")
            }
            _ => format!("{rate:.0} calls a second{failed}"),
        }
    };
    match (capacity.kept_rate, capacity.missed_rate) {
        (Some(rate), Some(missed)) => {
            let kept = kept(rate);
            format!("{kept}: kept there, missed at {missed:.0}{limit}{disagreement}")
        }
        (Some(rate), None) => format!("at least {}{limit}{disagreement}", kept(rate)),
        (None, _) if capacity.trials.is_empty() => {
            "unknown: no rate was tried to its end".to_owned()
        }
        (None, _) if capacity.generator_was_limit && has_agents => {
            "unknown: the agents did not keep to the schedule".to_owned()
        }
        (None, _) if capacity.generator_was_limit => {
            "unknown: this generator did not keep to the schedule".to_owned()
        }
        (None, _) => "no rate that was tried keeps the objective".to_owned(),
    }
}

fn agents(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("  Agents:\t{}\n", names.join(", ")) }
}

/// What follows a rate where many calls of a try of it failed.
fn failed_beside(capacity: &Capacity, rate: f64) -> String {
    let tries = capacity.trials.iter().filter(|trial| trial.rate == rate);
    let shares = tries.map(|trial| FailedShare::of(trial.error_share));
    match shares.fold(None, FailedShare::larger).filter(|share| share.is_told()) {
        Some(share) => format!(", while {share} of the calls failed"),
        None => String::new(),
    }
}

fn trials(trials: &[RateTrial]) -> String {
    let figures = ["calls/s", "OK/s", "in flight", "50 %", "99 %", "errors"];
    let figures = figures.map(|title| (title, Aligned::Right));
    let mut table = PlainTable::new(&[&figures[..], &[("objective", Aligned::Left)]].concat());
    for trial in trials {
        table.row([
            FailedShare::marked(FailedShare::of(trial.error_share), &format!("{:.0}", trial.rate)),
            format!("{:.0}", trial.ok_per_second),
            format!("{:.1}", trial.in_flight),
            precise_latency_text(trial.p50_ns as f64),
            precise_latency_text(trial.p99_ns as f64),
            format!("{:.2} %", trial.error_share * 100.0),
            trial.missed.clone().unwrap_or_else(|| "kept".to_owned()),
        ]);
    }
    titled("Rates", trials.len(), &table)
}

fn closed_loops(points: &[ClosedLoop], fit: Option<&ScalabilityFit>) -> String {
    let columns =
        ["in flight", "OK/s", "failed", "by the law"].map(|title| (title, Aligned::Right));
    let mut table = PlainTable::new(&columns);
    for point in points {
        let by_the_law = |fit: &ScalabilityFit| fit.at(f64::from(point.in_flight));
        table.row([
            FailedShare::marked(FailedShare::of(point.error_share), &point.in_flight.to_string()),
            format!("{:.0}", point.ok_per_second),
            FailedShare::field(FailedShare::of(point.error_share)),
            fit.map_or("-".to_owned(), |fit| format!("{:.0}", by_the_law(fit))),
        ]);
    }
    titled("Closed loops", points.len(), &table)
}

/// A table below its title; nothing without a row.
fn titled(title: &str, rows: usize, table: &PlainTable) -> String {
    if rows == 0 {
        return String::new();
    }
    let lines: String = table.to_string().lines().map(|line| format!("  {line}\n")).collect();
    format!("\n{title}:\n{lines}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_says_what_was_kept_and_what_was_missed() {
        let trial = RateTrial {
            rate: 100.0,
            ok_per_second: 96.0,
            in_flight: 3.0,
            p50_ns: 1_000,
            p99_ns: 12_345_678,
            error_share: 0.04,
            missed: None,
        };
        let found = Capacity {
            objective: "p99<5ms,errors<5%".to_owned(),
            kept_rate: Some(100.0),
            kept_ok_per_second: Some(96.0),
            missed_rate: Some(200.0),
            trials_disagree: Some([90.0, 100.0]),
            generator_was_limit: false,
            agents: Vec::new(),
            trials: vec![trial],
            closed_loops: Vec::new(),
            fit: None,
        };
        let text = capacity_text(&found);
        let answer = "96 OK of 100 calls a second, while 4.0 % of the calls failed: kept \
                      there, missed at 200; trials disagree: somewhere between 90 and 100";
        assert!(text.contains(answer), "{text}");
        let row = "\nRates:\n  calls/s  OK/s  in flight     50 %     99 %  errors  objective\n    ! \
                   100    96        3.0  1.00 µs  12.3 ms  4.00 %  kept\n";
        assert!(text.contains(row), "{text}");
        let by_agents = Capacity {
            generator_was_limit: true,
            agents: vec!["a".to_owned(), "b".to_owned()],
            ..found.clone()
        };
        let text = capacity_text(&by_agents);
        assert!(text.contains("where the agents were the limit"), "{text}");
        assert!(text.contains("\n  Agents:\ta, b\n"), "{text}");
        let interrupted = Capacity { kept_rate: None, trials: Vec::new(), ..found };
        let text = capacity_text(&interrupted);
        assert!(text.contains("unknown: no rate was tried to its end"), "{text}");
    }
}
