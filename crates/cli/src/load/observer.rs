//! The observers of a run: people, programs, the lab.

use super::audience::Audience;
use crate::terminal::{columns, is_redrawn};
use bookend_contract::lines::Line;
use bookend_load::hdr_log::HdrLog;
use bookend_load::live::{self, LiveFormat, LiveView};
use bookend_load::output;
use bookend_load::record::{LatencyTimeline, RunInterval};
use bookend_load::run::{RunObserver, WindowEdge};
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, SystemTime};

/// Shows a run on standard error while it goes on, and keeps its log of latencies.
pub struct Observer {
    audience: Audience,
    shown: Shown,
    keeps_log: bool,
    /// From the start of the window on, where it is kept.
    pub log: Option<HdrLog>,
    /// Latencies over the window, where the result has them.
    pub latencies: Option<LatencyTimeline>,
}

enum Shown {
    Nothing,
    Lines,
    Json,
    View(LiveView),
}

impl Observer {
    /// Watches a run whose window has that length, if it ends by time. `keeps_log`: whether its
    /// latencies are logged. `keeps_latencies`: whether its result says how they went.
    pub fn new(
        audience: Audience,
        format: LiveFormat,
        window_ns: Option<u64>,
        keeps_log: bool,
        keeps_latencies: bool,
    ) -> Self {
        let is_for_people = audience == Audience::People && stderr().is_terminal();
        let shown = match format {
            LiveFormat::Auto if is_for_people && is_redrawn() => {
                Shown::View(LiveView::new(window_ns))
            }
            LiveFormat::Auto if is_for_people => Shown::Lines,
            LiveFormat::Auto | LiveFormat::Off => Shown::Nothing,
            LiveFormat::Lines => Shown::Lines,
            LiveFormat::Json => Shown::Json,
        };
        let latencies = keeps_latencies.then(|| LatencyTimeline::new(live::INTERVAL));
        Self { audience, shown, keeps_log, log: None, latencies }
    }

    /// The window begins at that time. Only the first time counts.
    pub fn window_begins(&mut self, at: SystemTime) {
        if self.keeps_log && self.log.is_none() {
            self.log = Some(HdrLog::new(at));
        }
    }

    /// The run is over: the terminal is as it was before.
    pub fn clear(&mut self) {
        if let Shown::View(view) = &mut self.shown {
            show(&view.clear(columns()));
        }
    }

    fn draw(&mut self, interval: &RunInterval) {
        let text = match &mut self.shown {
            Shown::Nothing => return,
            Shown::Lines => live::text_line(interval) + "\n",
            Shown::Json => live::json_line(interval) + "\n",
            Shown::View(view) => view.draw(interval, columns()),
        };
        show(&text);
    }
}

/// Where nobody reads it any more, the run goes on.
fn show(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

impl RunObserver for Observer {
    fn edge(&mut self, edge: WindowEdge) {
        if edge == WindowEdge::Start {
            self.window_begins(SystemTime::now());
        }
        if self.audience == Audience::Lab {
            let line = match edge {
                WindowEdge::Start => Line::WindowStart,
                WindowEdge::End => Line::WindowEnd,
            };
            // If the lab is gone, the end of standard input ends the run.
            let _ = output::write(&format!("{line}\n"), None);
        }
    }

    fn interval_length(&self) -> Option<Duration> {
        let is_kept = self.keeps_log || self.latencies.is_some();
        let is_wanted = is_kept || !matches!(self.shown, Shown::Nothing);
        is_wanted.then_some(live::INTERVAL)
    }

    fn interval(&mut self, interval: &RunInterval) {
        self.draw(interval);
        if let Some(log) = &mut self.log {
            log.add(interval);
        }
        if let Some(latencies) = &mut self.latencies {
            latencies.add(interval);
        }
    }
}
