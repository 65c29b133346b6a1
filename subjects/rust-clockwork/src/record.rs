//! The witness's record: every call, exactly, and what follows from all of them.

use std::{env, fmt::Write as _, fs};

/// A variable that names a file for the calls one by one.
const FILE: &str = "CLOCKWORK_RECORD";

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Unanswered,
    Ok,
    Status,
    Reset,
    Dropped,
}

struct Call {
    arrival_ns: u64,
    /// 0 until its answer has been written.
    answer_ns: u64,
    outcome: Outcome,
}

#[derive(Default)]
pub struct Record {
    pub connections: u64,
    /// How long the server was stopped on command, nanoseconds.
    pub frozen_ns: u64,
    pub messages: u64,
    /// From one message of a stream to the next, nanoseconds.
    pub message_gaps_ns: Vec<u64>,
    calls: Vec<Call>,
}

impl Record {
    /// A call has arrived; the number is its place.
    pub fn arrived(&mut self, arrival_ns: u64) -> usize {
        self.calls.push(Call { arrival_ns, answer_ns: 0, outcome: Outcome::Unanswered });
        self.calls.len() - 1
    }

    /// What becomes of a call.
    pub fn decided(&mut self, call: usize, outcome: Outcome) {
        self.calls[call].outcome = outcome;
    }

    /// Its answer is written.
    pub fn left(&mut self, call: usize, answer_ns: u64) {
        self.calls[call].answer_ns = answer_ns;
    }

    /// The lines of the contract.
    pub fn notes(&self, ordered_ns: u64) -> String {
        if let Some(Err(error)) = env::var_os(FILE).map(|file| fs::write(file, self.list())) {
            eprintln!("{FILE}: {error}");
        }
        let count = |outcome| {
            let is_such = |call: &&Call| {
                call.outcome == outcome && (call.answer_ns > 0 || outcome == Outcome::Dropped)
            };
            self.calls.iter().filter(is_such).count() as u64
        };
        let [ok, status, reset] = [Outcome::Ok, Outcome::Status, Outcome::Reset].map(count);
        let answered = |call: &&Call| call.outcome == Outcome::Ok && call.answer_ns > 0;
        let services = self.calls.iter().filter(answered);
        let services = services.map(|call| call.answer_ns.saturating_sub(call.arrival_ns));
        let mut arrivals: Vec<u64> = self.calls.iter().map(|call| call.arrival_ns).collect();
        arrivals.sort_unstable();
        let gaps = arrivals.windows(2).map(|pair| pair[1] - pair[0]);
        let mut lines = String::new();
        let mut note = |name: &str, value: f64| {
            let _ = writeln!(lines, "note {name} {value}");
        };
        note("calls", self.calls.len() as f64);
        note("ok", ok as f64);
        note("status", status as f64);
        note("reset", reset as f64);
        note("dropped", count(Outcome::Dropped) as f64);
        note("connections", self.connections as f64);
        note("messages", self.messages as f64);
        note("frozen_ns", self.frozen_ns as f64);
        note("ordered_cpu_ns", ordered_ns as f64);
        spread("service", services.collect(), &mut note);
        spread("arrival_gap", gaps.collect(), &mut note);
        spread("message_gap", self.message_gaps_ns.clone(), &mut note);
        lines + &format!("served {}\n", ok + status)
    }

    /// Arrival and answer of every call, nanoseconds since the first arrival.
    fn list(&self) -> String {
        let first_ns = self.calls.iter().map(|call| call.arrival_ns).min().unwrap_or(0);
        let since = |ns: u64| ns.saturating_sub(first_ns);
        let line = |call: &Call| {
            format!("{} {} {:?}\n", since(call.arrival_ns), since(call.answer_ns), call.outcome)
        };
        self.calls.iter().map(line).collect()
    }
}

/// The mean, how far values are from it on average, and exact percentiles: the smallest value that
/// the share does not exceed.
fn spread(name: &str, mut values_ns: Vec<u64>, note: &mut impl FnMut(&str, f64)) {
    values_ns.sort_unstable();
    let Some(last) = values_ns.len().checked_sub(1) else {
        return;
    };
    let mean = values_ns.iter().sum::<u64>() as f64 / values_ns.len() as f64;
    let deviations = values_ns.iter().map(|value| (*value as f64 - mean).abs());
    note(&format!("{name}_mean_ns"), mean);
    let mean_deviation = deviations.sum::<f64>() / values_ns.len() as f64;
    note(&format!("{name}_mean_deviation_ns"), mean_deviation);
    for (figure, permille) in [("p50", 500), ("p99", 990), ("p999", 999), ("max", 1000)] {
        let rank = (values_ns.len() * permille).div_ceil(1000).max(1) - 1;
        note(&format!("{name}_{figure}_ns"), values_ns[rank.min(last)] as f64);
    }
}
