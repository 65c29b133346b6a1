//! How far a race is: one line that changes on a terminal, and one every ten seconds elsewhere.

use super::arguments::RaceArguments;
use crate::terminal::{columns, print_error, progress_shown};
use bookend_contract::printable;
use bookend_lab::progress::{Clock, ProgressBar, ProgressShown, changing_line, fits};
use bookend_results::race::{Race, RaceServerName, Standing};
use std::io::{self, Write as _};
use std::time::Duration;

/// Between two looks: writing one takes time of the CPU that makes the calls.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Between two lines that stay.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Reports how far a race is.
pub struct RaceProgress {
    shown: ProgressShown,
    budget: Duration,
    /// How narrow the interval is to become, as a share to either side.
    until: Option<f64>,
    next: Duration,
}

impl RaceProgress {
    /// For a race of such arguments.
    pub fn new(arguments: &RaceArguments) -> RaceProgress {
        let shown = progress_shown(arguments.quiet);
        let next = if shown == ProgressShown::Lines { LINE_INTERVAL } else { Duration::ZERO };
        RaceProgress { shown, budget: arguments.budget(), until: arguments.until, next }
    }

    /// Shows where the race stands, if it is time to.
    pub fn show(&mut self, elapsed: Duration, standing: &Standing, race: &Race) {
        if elapsed < self.next {
            return;
        }
        let left = Clock(self.budget.saturating_sub(elapsed));
        let outlook = self.outlook(elapsed, standing);
        let ratio = ratio(standing, race);
        let text = format!("{left} left: {}{ratio}{outlook}", start(race));
        match self.shown {
            ProgressShown::Quiet => {}
            ProgressShown::Lines => {
                self.next = elapsed + LINE_INTERVAL;
                print_error(&text);
            }
            ProgressShown::Terminal => {
                self.next = elapsed + LOOK_INTERVAL;
                let share = elapsed.as_secs_f64() / self.budget.as_secs_f64();
                write(&drawn(ProgressBar(share), [&text, &ratio], columns()));
            }
        }
    }

    /// Takes the changing line away.
    pub fn clear(&self) {
        if self.shown == ProgressShown::Terminal {
            write(&changing_line("", columns()));
        }
    }

    /// Where the interval was to be narrower than it became, says how long that would take.
    pub fn say_width(&self, elapsed: Duration, standing: &Standing) {
        if let Some(width) = self.until.filter(|width| !standing.is_within(*width)) {
            print_error(&not_narrow(width, elapsed, standing));
        }
    }

    /// When the interval will be as narrow as it is to become.
    fn outlook(&self, elapsed: Duration, standing: &Standing) -> String {
        let times = self.until.and_then(|width| Some((width, standing.times_until(width)?)));
        times.filter(|(_, times)| *times > 1.0).map_or_else(String::new, |(width, times)| {
            let more = Clock(elapsed.mul_f64(times - 1.0));
            format!(", ±{} in about {more}", percent(width))
        })
    }
}

/// The changing line. Where there is no room, figures go before the bar, and the ratio before all.
fn drawn(bar: ProgressBar, [text, ratio]: [&str; 2], columns: usize) -> String {
    let forms = [format!("{bar}, {text}"), format!("{bar:#}, {text}"), format!("{bar:#}, {ratio}")];
    let form = forms.iter().find(|form| fits(&printable::line(form), columns));
    changing_line(form.map_or(ratio, String::as_str), columns)
}

/// What to ask for instead.
fn not_narrow(width: f64, elapsed: Duration, standing: &Standing) -> String {
    let width_text = percent(width);
    match standing.times_until(width) {
        Some(times) => {
            let minutes = (elapsed.mul_f64(times).as_secs_f64() / 60.0).ceil().max(1.0);
            format!(
                "the interval is wider than ±{width_text}: as rounds differ here, that takes about \
                 --budget {minutes}m"
            )
        }
        None => format!(
            "the interval is wider than ±{width_text}, and there are too few starts or rounds to \
             say what it takes"
        ),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

fn start(race: &Race) -> String {
    match race.starts.len() {
        1 => String::new(),
        starts => format!("start {starts}, "),
    }
}

fn ratio(standing: &Standing, race: &Race) -> String {
    match (standing.cost_interval(), race.servers.get(1)) {
        (Some(interval), Some(RaceServerName { name, .. })) => format!(
            "{name} {:+.2} % ({:+.2} % to {:+.2} %)",
            (standing.cost_ratio() - 1.0) * 100.0,
            (interval.low - 1.0) * 100.0,
            (interval.high - 1.0) * 100.0
        ),
        (_, None) => format!("{} rounds", standing.rounds()),
        (None, Some(_)) => "no interval yet".to_owned(),
    }
}

/// A race does not fail because its progress cannot be written.
fn write(text: &str) {
    let mut out = io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_the_figures_without_the_bar() {
        let ratio = "mine -1.23 % (-2.50 % to +0.04 %)";
        let text = format!("2 min left: start 3, {ratio}");
        let at = |columns| drawn(ProgressBar(0.25), [&text, ratio], columns);
        assert_eq!(at(100), format!("\r\x1b[2K[#####---------------]  25 %, {text}"));
        assert_eq!(at(80), format!("\r\x1b[2K 25 %, {text}"));
        assert_eq!(at(60), format!("\r\x1b[2K 25 %, {ratio}"));
        assert_eq!(at(40), format!("\r\x1b[2K{ratio}"));
    }
}
