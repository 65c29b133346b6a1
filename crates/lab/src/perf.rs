//! Where the CPU time of a server goes: samples of `perf`, split over the layers of a server.
//!
//! Profiling costs what is profiled, so it is a pass of its own after the measured rounds; no
//! figure of a table is from it. What it yields is kept in a folder: a flame graph and its stacks
//! for each cell, `split.csv`, and `profile.json`, from which everything can be made again.

mod folded;
mod pass;
mod recording;
mod tool;

pub use folded::{FoldError, Folded};
pub use recording::Recording;
pub use tool::{FREQUENCY_HZ, Perf, PerfUnavailable, RecordTarget};

use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::progress::ProgressReporter;
use crate::round::{Pairing, Workload};
use bookend_results::measurement::CellId;
use bookend_results::profile::{
    self, Profile, ProfileOutcome, Profiled, RecordedWindow, Rules, SCHEMA_VERSION, Samples,
};
use bookend_results::suite::{Case, Plan, PlannedCell};
use pass::ProfilePass;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// The shortest window that is recorded, milliseconds: of its ten thousand samples, work that is
/// one in three hundred has thirty.
pub const WINDOW_MIN_MS: u64 = 10_000;

/// The longest, milliseconds: more samples tell nothing new.
pub const WINDOW_MAX_MS: u64 = 20_000;

/// The shortest warm-up before it, milliseconds.
pub const WARMUP_MIN_MS: u64 = 1_000;

/// What is recorded, and where it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileSettings {
    /// The program `perf`.
    pub perf: PathBuf,
    /// Where everything is kept; made if it is not there.
    pub folder: PathBuf,
    /// The cases that are recorded.
    pub cases: Vec<Case>,
    /// Warm-up of each recording, milliseconds.
    pub warmup_ms: u64,
    /// Length of each recording, milliseconds.
    pub window_ms: u64,
}

impl ProfileSettings {
    /// The usual settings for a run: `perf` as the system finds it, windows as long as the run's
    /// own within reason, and for every subject the case in which it is busiest.
    pub fn of(plan: &Plan, folder: PathBuf) -> ProfileSettings {
        ProfileSettings {
            perf: PathBuf::from("perf"),
            folder,
            cases: busiest_cases(plan),
            warmup_ms: plan.warmup_ms.max(WARMUP_MIN_MS),
            window_ms: plan.window_ms.clamp(WINDOW_MIN_MS, WINDOW_MAX_MS),
        }
    }
}

/// The busiest case of a plan, and for every subject that is not measured in it the subject's own,
/// so that each is recorded in one.
fn busiest_cases(plan: &Plan) -> Vec<Case> {
    let cells = plan.cells();
    let all = cells.iter().map(|cell| cell.case);
    let mut chosen: Vec<Case> = busiest_case(all).into_iter().collect();
    for subject in 0..plan.subjects.len() {
        let own: Vec<Case> =
            cells.iter().filter(|cell| cell.subject == subject).map(|cell| cell.case).collect();
        if !own.iter().any(|case| chosen.contains(case)) {
            chosen.extend(busiest_case(own));
        }
    }
    chosen
}

/// The case with the most streams on a connection: there a server is least often idle, and its
/// samples tell of the server more than of waking up. Of several, the one with fewest connections,
/// for each finds enough to do; but where a connection has one stream, the one with most of them.
fn busiest_case(cases: impl IntoIterator<Item = Case>) -> Option<Case> {
    let streams = |case: &Case| case.concurrency / case.connections.max(1);
    let connections = |case: &Case| match streams(case) {
        0 | 1 => u32::MAX - case.connections,
        _ => case.connections,
    };
    let rank = |case: &Case| (Reverse(streams(case)), connections(case));
    cases.into_iter().min_by_key(rank)
}

/// Records every cell of the chosen cases, one after the other, and keeps what came of it. What is
/// wrong with a single subject is in its row.
///
/// The calling thread must live as long as the recording, as with rounds.
///
/// # Errors
/// [`PerfUnavailable`]: nothing can be recorded here, and what to do about it.
pub fn run(
    context: &RunContext,
    settings: &ProfileSettings,
    progress: &mut ProgressReporter<'_>,
) -> Result<Profile, PerfUnavailable> {
    let plan = &context.plan;
    std::fs::create_dir_all(&settings.folder).map_err(PerfUnavailable::Folder)?;
    let perf = Perf::find(&settings.perf, &settings.folder)?;
    let names_instrument = plan.instruments().len() > 1;
    let recorder = Recorder { context, settings, perf, names_instrument };
    let mut profile = Profile {
        schema_version: SCHEMA_VERSION,
        suite: plan.suite.clone(),
        frequency_hz: FREQUENCY_HZ,
        cells: Vec::new(),
    };
    for cell in plan.cells().into_iter().filter(|cell| settings.cases.contains(&cell.case)) {
        progress.println(&format!("recording {} {}", cell.id.subject, cell.id.case));
        let outcome = match recorder.record(&cell) {
            Ok(samples) => ProfileOutcome::Recorded(Box::new(samples)),
            Err(CellError::Interrupted) => break,
            Err(error) => ProfileOutcome::NotRecorded { reason: error.to_string() },
        };
        profile.cells.push(Profiled {
            language: recorder.language(&cell.id.subject),
            is_baseline: plan.subjects[cell.subject].baseline,
            subject: cell.id.subject,
            case: cell.case,
            instrument: cell.id.instrument,
            outcome,
        });
    }
    profile.add_cost_ratios();
    profile::write(&settings.folder, &profile).map_err(PerfUnavailable::Folder)?;
    Ok(profile)
}

struct Recorder<'a> {
    context: &'a RunContext,
    settings: &'a ProfileSettings,
    perf: Perf,
    names_instrument: bool,
}

impl Recorder<'_> {
    fn record(&self, cell: &PlannedCell) -> Result<Samples, CellError> {
        let subject = &self.context.prepared.get(&cell.id.subject)?.subject;
        let name = cell_name(&cell.id, self.names_instrument);
        let pass = ProfilePass {
            context: self.context,
            perf: &self.perf,
            pairing: &Pairing::of(self.context, cell)?,
            workload: Workload {
                warmup_ms: self.settings.warmup_ms,
                window_ms: self.settings.window_ms,
                ..Workload::of_plan(&self.context.plan, cell.case)
            },
            file: &self.settings.folder.join(format!(".{name}.perf.data")),
        };
        let recorded = pass.record()?;
        let id = &cell.id;
        let (count, event) = (recorded.folded.samples(), &recorded.event);
        let title = format!("{} {}", id.subject, id.case);
        let subtitle = format!("{count} samples of {event}, load by {}", id.instrument);
        let picture = recorded.folded.flame_graph(title, subtitle).map_err(CellError::failed)?;
        let folder = &self.settings.folder;
        let flame_graph = write_file(folder, format!("{name}.svg"), &picture)?;
        let stacks = recorded.folded.text().as_bytes();
        let stacks = write_file(folder, format!("{name}.folded"), stacks)?;
        let rules = Rules::for_subject(&subject.name, &subject.language);
        let split = profile::split(recorded.folded.stacks(), &rules);
        let measurement = &recorded.measurement;
        let window = RecordedWindow {
            language: &subject.language,
            event: &recorded.event,
            frequency_hz: FREQUENCY_HZ,
            measurement,
            split: &split,
        };
        Ok(Samples {
            window_seconds: measurement.window_seconds,
            ok: measurement.counts.ok,
            notes: profile::sample_notes(window, recorded.folded.stacks()),
            event: recorded.event.clone(),
            split,
            cost_ratio: None,
            flame_graph,
            stacks,
        })
    }

    fn language(&self, name: &str) -> String {
        self.context
            .prepared
            .get(name)
            .map_or_else(|_| String::new(), |known| known.subject.language.clone())
    }
}

/// Writes one file and returns its name.
fn write_file(folder: &Path, name: String, bytes: &[u8]) -> Result<String, CellError> {
    let file = folder.join(&name);
    std::fs::write(&file, bytes)
        .map_err(|error| CellError::failed(format!("cannot write {}: {error}", file.display())))?;
    Ok(name)
}

/// What the files of a cell are called: `rust-tonic-C1-S100`.
fn cell_name(cell: &CellId, names_instrument: bool) -> String {
    let mut name = format!("{} {}", cell.subject, cell.case).replace('=', "");
    if names_instrument {
        name = format!("{name} via {}", cell.instrument);
    }
    name.replace([' ', '/'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busiest(cases: &[(u32, u32)]) -> Option<(u32, u32)> {
        let case = |&(connections, concurrency)| Case::new(connections, concurrency).unwrap();
        let chosen = busiest_case(cases.iter().map(case))?;
        Some((chosen.connections, chosen.concurrency))
    }

    #[test]
    fn the_case_with_most_streams_on_a_connection_is_recorded() {
        assert_eq!(busiest(&[(1, 1), (1, 1000), (100, 100), (10, 100)]), Some((1, 1000)));
        assert_eq!(busiest(&[(100, 100_000), (1, 1000), (10, 10_000)]), Some((1, 1000)));
        assert_eq!(busiest(&[]), None);
    }

    #[test]
    fn where_each_stream_has_its_connection_the_most_of_them_are() {
        assert_eq!(busiest(&[(1, 1), (64, 64), (256, 256), (8, 8)]), Some((256, 256)));
    }
}
