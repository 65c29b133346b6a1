//! A run as a trace of events, which ui.perfetto.dev and Chrome open: rounds, cells, warm-up and
//! window as slices, CPU, steal and the rate as counters.

use super::report::Report;
use crate::grouping::grouped;
use crate::measurement::{Measurement, Row};
use bookend_contract::printable;
use serde_json::{Value, json};

/// The tracks of slices.
const ROUNDS: u32 = 1;
const CELLS: u32 = 2;
const PHASES: u32 = 3;

impl Report<'_> {
    /// The trace, in the JSON form of trace events: times in microseconds since the first window.
    /// `None`: the rows do not say when they were measured, as those of a record.
    pub fn trace(&self) -> Option<String> {
        let timed: Vec<(&Row, Timed<'_>)> =
            self.rows.iter().filter_map(|row| Some((row, Timed::of(row)?))).collect();
        let zero = timed.iter().map(|(_, window)| window.begins_us).min()?;
        let mut events = vec![
            named(ROUNDS, "rounds"),
            named(CELLS, "cells"),
            named(PHASES, "warm-up and window"),
        ];
        events.extend(rounds(&timed, zero));
        for (row, window) in &timed {
            events.extend(window.slices(row, zero));
            events.extend(window.counters(zero));
        }
        let document = json!({
            "displayTimeUnit": "ms",
            "otherData": { "suite": self.run.new.plan.suite, "command": self.run.new.command },
            "traceEvents": events,
        });
        Some(printable::json(&document.to_string()).into_owned())
    }
}

/// A window of which it is known when it was.
struct Timed<'a> {
    window: &'a Measurement,
    /// When the warm-up began, as far as it was counted.
    begins_us: i64,
    /// When the window began and ended.
    from_us: i64,
    to_us: i64,
}

impl<'a> Timed<'a> {
    fn of(row: &'a Row) -> Option<Self> {
        // Laps lie between those of other cells: they are no slice of the round.
        let window = row.outcome.window().filter(|window| window.laps.is_none())?;
        let from_us = window.started?.unix_ms().saturating_mul(1000);
        let warmup_ms = window
            .intervals
            .as_ref()
            .map_or(0, |counts| counts.window_start as u64 * counts.interval_ms);
        let length_us = (window.window_seconds * 1e6) as i64;
        Some(Self {
            window,
            begins_us: from_us - i64::try_from(warmup_ms).unwrap_or(0) * 1000,
            from_us,
            to_us: from_us.saturating_add(length_us),
        })
    }

    /// The cell, and below it its phases.
    fn slices(&self, row: &Row, zero: i64) -> Vec<Value> {
        let cell = &row.cell;
        let name = format!("{} {} ({})", cell.subject, cell.case, cell.instrument);
        let window = self.window;
        let details = json!({
            "round": row.round,
            "requests per second": window.requests_per_second(),
            "ok": window.counts.ok,
            "failed": window.counts.failed(),
            "marks": window.marks.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "not measured": row.outcome.unmeasured().map(|(_, reason)| reason),
        });
        let mut slices = vec![
            slice(CELLS, &name, (self.begins_us, self.to_us), zero, &details),
            slice(PHASES, "window", (self.from_us, self.to_us), zero, &json!({})),
        ];
        if self.begins_us < self.from_us {
            let warmup = (self.begins_us, self.from_us);
            slices.push(slice(PHASES, "warm-up", warmup, zero, &json!({})));
        }
        slices
    }

    /// What holds for the window stands from its beginning to its end.
    fn counters(&self, zero: i64) -> Vec<Value> {
        let window = self.window;
        let cpus = [
            ("server CPU", window.server_cpu()),
            ("generator CPU", window.generator_cpu()),
            ("steal", window.machine.steal_seconds / window.window_seconds),
        ];
        let mut counters: Vec<Value> = cpus
            .into_iter()
            .filter(|(_, cpus)| cpus.is_finite())
            .flat_map(|(name, cpus)| {
                [counter(name, self.from_us - zero, cpus), counter(name, self.to_us - zero, 0.0)]
            })
            .collect();
        if let Some(counts) = &window.intervals {
            let interval_us = i64::try_from(counts.interval_ms).unwrap_or(0) * 1000;
            counters.extend(counts.counts.iter().zip(0..).map(|(count, index)| {
                let rate = *count as f64 * 1000.0 / counts.interval_ms.max(1) as f64;
                counter("requests per second", self.begins_us - zero + index * interval_us, rate)
            }));
            counters.push(counter("requests per second", self.to_us - zero, 0.0));
        }
        counters
    }
}

/// A slice for each round, from its first window to its last.
fn rounds(timed: &[(&Row, Timed<'_>)], zero: i64) -> Vec<Value> {
    let own = timed.iter().map(|(row, window)| (row.round, window));
    grouped(own)
        .into_iter()
        .map(|(round, windows)| {
            let begins = windows.iter().map(|window| window.begins_us).min().unwrap_or(zero);
            let ends = windows.iter().map(|window| window.to_us).max().unwrap_or(begins);
            slice(ROUNDS, &format!("round {}", round + 1), (begins, ends), zero, &json!({}))
        })
        .collect()
}

fn named(track: u32, name: &str) -> Value {
    json!({ "ph": "M", "name": "thread_name", "pid": 1, "tid": track, "args": { "name": name } })
}

fn slice(track: u32, name: &str, (from, to): (i64, i64), zero: i64, details: &Value) -> Value {
    json!({
        "ph": "X", "name": name, "pid": 1, "tid": track,
        "ts": from - zero, "dur": to - from, "args": details,
    })
}

fn counter(name: &str, at_us: i64, value: f64) -> Value {
    json!({ "ph": "C", "name": name, "pid": 1, "ts": at_us, "args": { "value": value } })
}
