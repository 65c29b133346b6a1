//! What an agent has measured and nobody has heard.

use crate::load::origin::origin;
use bookend_load::output::{self, OutputFormat};
use bookend_load::plan::ReportedPlan;
use bookend_load::report::report_of;
use bookend_load::run::LoadOutcome;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The result of an agent's share of a run.
pub struct KeptShare {
    /// What is reported of the plan of its share.
    pub plan: ReportedPlan,
    /// When it began.
    pub started: SystemTime,
    /// What was measured.
    pub outcome: LoadOutcome,
}

impl KeptShare {
    /// Writes it into a folder, as the JSON of `bookend load`; `None`: it cannot be written.
    pub fn write(&self, folder: &Path) -> Option<PathBuf> {
        let mut report = report_of(&self.plan, self.started, &self.outcome);
        report.bookend.origin = Some(origin());
        let seconds = self.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let file = folder.join(format!("bookend-agent-{seconds}-{}.json", std::process::id()));
        let page = |_: &_| String::new();
        let calls = self.outcome.calls.as_ref();
        let write = |to: &mut dyn std::io::Write| {
            output::write_report(&report, calls, OutputFormat::Json, &page, to)
        };
        output::deliver(Some(&file), write).ok()?;
        Some(file)
    }
}
