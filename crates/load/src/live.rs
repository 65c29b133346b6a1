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
    /// A view where standard error is a terminal, lines of text where that is a dumb one, else
    /// nothing.
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
    line(&parts(interval, None), Form { gap: "   ", word: Wording::Long, least: 0 })
}

/// What a line says of an interval: a figure with its word in front of it or behind it, and what
/// is left out first where there is no room.
struct Part {
    /// As lines of text have it, and the narrowest.
    words: [String; 2],
    importance: usize,
}

/// How a line is written.
#[derive(Clone, Copy)]
struct Form {
    gap: &'static str,
    word: Wording,
    /// The parts of at least this importance are shown.
    least: usize,
}

#[derive(Clone, Copy)]
enum Wording {
    Long,
    Short,
}

/// The forms of a line on a terminal, the widest first: words are shortened before a figure is left
/// out, and none is ever cut.
fn forms() -> impl Iterator<Item = Form> {
    let whole = [("   ", Wording::Long), ("  ", Wording::Long), ("  ", Wording::Short)];
    let whole = whole.map(|(gap, word)| Form { gap, word, least: 0 });
    let narrower = (1..=MOST_IMPORTANT).map(move |least| Form { least, ..whole[2] });
    whole.into_iter().chain(narrower)
}

/// Of the rate.
const MOST_IMPORTANT: usize = 7;

fn line(parts: &[Part], form: Form) -> String {
    let shown = parts.iter().filter(|part| part.importance >= form.least);
    shown.map(|part| part.words[form.word as usize].as_str()).collect::<Vec<_>>().join(form.gap)
}

/// The parts in the order of a line; `left_ns`: until the end, where that is known.
fn parts(interval: &RunInterval, left_ns: Option<u64>) -> Vec<Part> {
    let part = |importance, long: String, short: String| Part { words: [long, short], importance };
    let same = |importance, words: String| part(importance, words.clone(), words);
    let elapsed = seconds(interval.end_ns);
    let RunInterval { in_flight, failed, messages, .. } = interval;
    // Where the time that is left is shown, that which has passed is the first that can be missed.
    let elapsed_importance = if left_ns.is_some() { 0 } else { 4 };
    let per_second = rate(interval, *messages);
    let parts = [
        Some(part(elapsed_importance, format!("{elapsed:>6.1} s"), format!("{elapsed:.0} s"))),
        Some(same(MOST_IMPORTANT, format!("{:.0}/s", rate(interval, interval.ok + failed)))),
        (*messages > 0).then(|| {
            part(1, format!("{per_second:.0} messages/s"), format!("{per_second:.0} msg/s"))
        }),
        Some(part(2, format!("in flight {in_flight}"), format!("fly {in_flight}"))),
        Some(part(5, format!("errors {failed}"), format!("err {failed}"))),
        Some(same(3, format!("p50 {}", latency(interval, 50.0)))),
        Some(same(6, format!("p99 {}", latency(interval, 99.0)))),
        left_ns.map(|left_ns| same(4, format!("{:.0} s left", seconds(left_ns)))),
    ];
    parts.into_iter().flatten().collect()
}

/// A view of a run on a terminal: two lines, the later in the place of the earlier. No line is as
/// wide as the terminal, which would break it.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    /// Length of the window, where its end is a time, nanoseconds.
    window_ns: Option<u64>,
    /// 99th percentiles of the last intervals, nanoseconds.
    p99_ns: VecDeque<u64>,
    /// How many columns the terminal had, and which of the forms had room in it: a wider one would
    /// come and go with the length of a figure.
    columns: usize,
    form: usize,
    /// The lengths of the lines that stand on the terminal, columns.
    drawn: Option<[usize; 2]>,
}

impl LiveView {
    /// The view of a run whose window has that length, if it ends by time.
    pub fn new(window_ns: Option<u64>) -> Self {
        Self { window_ns, ..Self::default() }
    }

    /// What is written to a terminal of `columns` columns after an interval.
    pub fn draw(&mut self, interval: &RunInterval, columns: usize) -> String {
        let erased = self.clear(columns);
        let [line, chart] = self.lines(interval, columns);
        self.drawn = Some([line.chars().count(), chart.chars().count()]);
        format!("{erased}{line}\n{chart}\n")
    }

    /// What takes the view away from a terminal of `columns` columns. One that was made narrower
    /// has broken its lines.
    pub fn clear(&mut self, columns: usize) -> String {
        let Some(drawn) = self.drawn.take() else {
            return String::new();
        };
        let rows: usize = drawn.iter().map(|length| length.div_ceil(columns.max(1)).max(1)).sum();
        format!("\x1b[{rows}A\x1b[J")
    }

    /// The two lines after an interval, each without its break.
    fn lines(&mut self, interval: &RunInterval, columns: usize) -> [String; 2] {
        if self.p99_ns.len() == CHART_INTERVALS {
            self.p99_ns.pop_front();
        }
        self.p99_ns.push_back(interval.latencies.at(99.0));
        if self.columns != columns {
            (self.columns, self.form) = (columns, 0);
        }
        // Some terminals go on to the next line as soon as the last column is written.
        let room = columns.saturating_sub(1);
        [self.first_line(interval, room), self.chart(room)]
    }

    fn first_line(&mut self, interval: &RunInterval, room: usize) -> String {
        let left_ns = self.window_ns.map(|window_ns| window_ns.saturating_sub(interval.end_ns));
        let parts = parts(interval, left_ns);
        let mut narrowest = String::new();
        for (number, form) in forms().enumerate().skip(self.form) {
            self.form = number;
            narrowest = line(&parts, form);
            if narrowest.chars().count() <= room {
                break;
            }
        }
        narrowest.chars().take(room).collect()
    }

    /// The tail of the last intervals, as many as there is room for.
    fn chart(&self, room: usize) -> String {
        /// `p99 `, ` at most ` and the widest time.
        const WORDS: usize = 22;
        /// Fewer bars are no picture.
        const BARS_MIN: usize = 8;
        let says_most = room >= WORDS + BARS_MIN;
        let bars = room.saturating_sub(if says_most { WORDS } else { "p99 ".len() });
        let shown = self.p99_ns.iter().skip(self.p99_ns.len().saturating_sub(bars));
        let most_ns = shown.clone().copied().max().unwrap_or(0);
        let bars: String = shown.map(|p99_ns| bar(*p99_ns, most_ns)).collect();
        let most = if says_most {
            format!(" at most {}", summary::duration(most_ns))
        } else {
            String::new()
        };
        format!("p99 {bars}{most}").chars().take(room).collect()
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
        view.lines(&interval(1, &[1_000]), 200);
        let [line, chart] = view.lines(&interval(2, &[8_000]), 200);
        assert!(line.ends_with("8 s left"), "{line}");
        assert_eq!(chart, "p99 ▁█ at most 8.00 µs");
        for second in 3..100 {
            view.lines(&interval(second, &[1_000]), 200);
        }
        assert_eq!(view.p99_ns.len(), CHART_INTERVALS);
    }

    /// Half an hour, a million failures and times of six digits: as wide as it becomes.
    fn wide(second: u64) -> RunInterval {
        let mut wide = interval(second, &[]);
        (wide.ok, wide.failed, wide.in_flight) = (4_567_890, 1_000_000, 10_000);
        (0..100).for_each(|_| wide.latencies.record(284_420));
        wide
    }

    #[test]
    fn figures_are_whole_at_every_width() {
        let (mut view, mut runs) = (LiveView::new(Some(3_600_000_000_000)), 1_800..);
        let mut at = |columns| {
            let [line, chart] = view.lines(&wide(runs.next().unwrap()), columns);
            assert!(line.chars().count() < columns.max(1) && chart.chars().count() < columns);
            line
        };
        let p50 = "p50 284.42 µs";
        let p99 = "p99 284.42 µs";
        let all = format!("errors 1000000   {p50}   {p99}");
        assert_eq!(
            at(110),
            format!("1800.0 s   5567890/s   in flight 10000   {all}   1800 s left")
        );
        let closer = all.replace("   ", "  ");
        let whole = format!("1801.0 s  5567890/s  in flight 10000  {closer}  1799 s left");
        assert_eq!(at(100), whole);
        let shorter = format!("fly 10000  err 1000000  {p50}  {p99}");
        assert_eq!(at(90), format!("1802 s  5567890/s  {shorter}  1798 s left"));
        assert_eq!(at(80), format!("5567890/s  {shorter}  1797 s left"));
        assert_eq!(at(60), format!("5567890/s  err 1000000  {p99}  1796 s left"));
        assert_eq!(at(40), format!("5567890/s  err 1000000  {p99}"));
        assert_eq!(at(20), "5567890/s");
        assert_eq!(at(6), "55678");
    }

    #[test]
    fn an_usual_line_has_all_its_words_at_80_columns() {
        let mut view = LiveView::new(Some(8_000_000_000));
        let [line, _] = view.lines(&interval(1, &[284_000, 5_250_000]), 80);
        let words = ["   1.0 s  3/s  in flight 7  errors 1  p50 284", "  p99 5.25 ms  7 s left"];
        assert!(words.iter().all(|part| line.contains(part)), "{line}");
    }

    #[test]
    fn what_is_shown_does_not_come_and_go() {
        let mut view = LiveView::new(Some(3_600_000_000_000));
        let heading = |line: &str| line.split("p99").next().unwrap().contains("p50");
        let [narrow, _] = view.lines(&wide(1_000), 60);
        let [again, _] = view.lines(&interval(1_001, &[1_000]), 60);
        assert!(!heading(&narrow) && !heading(&again), "{narrow} {again}");
        let [wider, _] = view.lines(&interval(1_002, &[1_000]), 80);
        assert!(heading(&wider), "{wider}");
    }

    #[test]
    fn a_view_takes_its_own_place_whatever_became_of_the_terminal() {
        let mut view = LiveView::new(None);
        assert!(!view.draw(&interval(1, &[1_000]), 80).contains('\x1b'));
        let text = view.draw(&interval(2, &[1_000]), 80);
        assert!(text.starts_with("\x1b[2A\x1b[J") && text.matches('\n').count() == 2, "{text}");
        // Its 57 letters have become two lines at 40 columns.
        assert!(view.draw(&interval(3, &[1_000]), 40).starts_with("\x1b[3A\x1b[J"));
        assert_eq!(view.clear(40), "\x1b[2A\x1b[J");
        assert_eq!(view.clear(40), "", "it is gone");
    }
}
