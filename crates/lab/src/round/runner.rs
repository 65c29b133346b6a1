//! How a round is measured, group by group: windows that are found to be too short, disturbances,
//! servers that die.
//!
//! ```text
//! enter()             without a server, or refused a window before: its row, and no member
//!    |
//!    v  <--------+
//! measure_once() | some window is too short and may be longer
//!    +-----------+ one that is too short and may not be longer is refused: `is_open` is false
//!    |
//!    v  <--------+
//! any marks?     | yes, and retries are left: measure_once(), and what it yields stays unless it
//!    +-----------+ is worse
//!    |
//!    v
//! conclude()          a row each; servers that were there for this group alone end
//! ```
//!
//! `measure_once` measures all that are left, and not only those that it is repeated for: a ratio
//! is good because the laps of both lie in the same seconds. A cell by itself is a group of one.

use super::caller_run::CallerRun;
use super::contestant::RoundContestants;
use super::group::{CellGroup, PairedCell};
use super::laps::measure_by_turns;
use super::pairing::Pairing;
use super::served_run::ServedRun;
use super::window_choice::{Next, WindowChoices, after_outcome};
use super::workload::Workload;
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::process::interrupt::Interrupted;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::suite::{Case, PlannedCell};
use fastrand::Rng;

/// How often a disturbed window is measured again. What disturbs it that long disturbs it longer;
/// then the mark stays.
const RETRIES_MAX: u32 = 2;

/// Groups in a row that stayed disturbed; after them the machine is not going to be quiet in this
/// round, and measuring again would only make it take three times as long.
const FAILED_RETRIES_MAX: u32 = 3;

/// A round that is being measured.
pub struct RoundRunner<'a> {
    /// What all rounds share.
    pub context: &'a RunContext,
    /// Its number.
    pub round: u32,
    /// The windows that earlier rounds have chosen.
    pub windows: &'a WindowChoices,
    /// The servers, and the rows so far.
    pub contestants: RoundContestants<'a>,
    /// Groups in a row that stayed disturbed, however often they were measured.
    pub failed_retries: u32,
    /// Says in which order cells have their laps.
    pub random: Rng,
}

/// A cell of the group that is measured now.
struct Member<'p, 'a> {
    cell: &'p PlannedCell,
    pairing: &'p Pairing<'a>,
    workload: Workload,
    /// Whether its window is known to be long enough.
    is_chosen: bool,
    /// The number of its server.
    contestant: usize,
    outcome: Outcome,
    /// Whether it may be measured again: its window was not refused, and its server lives.
    is_open: bool,
}

impl<'a> RoundRunner<'a> {
    /// Measures the cells of a group.
    ///
    /// # Errors
    /// The user wants the lab to end; then this group has no rows.
    pub fn measure(&mut self, group: &CellGroup<'_, 'a>) -> Result<(), Interrupted> {
        let measured = self.members(group).and_then(|mut members| {
            self.measure_members(&mut members, group.goes_by_turns)?;
            Ok(members)
        });
        if measured.is_err() {
            self.contestants.kill_own();
        }
        measured.map(|members| self.conclude(members))
    }

    /// The cells of a group that have a server. The others have a row that says why not.
    fn members<'p>(
        &mut self,
        group: &CellGroup<'p, 'a>,
    ) -> Result<Vec<Member<'p, 'a>>, Interrupted> {
        let mut members = Vec::new();
        for paired in &group.cells {
            match CellError::or_outcome(self.enter(paired))? {
                Ok(member) => members.push(member),
                Err(outcome) => {
                    let (cell, pairing) = paired;
                    let has_own_server =
                        pairing.as_ref().is_ok_and(|pairing| pairing.has_own_server);
                    let row = Row { has_own_server, ..self.row(cell, outcome) };
                    self.contestants.keep_unserved(row);
                }
            }
        }
        Ok(members)
    }

    /// The cell with its server.
    fn enter<'p>(
        &mut self,
        (cell, pairing): &'p PairedCell<'a>,
    ) -> Result<Member<'p, 'a>, CellError> {
        let pairing = pairing.as_ref().map_err(CellError::clone)?;
        let times = self.windows.given(&cell.id)?;
        let mut workload = Workload::of_plan(&self.context.plan, cell.case);
        if let Some(times) = times {
            workload.set_times(times);
        }
        Ok(Member {
            cell,
            pairing,
            workload,
            is_chosen: times.is_some(),
            contestant: self.contestants.enter(self.context, pairing)?,
            outcome: Outcome::failed("it was not measured"),
            is_open: true,
        })
    }

    /// With longer and longer windows until each holds what it measures, then again while
    /// something disturbs them.
    fn measure_members(
        &mut self,
        members: &mut [Member<'_, 'a>],
        by_turns: bool,
    ) -> Result<(), Interrupted> {
        loop {
            self.measure_once(members, by_turns)?;
            if !self.choose_windows(members) {
                break;
            }
        }
        let is_disturbed = |members: &[Member<'_, 'a>]| faults(members).1 > 0;
        let retries = members.first().map_or(0, |member| self.retries(member.cell.case));
        for _ in 0..retries {
            if !is_disturbed(members) {
                break;
            }
            let before = faults(members);
            let kept: Vec<Outcome> = members.iter().map(|member| member.outcome.clone()).collect();
            // What was measured is kept. Whatever is measured next is interrupted, too.
            if self.measure_once(members, by_turns).is_err() {
                break;
            }
            // A disturbed window is better than none. All go back together, so that their windows
            // are of the same seconds. One whose server has died meanwhile keeps saying so.
            if faults(members) > before {
                members
                    .iter_mut()
                    .zip(kept)
                    .filter(|(member, _)| member.is_open)
                    .for_each(|(member, outcome)| member.outcome = outcome);
            }
        }
        self.note_retries(retries, is_disturbed(members));
        Ok(())
    }

    /// True where some window has to be longer.
    fn choose_windows(&self, members: &mut [Member<'_, 'a>]) -> bool {
        let mut any_longer = false;
        for member in members.iter_mut().filter(|each| each.is_open && !each.is_chosen) {
            match after_outcome(&member.run(self.context), &member.outcome) {
                Next::Enough => member.is_chosen = true,
                Next::Longer(asked) => {
                    member.workload.set_times(asked);
                    any_longer = true;
                }
                Next::Refuse(reason) => {
                    let window = member.outcome.window().cloned().map(Box::new);
                    member.outcome = Outcome::Refused { reason, window };
                    member.is_open = false;
                }
            }
        }
        any_longer
    }

    fn measure_once(
        &mut self,
        members: &mut [Member<'_, 'a>],
        by_turns: bool,
    ) -> Result<(), Interrupted> {
        let context = self.context;
        // Of a group, each cell has a server of its own.
        let mut servers: Vec<_> =
            self.contestants.all_mut().iter_mut().map(|each| each.server.as_mut()).collect();
        let (mut open, mut runs) = (Vec::new(), Vec::new());
        for member in members.iter_mut().filter(|each| each.is_open) {
            if let Some(server) = servers[member.contestant].take() {
                runs.push(ServedRun { run: member.run(context), server });
                open.push(member);
            }
        }
        let measured = if by_turns {
            let lap_ms = context.plan.lap_ms.unwrap_or(u64::MAX);
            measure_by_turns(&mut runs, lap_ms, &mut self.random)?
        } else {
            runs.iter_mut().map(ServedRun::measure).collect()
        };
        for (member, measured) in open.into_iter().zip(measured) {
            member.outcome = match measured {
                Ok(window) => Outcome::Measured(Box::new(window)),
                Err(error) => error.into_outcome()?,
            };
            // The row has failed then, and keeps the figures of a window that had ended.
            let when = "while it was measured";
            if let Some(reason) = self.contestants.note_death(member.contestant, when) {
                member.outcome.fail(reason);
                member.is_open = false;
            }
        }
        Ok(())
    }

    /// Their rows. Servers for other cells go on.
    fn conclude(&mut self, members: Vec<Member<'_, 'a>>) {
        for Member { cell, contestant, outcome, .. } in members {
            let row = self.row(cell, outcome);
            self.contestants.keep(contestant, row);
        }
        self.contestants.end_own(self.context.timeouts.drain);
    }

    /// A group could be measured again `retries` times.
    fn note_retries(&mut self, retries: u32, is_disturbed: bool) {
        let more = self.failed_retries + u32::from(retries > 0);
        self.failed_retries = if is_disturbed { more } else { 0 };
    }

    /// A fixed number of calls is for a server that has seen nothing before: no second time.
    fn retries(&self, case: Case) -> u32 {
        let is_hopeless = self.failed_retries >= FAILED_RETRIES_MAX;
        let has_one_try = case.calls.is_some() || is_hopeless;
        if has_one_try { 0 } else { RETRIES_MAX }
    }

    fn row(&self, cell: &PlannedCell, outcome: Outcome) -> Row {
        Row::new(self.round, cell.id.clone(), outcome)
    }
}

impl<'a> Member<'_, 'a> {
    fn run<'r>(&self, context: &'r RunContext) -> CallerRun<'r>
    where
        Self: 'r,
    {
        let Member { pairing, workload, .. } = *self;
        CallerRun { context, pairing, workload, profiler: None }
    }

    /// How bad its row is: failed, then by its marks.
    fn faults(&self) -> (usize, usize) {
        match &self.outcome {
            Outcome::Measured(window) => (0, window.marks.len()),
            _ => (1, 0),
        }
    }
}

/// All that can still be measured: those that failed, and their marks.
fn faults(members: &[Member<'_, '_>]) -> (usize, usize) {
    members
        .iter()
        .filter(|member| member.is_open)
        .map(Member::faults)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}
