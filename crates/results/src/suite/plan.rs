//! What one run will do: the suite, as narrowed by the command line and overridden by the
//! environment. A request that cannot be met becomes a note above the table; nothing is dropped
//! silently.

use super::{
    Case, CaseError, FULL_ROUNDS_MIN, LapSetting, Overrides, PlannedSubject, QUICK_ROUNDS_MIN,
    ROUNDS_MAX, Request, Schedule, ServerLife, ShortWindows, Suite, SuiteLimits,
};
use crate::grouping::each_once;
use crate::measurement::CellId;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How long a server may take to end after cases with a fixed number of calls: these can leave it
/// with thousands of calls that no client waits for any more.
pub const DRAIN_AFTER_CALLS: Duration = Duration::from_secs(10);

/// What starting and ending the processes of a cell takes, as suites count on it.
const CELL_OVERHEAD: Duration = Duration::from_millis(700);

/// The schedule of the suite that is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// The whole grid with long windows.
    #[default]
    Full,
    /// A few cells with short windows, for a first look.
    Quick,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// More cells than any table could show: fifty times those of the largest suite here.
pub const CELLS_MAX: usize = 10_000;

/// What the command line selects of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The schedule.
    pub extent: Extent,
    /// Only these subjects, in this order. `None`: all subjects of the suite.
    pub subjects: Option<Vec<String>>,
    /// Only the cases with these texts, such as `C=1 S=100`. `None`: all cases of the schedule.
    pub cases: Option<Vec<String>>,
    /// The number of rounds, instead of the suite's.
    pub rounds: Option<u32>,
    /// Whether cells are measured in laps, instead of what the suite says.
    pub laps: Option<LapSetting>,
    /// Processes and threads of a server under test, instead of every limit of the suite.
    pub server_processes: Option<u32>,
}

/// What one run does. It is stored with the run, so it holds no absolute paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the suite.
    pub suite: String,
    /// The schedule of the suite.
    pub extent: Extent,
    /// The call that is made; files are relative to the suite's folder.
    pub request: Request,
    /// The resources that both ends may use.
    #[serde(flatten)]
    pub limits: SuiteLimits,
    /// CPUs of the generator. `None`: the CPUs that the server does not use.
    pub generator_cpus: Option<u32>,
    /// Warm-up of each cell, milliseconds.
    pub warmup_ms: u64,
    /// Window of each cell, milliseconds, as long as that holds its calls.
    pub window_ms: u64,
    /// The longest window that a cell may get whose calls take longer. `None`: all have the same.
    #[serde(default)]
    pub window_max_ms: Option<u64>,
    /// What becomes of a cell for which that is not enough.
    #[serde(default, skip_serializing_if = "ShortWindows::are_refused")]
    pub short_windows: ShortWindows,
    /// How long a lap is at least, milliseconds. `None`: each cell has one window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lap_ms: Option<u64>,
    /// Deadline of each call, milliseconds. `None`: the caller's own default.
    pub deadline_ms: Option<u64>,
    /// How long a server may take to end, milliseconds. `None`: as the contract says.
    pub drain_ms: Option<u64>,
    /// How often each cell is measured.
    pub rounds: u32,
    /// How long a server lives.
    #[serde(default)]
    pub server_life: ServerLife,
    /// The subjects, in the order of the table.
    pub subjects: Vec<PlannedSubject>,
    /// The cases, in the order of the table.
    pub cases: Vec<Case>,
    /// Cases that only these instruments measure. Other cases are measured with all instruments of
    /// a subject.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instruments_of: BTreeMap<Case, Vec<String>>,
    /// Whether handlers wait for something other than the CPU.
    pub handler_waits: bool,
    /// The variables of the environment that were followed, as they were written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Requests that cannot be met, a sentence each; printed above the table.
    pub notes: Vec<String>,
}

/// One subject under one case with one instrument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCell {
    /// Position in [`Plan::subjects`].
    pub subject: usize,
    /// The case.
    pub case: Case,
    /// The key of its rows in the store.
    pub id: CellId,
}

impl Plan {
    /// The time after which calls are given up, nanoseconds. `None`: never.
    pub fn deadline_ns(&self) -> Option<f64> {
        self.deadline_ms.map(|deadline| deadline as f64 * 1e6)
    }

    /// Reads a plan that was stored, for `serde(deserialize_with)`.
    ///
    /// # Errors
    /// It is not a plan, or has more rounds or cells than a plan can have.
    pub fn deserialize_stored<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Plan, D::Error> {
        let plan = Plan::deserialize(deserializer)?;
        if plan.rounds > ROUNDS_MAX {
            return Err(D::Error::custom(PlanError::Rounds(plan.rounds)));
        }
        let in_a_case: usize = plan.subjects.iter().map(|subject| subject.instruments.len()).sum();
        match in_a_case.saturating_mul(plan.cases.len()) > CELLS_MAX {
            true => Err(D::Error::custom(format!("it has more than {CELLS_MAX} cells"))),
            false => Ok(plan),
        }
    }

    /// Every cell of one round, in the order of the table; the lab shuffles them.
    pub fn cells(&self) -> Vec<PlannedCell> {
        let mut cells = Vec::new();
        for &case in &self.cases {
            let only = self.instruments_of.get(&case);
            let takes = |name: &&String| only.is_none_or(|only| only.contains(name));
            for instrument in self.instruments().into_iter().filter(takes) {
                for (subject, planned) in self.subjects.iter().enumerate() {
                    if planned.is_measured(case, instrument) {
                        let id = CellId {
                            subject: planned.name.clone(),
                            case,
                            instrument: instrument.clone(),
                        };
                        cells.push(PlannedCell { subject, case, id });
                    }
                }
            }
        }
        cells
    }

    /// Notes the subjects without a cell: no row would show that they were left out.
    fn note_unmeasured(&mut self) {
        let cells = self.cells();
        let is_measured = |name: &str| cells.iter().any(|cell| cell.id.subject == name);
        let unmeasured =
            self.subjects.iter().map(|subject| &subject.name).filter(|name| !is_measured(name));
        self.notes
            .extend(unmeasured.map(|name| format!("{name} is measured in none of these cases")));
    }

    /// Every instrument that measures some subject, each once.
    pub fn instruments(&self) -> Vec<&String> {
        each_once(self.subjects.iter().flat_map(|subject| &subject.instruments))
    }

    /// Makes `name` the subject that ratios compare with.
    ///
    /// # Errors
    /// It is not measured, or is a calibration line.
    pub fn compare_with(&mut self, name: &str) -> Result<(), PlanError> {
        let known: Vec<String> = self
            .subjects
            .iter()
            .filter(|subject| !subject.calibration)
            .map(|subject| subject.name.clone())
            .collect();
        if !known.iter().any(|known| known == name) {
            return Err(PlanError::NoBaseline { asked: name.to_owned(), known });
        }
        self.subjects.iter_mut().for_each(|subject| subject.baseline = subject.name == name);
        Ok(())
    }

    /// How long its windows take, and starting and ending the processes of each; builds come on
    /// top, and longer windows where calls take long.
    pub fn least_duration(&self) -> Duration {
        let windows_ms = self.warmup_ms.saturating_add(self.window_ms);
        let cell = Duration::from_millis(windows_ms) + CELL_OVERHEAD;
        let cells = u64::from(self.rounds) * self.cells().len() as u64;
        cell.saturating_mul(u32::try_from(cells).unwrap_or(u32::MAX))
    }

    /// How long it takes, as a run of another plan of the suite tells: what that took a row, with
    /// the windows of this one.
    pub fn expected_duration(&self, other: &Self, took: Duration) -> Duration {
        let rows = |plan: &Self| u128::from(plan.rounds) * plan.cells().len() as u128;
        let windows_ms = |plan: &Self| u128::from(plan.warmup_ms) + u128::from(plan.window_ms);
        let (own, others) = (rows(self), rows(other).max(1));
        let besides_ms = (took.as_millis() * own / others).saturating_sub(own * windows_ms(other));
        // Where calls are counted, windows end before their time.
        let has_calls = self.cases.iter().all(|case| case.calls.is_some());
        let total_ms = match has_calls {
            true => took.as_millis() * own / others,
            false => besides_ms + own * windows_ms(self),
        };
        Duration::from_millis(u64::try_from(total_ms).unwrap_or(u64::MAX))
    }

    /// The subject that ratios compare with, if it was selected.
    pub fn baseline(&self) -> Option<&PlannedSubject> {
        self.subjects.iter().find(|subject| subject.baseline)
    }
}

impl Suite {
    /// Decides what a run does on a machine with `machine_cpus` CPUs.
    ///
    /// # Errors
    /// When the selection or the environment contradicts the suite.
    pub fn plan(
        &self,
        selection: &Selection,
        overrides: &Overrides,
        machine_cpus: u32,
    ) -> Result<Plan, PlanError> {
        let schedule = self.schedule(selection.extent)?;
        let suite = self.request.scenario();
        if let Some(asked) = overrides.scenario.clone().filter(|asked| asked != suite) {
            return Err(PlanError::OtherScenario { asked, suite: suite.to_owned() });
        }
        if selection.server_processes == Some(0) {
            return Err(PlanError::NoProcess);
        }
        let mut notes = Vec::new();
        let mut subjects = self.planned_subjects(selection, schedule, &mut notes)?;
        if selection.server_processes.is_some() {
            subjects.iter_mut().for_each(|subject| subject.server_processes = None);
        }
        let cases = cases(overrides, schedule)?;
        notes.extend(left_out_notes(&subjects, &cases));
        notes.extend(rate_note(overrides));
        notes.extend(ghz_note(overrides, &subjects));
        let window = overrides.window.unwrap_or(schedule.window);
        let limits = &self.limits;
        let server_cpus = overrides.server_cpus.unwrap_or(limits.server_cpus);
        let mut plan = Plan {
            suite: self.name.clone(),
            extent: selection.extent,
            request: self.request.clone(),
            rounds: rounds(selection, schedule, &mut notes)?,
            drain_ms: drain(schedule, &cases).map(millis),
            cases: selected_cases(selection, cases)?,
            instruments_of: schedule.instruments_of.clone(),
            limits: SuiteLimits {
                server_cpus: given_cpus("server", server_cpus, machine_cpus, &mut notes),
                server_memory_bytes: overrides.server_memory_bytes.or(limits.server_memory_bytes),
                server_processes: selection.server_processes.or(limits.server_processes),
                client_cpus: match overrides.client_cpus {
                    // If there are too few, that is noted for the generator.
                    Some(asked) => Some(asked.min(f64::from(machine_cpus))),
                    None => limits
                        .client_cpus
                        .map(|asked| given_cpus("client", asked, machine_cpus, &mut notes)),
                },
            },
            deadline_ms: schedule.deadline.map(millis),
            server_life: schedule.server_life,
            generator_cpus: generator_cpus(overrides, machine_cpus, &mut notes),
            warmup_ms: millis(warmup(overrides, schedule)),
            window_ms: millis(window).max(1),
            window_max_ms: (!schedule.window_max.is_zero())
                .then(|| millis(schedule.window_max.max(window))),
            short_windows: schedule.short_windows,
            lap_ms: selection.laps.unwrap_or(schedule.laps).milliseconds(),
            handler_waits: self.handler_waits,
            variables: overrides.variables.clone(),
            subjects,
            notes,
        };
        plan.note_unmeasured();
        Ok(plan)
    }

    /// A cell of the whole schedule that `plan` leaves out, because subjects were selected or the
    /// environment asked for other cases. `plan` must follow the same schedule.
    pub fn left_out(&self, plan: &Plan) -> Option<CellId> {
        let whole = Selection { extent: plan.extent, ..Selection::default() };
        let whole = self.plan(&whole, &Overrides::default(), u32::MAX).ok()?;
        let planned: Vec<CellId> = plan.cells().into_iter().map(|cell| cell.id).collect();
        whole.cells().into_iter().map(|cell| cell.id).find(|id| !planned.contains(id))
    }

    fn schedule(&self, extent: Extent) -> Result<&Schedule, PlanError> {
        match extent {
            Extent::Full => Ok(&self.full),
            Extent::Quick => self.quick.as_ref().ok_or(PlanError::NoQuickPart),
        }
    }

    fn planned_subjects(
        &self,
        selection: &Selection,
        schedule: &Schedule,
        notes: &mut Vec<String>,
    ) -> Result<Vec<PlannedSubject>, PlanError> {
        let Some(names) = &selection.subjects else {
            let quick = selection.extent == Extent::Quick;
            return Ok(self
                .subjects
                .iter()
                .filter(|subject| !(quick && subject.full_only))
                .map(|subject| in_schedule(subject.planned.clone(), schedule))
                .collect());
        };
        if names.is_empty() {
            return Err(PlanError::NoSubject);
        }
        let mut subjects: Vec<PlannedSubject> = Vec::new();
        for name in names {
            if subjects.iter().any(|subject| subject.name == *name) {
                return Err(PlanError::SubjectTwice(name.clone()));
            }
            let known = self
                .subjects
                .iter()
                .map(|subject| &subject.planned)
                .find(|subject| subject.name == *name)
                .cloned();
            // A subject that the suite does not list: a user's own, or another variant.
            let newcomer = || PlannedSubject {
                name: name.clone(),
                instruments: self.instruments.clone(),
                ..PlannedSubject::default()
            };
            subjects.push(in_schedule(known.unwrap_or_else(newcomer), schedule));
        }
        if !subjects.iter().any(|subject| subject.baseline) {
            let baseline = self.baseline().map_or("the baseline", |subject| &subject.name);
            notes.push(format!("{baseline} was not selected: there are no ratios"));
        }
        Ok(subjects)
    }
}

/// As many CPUs as are asked for, or all that the machine has.
fn given_cpus(whom: &str, asked: f64, machine: u32, notes: &mut Vec<String>) -> f64 {
    if asked > f64::from(machine) {
        notes.push(format!("{asked} CPUs for the {whom}: this machine has {machine}"));
    }
    asked.min(f64::from(machine))
}

/// The schedule gives a backend to the subjects that name none.
fn in_schedule(subject: PlannedSubject, schedule: &Schedule) -> PlannedSubject {
    PlannedSubject { backend: subject.backend.or_else(|| schedule.backend.clone()), ..subject }
}

fn drain(schedule: &Schedule, cases: &[Case]) -> Option<Duration> {
    let has_calls = cases.iter().any(|case| case.calls.is_some());
    schedule.drain.or(has_calls.then_some(DRAIN_AFTER_CALLS))
}

fn left_out_notes(subjects: &[PlannedSubject], cases: &[Case]) -> impl Iterator<Item = String> {
    let largest = cases.iter().map(|case| case.concurrency).max().unwrap_or_default();
    subjects.iter().filter_map(move |PlannedSubject { name, concurrency_max, .. }| {
        let max = concurrency_max.filter(|max| largest > *max)?;
        Some(format!("{name} is not measured above S={max}"))
    })
}

fn rounds(
    selection: &Selection,
    schedule: &Schedule,
    notes: &mut Vec<String>,
) -> Result<u32, PlanError> {
    let rounds = selection.rounds.unwrap_or(schedule.rounds);
    if !(1..=ROUNDS_MAX).contains(&rounds) {
        return Err(PlanError::Rounds(rounds));
    }
    let needed = match selection.extent {
        Extent::Full => FULL_ROUNDS_MIN,
        Extent::Quick => QUICK_ROUNDS_MIN,
    };
    if rounds < needed {
        notes.push(format!("rounds: {rounds} of the {needed} that a result to be quoted needs"));
    }
    Ok(rounds)
}

/// If the environment sets both numbers, they name one case, over each transport of the grid. One
/// number alone selects the cases of the grid that have it.
fn cases(overrides: &Overrides, schedule: &Schedule) -> Result<Vec<Case>, PlanError> {
    let (connections, concurrency) = (overrides.connections, overrides.concurrency);
    if let (Some(connections), Some(concurrency)) = (connections, concurrency) {
        let case = Case::new(connections, concurrency).map_err(PlanError::Case)?;
        let mut over: Vec<_> = schedule.cases.iter().map(|case| case.transport).collect();
        over.sort_unstable();
        over.dedup();
        return Ok(over.into_iter().map(|transport| case.over(transport)).collect());
    }
    let fits = |case: &&Case| {
        connections.is_none_or(|c| c == case.connections)
            && concurrency.is_none_or(|s| s == case.concurrency)
    };
    let cases: Vec<Case> = schedule.cases.iter().filter(fits).copied().collect();
    if cases.is_empty() {
        return Err(PlanError::NoCase);
    }
    Ok(cases)
}

fn selected_cases(selection: &Selection, cases: Vec<Case>) -> Result<Vec<Case>, PlanError> {
    let Some(names) = &selection.cases else {
        return Ok(cases);
    };
    for name in names {
        if !cases.iter().any(|case| case.to_string() == *name) {
            let known = cases.iter().map(Case::to_string).collect();
            return Err(PlanError::UnknownCase { asked: name.clone(), known });
        }
    }
    Ok(cases.into_iter().filter(|case| names.contains(&case.to_string())).collect())
}

fn generator_cpus(overrides: &Overrides, machine: u32, notes: &mut Vec<String>) -> Option<u32> {
    let asked = overrides.client_cpus?;
    if asked > f64::from(machine) {
        notes.push(format!("GRPC_CLIENT_CPUS={asked}: this machine has {machine} CPUs in all"));
        return None;
    }
    if asked.fract() != 0.0 {
        let given = asked.ceil();
        notes.push(format!("GRPC_CLIENT_CPUS={asked}: the generator gets whole CPUs, {given}"));
    }
    Some(asked.ceil() as u32)
}

fn rate_note(overrides: &Overrides) -> Option<String> {
    let rate = overrides.rate.filter(|&rate| rate != 0)?;
    Some(format!(
        "GRPC_CLIENT_QPS={rate} is not applied: suites run a closed loop, as fast as answers come"
    ))
}

fn ghz_note(overrides: &Overrides, subjects: &[PlannedSubject]) -> Option<String> {
    let version = overrides.ghz_version.as_ref()?;
    let has_ghz = subjects
        .iter()
        .flat_map(|subject| &subject.instruments)
        .any(|instrument| instrument.split('/').next() == Some("ghz"));
    (!has_ghz).then(|| format!("GRPC_GHZ_TAG={version}: the load of this run is not made by ghz"))
}

/// A suite without a warm-up measures the cold start itself, so it keeps none.
fn warmup(overrides: &Overrides, schedule: &Schedule) -> Duration {
    match overrides.warmup {
        Some(asked) if !schedule.warmup.is_zero() => asked,
        _ => schedule.warmup,
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Why a run cannot be planned. The user can always correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// `--quick` was given for a suite without a quick part.
    #[error("this suite has no quick part: leave out --quick")]
    NoQuickPart,
    /// The environment asks for a message other than the suite's.
    #[error("GRPC_REQUEST_SCENARIO={asked}: this suite sends {suite}; choose another suite")]
    OtherScenario {
        /// The value of `GRPC_REQUEST_SCENARIO`.
        asked: String,
        /// The message that the suite sends.
        suite: String,
    },
    /// The list of subjects is empty.
    #[error("no subject is selected")]
    NoSubject,
    /// The baseline is not measured.
    #[error("{asked} is not compared in this run: {} are", known.join(", "))]
    NoBaseline {
        /// The baseline that was asked for.
        asked: String,
        /// The subjects that can be one.
        known: Vec<String>,
    },
    /// A subject was selected twice.
    #[error("{_0} is selected twice")]
    SubjectTwice(String),
    /// The limit of the server does not even allow one process.
    #[error("a server is at least one process")]
    NoProcess,
    /// No rounds, or absurdly many.
    #[error("{_0} rounds: give 1 to {ROUNDS_MAX}")]
    Rounds(u32),
    /// No case has that text.
    #[error("no case is {asked}: there are {}", known.join(", "))]
    UnknownCase {
        /// The text.
        asked: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// C and S contradict each other.
    #[error("{_0}")]
    Case(CaseError),
    /// C or S alone was given, and no case of the grid has it.
    #[error(
        "no case of the grid has these connections or this concurrency: give both, \
         GRPC_CLIENT_CONNECTIONS and GRPC_CLIENT_CONCURRENCY"
    )]
    NoCase,
}
