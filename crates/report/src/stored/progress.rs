//! How far the newest run is: a line that moves while the run goes on.

use super::{ListedRun, StorePages};
use bookend_results::quoted::quoted_line;
use maud::{Markup, html};
use serde::Serialize;

/// How far the newest run of a store is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunProgress {
    /// In words.
    text: String,
    /// Rounds that are stored.
    stored: usize,
    /// Rounds that were planned.
    planned: u32,
    /// Whether nothing more will come.
    has_ended: bool,
    /// Where the run's page is. Empty: there is no run.
    address: String,
}

impl StorePages {
    /// How far that run is. `None`: the store has no run.
    pub fn progress(&self, newest: Option<&ListedRun>) -> RunProgress {
        let Some(ListedRun { run, rounds, .. }) = newest else {
            return RunProgress {
                text: "No run has started yet.".to_owned(),
                stored: 0,
                planned: 1,
                has_ended: true,
                address: String::new(),
            };
        };
        let plan = &run.new.plan;
        let state = match run.finished {
            Some(end) => format!(": ended at {end}."),
            None => format!(": {rounds} of {} rounds are stored.", plan.rounds),
        };
        RunProgress {
            text: format!("Run {}, {}{state}", run.id, quoted_line(&plan.suite)),
            stored: *rounds,
            planned: plan.rounds,
            has_ended: run.finished.is_some(),
            address: self.run_address(run.id),
        }
    }
}

impl RunProgress {
    /// The progress as the data of an event, in one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("its fields have names")
    }

    /// The line as it is now; the script of the page keeps it so by the events of that address.
    pub(super) fn html(&self, events: &str) -> Markup {
        let has_page = !self.address.is_empty();
        html! {
            div class="live" data-events=(events) {
                p role="status" { (self.text) } "\n"
                progress aria-label="rounds stored" max=(self.planned) value=(self.stored)
                    hidden[self.has_ended] {} "\n"
                a href=(self.address) hidden[!has_page] { "Its page" }
            } "\n"
        }
    }
}
