//! How far a race is: one line that changes on a terminal, and one every ten seconds elsewhere.

use super::plan::RacePlan;
use crate::progress::{Clock, ProgressBar, ProgressShown, changing_line, fits};
use bookend_contract::printable;
use bookend_results::race::{Race, RaceServerName, Standing};
use std::io::Write;
use std::time::Duration;

/// Between two looks: writing one takes time of the CPU that makes the calls.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Between two lines that stay.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Reports how far a race is.
pub struct RaceProgress<'a> {
    out: &'a mut dyn Write,
    shown: ProgressShown,
    /// How many columns the terminal has now.
    columns: fn() -> usize,
    budget: Duration,
    /// How narrow the interval is to become, as a share to either side.
    until: Option<f64>,
    next: Duration,
}

impl<'a> RaceProgress<'a> {
    /// Reports on `out`.
    pub fn new(
        out: &'a mut dyn Write,
        shown: ProgressShown,
        columns: fn() -> usize,
        plan: &RacePlan,
    ) -> RaceProgress<'a> {
        let next = if shown == ProgressShown::Lines { LINE_INTERVAL } else { Duration::ZERO };
        RaceProgress { out, shown, columns, budget: plan.budget, until: plan.until, next }
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
                self.write(&format!("{}\n", printable::line(&text)));
            }
            ProgressShown::Terminal => {
                self.next = elapsed + LOOK_INTERVAL;
                let share = elapsed.as_secs_f64() / self.budget.as_secs_f64();
                let line = drawn(ProgressBar(share), [&text, &ratio], (self.columns)());
                self.write(&line);
            }
        }
    }

    /// Takes the changing line away.
    pub fn clear(&mut self) {
        if self.shown == ProgressShown::Terminal {
            self.write(&changing_line("", (self.columns)()));
        }
    }

    /// A race does not fail because its progress cannot be written.
    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
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

pub(super) fn percent(share: f64) -> String {
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
