//! How far a race is: one line that changes on a terminal, and one every ten seconds elsewhere.

use crate::terminal::progress_shown;
use bookend_lab::progress::{Clock, ProgressBar, ProgressShown, changing_line};
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
    next: Duration,
}

impl RaceProgress {
    /// For a race that takes at most `budget`.
    pub fn new(is_quiet: bool, budget: Duration) -> RaceProgress {
        let shown = progress_shown(is_quiet);
        let next = if shown == ProgressShown::Lines { LINE_INTERVAL } else { Duration::ZERO };
        RaceProgress { shown, budget, next }
    }

    /// Shows where the race stands, if it is time to.
    pub fn show(&mut self, elapsed: Duration, standing: &Standing, race: &Race) {
        if elapsed < self.next {
            return;
        }
        let left = Clock(self.budget.saturating_sub(elapsed));
        let text = format!("{left} left: {}", position(standing, race));
        match self.shown {
            ProgressShown::Quiet => {}
            ProgressShown::Lines => {
                self.next = elapsed + LINE_INTERVAL;
                write(&format!("{text}\n"));
            }
            ProgressShown::Terminal => {
                self.next = elapsed + LOOK_INTERVAL;
                let share = elapsed.as_secs_f64() / self.budget.as_secs_f64();
                write(&changing_line(&format!("{}, {text}", ProgressBar(share))));
            }
        }
    }

    /// Takes the changing line away.
    pub fn clear(&self) {
        if self.shown == ProgressShown::Terminal {
            write(&changing_line(""));
        }
    }
}

fn position(standing: &Standing, race: &Race) -> String {
    let starts = match race.starts.len() {
        1 => String::new(),
        starts => format!("start {starts}, "),
    };
    let ratio = match (standing.cost_interval(), race.servers.get(1)) {
        (Some(interval), Some(RaceServerName { name, .. })) => format!(
            "{name} {:+.2} % ({:+.2} % to {:+.2} %)",
            (standing.cost_ratio() - 1.0) * 100.0,
            (interval.low - 1.0) * 100.0,
            (interval.high - 1.0) * 100.0
        ),
        (_, None) => format!("{} rounds", standing.rounds()),
        (None, Some(_)) => "no interval yet".to_owned(),
    };
    starts + &ratio
}

/// A race does not fail because its progress cannot be written.
fn write(text: &str) {
    let mut out = io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
