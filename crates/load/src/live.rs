//! A run as it is seen while it goes on: a view for terminals, lines of text, lines of JSON.

use crate::record::RunInterval;
use crate::summary;
use clap::ValueEnum;
use serde_json::json;
use std::collections::VecDeque;
use std::time::Duration;

/// How often a run is looked at.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// Intervals that the chart of a view shows.
const CHART_INTERVALS: usize = 60;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How a run is shown while it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LiveFormat {
    /// A view where standard error is a terminal, else nothing.
    #[default]
    Auto,
    /// Nothing.
    Off,
    /// A line of text a second.
    Lines,
    /// A line of JSON a second.
    Json,
}

/// An interval as a line of JSON, without a line break.
pub fn json_line(interval: &RunInterval) -> String {
    let latency = |percentage| {
        (!interval.latencies.histogram.is_empty()).then(|| interval.latencies.at(percentage))
    };
    let line = json!({
        "time_s": seconds(interval.end_ns),
        "ok": interval.ok,
        "failed": interval.failed,
        "messages": interval.messages,
        "requests_per_second": rate(interval, interval.ok + interval.failed),
        "in_flight": interval.in_flight,
        "p50_ns": latency(50.0),
        "p99_ns": latency(99.0),
    });
    line.to_string()
}

/// An interval as a line of text, without a line break.
pub fn text_line(interval: &RunInterval) -> String {
    let messages = match interval.messages {
        0 => String::new(),
        messages => format!("   {:.0} messages/s", rate(interval, messages)),
    };
    format!(
        "{:>6.1} s   {:.0}/s{messages}   in flight {}   errors {}   p50 {}   p99 {}",
        seconds(interval.end_ns),
        rate(interval, interval.ok + interval.failed),
        interval.in_flight,
        interval.failed,
        latency(interval, 50.0),
        latency(interval, 99.0)
    )
}

/// A view of a run on a terminal.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    /// Length of the window, where its end is a time, nanoseconds.
    window_ns: Option<u64>,
    /// 99th percentiles of the last intervals, nanoseconds.
    p99_ns: VecDeque<u64>,
}

impl LiveView {
    /// The view of a run whose window has that length, if it ends by time.
    pub fn new(window_ns: Option<u64>) -> Self {
        Self { window_ns, p99_ns: VecDeque::new() }
    }

    /// What stands on the terminal after an interval, each line without its break.
    pub fn lines(&mut self, interval: &RunInterval) -> [String; 2] {
        if self.p99_ns.len() == CHART_INTERVALS {
            self.p99_ns.pop_front();
        }
        self.p99_ns.push_back(interval.latencies.at(99.0));
        let left = self.window_ns.map_or_else(String::new, |window_ns| {
            format!("   {:.0} s left", seconds(window_ns.saturating_sub(interval.end_ns)))
        });
        let most_ns = self.p99_ns.iter().copied().max().unwrap_or(0);
        let chart: String = self.p99_ns.iter().map(|p99_ns| bar(*p99_ns, most_ns)).collect();
        let chart = format!("p99 {chart} at most {}", summary::duration(most_ns));
        [text_line(interval) + &left, chart]
    }
}

fn bar(value: u64, most: u64) -> char {
    let steps = BARS.len() as u128 - 1;
    let height = (u128::from(value) * steps).checked_div(u128::from(most)).unwrap_or(0);
    BARS[height as usize]
}

fn latency(interval: &RunInterval, percentage: f64) -> String {
    match interval.latencies.histogram.len() {
        0 => "-".to_owned(),
        _ => summary::duration(interval.latencies.at(percentage)),
    }
}

fn rate(interval: &RunInterval, count: u64) -> f64 {
    let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
    if length_ns == 0 { 0.0 } else { count as f64 * 1e9 / length_ns as f64 }
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Latencies;

    fn interval(second: u64, latencies_ns: &[u64]) -> RunInterval {
        let mut latencies = Latencies::default();
        latencies_ns.iter().for_each(|latency_ns| latencies.record(*latency_ns));
        RunInterval {
            start_ns: (second - 1) * 1_000_000_000,
            end_ns: second * 1_000_000_000,
            ok: latencies_ns.len() as u64,
            failed: 1,
            in_flight: 7,
            latencies,
            ..RunInterval::default()
        }
    }

    #[test]
    fn a_line_says_what_the_last_second_was_like() {
        let line = text_line(&interval(3, &[2_000_000, 2_000_000, 4_000_000]));
        let expected = "   3.0 s   4/s   in flight 7   errors 1   p50 2.00 ms   p99 4.00 ms";
        assert_eq!(line, expected);
        assert!(text_line(&interval(3, &[])).ends_with("p50 -   p99 -"));
        let json: serde_json::Value =
            serde_json::from_str(&json_line(&interval(2, &[5_000]))).unwrap();
        assert_eq!((json["time_s"].as_f64(), json["p99_ns"].as_u64()), (Some(2.0), Some(5_000)));
        assert_eq!(json["requests_per_second"].as_f64(), Some(2.0));
    }

    #[test]
    fn a_view_draws_the_tail_and_says_what_is_left() {
        let mut view = LiveView::new(Some(10_000_000_000));
        view.lines(&interval(1, &[1_000]));
        let [line, chart] = view.lines(&interval(2, &[8_000]));
        assert!(line.ends_with("8 s left"), "{line}");
        assert_eq!(chart, "p99 ▁█ at most 8.00 µs");
        for second in 3..100 {
            view.lines(&interval(second, &[1_000]));
        }
        assert_eq!(view.p99_ns.len(), CHART_INTERVALS);
    }
}
