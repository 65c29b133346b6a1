//! Which cells of a round are measured by turns, and what becomes of them: windows that are found
//! to be too short, disturbances, servers that die.
//!
//! ```text
//! member()            without a server, or refused a window before: its row, and no member
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
//! conclude()          a row each; servers of one cell end, others go back to `RoundServers`
//! ```
//!
//! `measure_once` measures all that are left, and not only those that it is repeated for: a ratio
//! is good because the laps of both lie in the same seconds. A member leaves when its window is
//! refused or its server dies (`server` is then `None`).

use super::caller_run::CallerRun;
use super::laps::{Contestant, measure_by_turns};
use super::pairing::Pairing;
use super::runner::{PairedCell, RoundRunner, died};
use super::server::RunningServer;
use super::shared::SharedServer;
use super::window_choice::{Next, after_outcome};
use super::workload::Workload;
use crate::cell_error::CellError;
use crate::context::RunContext;
use crate::process::interrupt::Interrupted;
use crate::subject::IdleStrategy;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::suite::{PlannedCell, TestedEnd};

/// Cells that are measured one after the other, or by turns.
pub enum CellGroup<'p, 'a> {
    /// One, in a window of its own.
    Alone(&'p PairedCell<'a>),
    /// All with the same case and instrument.
    ByTurns(Vec<(&'a PlannedCell, &'p Pairing<'a>)>),
}

/// The groups of a round, in the order of their first cells.
pub fn groups<'p, 'a>(context: &RunContext, cells: &'p [PairedCell<'a>]) -> Vec<CellGroup<'p, 'a>> {
    let mut groups: Vec<CellGroup<'p, 'a>> = Vec::new();
    for paired in cells {
        let (cell, Ok(pairing)) = paired else {
            groups.push(CellGroup::Alone(paired));
            continue;
        };
        if !goes_by_turns(context, cell, pairing) {
            groups.push(CellGroup::Alone(paired));
            continue;
        }
        let is_alike = |other: &PlannedCell| {
            other.case == cell.case && other.id.instrument == cell.id.instrument
        };
        let alike = groups.iter_mut().find_map(|group| match group {
            CellGroup::ByTurns(cells) if is_alike(cells[0].0) => Some(cells),
            _ => None,
        });
        match alike {
            Some(cells) => cells.push((cell, pairing)),
            None => groups.push(CellGroup::ByTurns(vec![(cell, pairing)])),
        }
    }
    groups
}

/// Whether a cell can be measured by turns with others. Not one that begins with a cold server or
/// fresh connections, nor one whose end or backend has work to do while it is not called.
fn goes_by_turns(context: &RunContext, cell: &PlannedCell, pairing: &Pairing<'_>) -> bool {
    let Pairing { side, server, caller, .. } = pairing;
    let is_planned = context.plan.lap_ms.is_some() && context.plan.warmup_ms > 0;
    let keeps_connections = cell.case.calls.is_none() && !cell.case.connection_per_call;
    let ends = [&server.server.variant, &caller.variant];
    let sleeps = ends.iter().all(|end| end.idle == IdleStrategy::Sleep);
    let is_server = *side == TestedEnd::Server && server.backend.is_none();
    is_planned && keeps_connections && sleeps && is_server && caller.variant.laps
}

/// One of the cells that are measured by turns.
struct Member<'p, 'a> {
    cell: &'p PlannedCell,
    pairing: &'p Pairing<'a>,
    workload: Workload,
    /// Whether its window is known to be long enough.
    is_chosen: bool,
    /// While it lives.
    server: Option<RunningServer>,
    /// Of a server that serves several cells: the number of its start, and the cells before.
    life: Option<(u32, u32)>,
    outcome: Outcome,
    /// Whether it may be measured again.
    is_open: bool,
}

impl Member<'_, '_> {
    fn is_measured(&self) -> bool {
        self.is_open && self.server.is_some()
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
        .filter(|member| member.is_measured())
        .map(Member::faults)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

impl<'a> RoundRunner<'a> {
    /// Measures cells by turns.
    pub(super) fn measure_together(
        &mut self,
        cells: &[(&'a PlannedCell, &Pairing<'a>)],
    ) -> Result<(), Interrupted> {
        let mut members = Vec::new();
        for (cell, pairing) in cells {
            members.extend(self.member(cell, pairing)?);
        }
        let measured = self.measure_members(&mut members);
        self.conclude(members, measured.is_ok());
        measured
    }

    /// The cell with its server. `None`: it has none, and its row says why.
    fn member<'p>(
        &mut self,
        cell: &'p PlannedCell,
        pairing: &'p Pairing<'a>,
    ) -> Result<Option<Member<'p, 'a>>, Interrupted> {
        let mut workload = Workload::of_plan(&self.context.plan, cell.case);
        let given = CellError::or_outcome(self.windows.given(&cell.id))?;
        let times = given.as_ref().ok().copied().flatten();
        let started = match given {
            Err(refused) => Err(refused),
            Ok(_) if pairing.has_own_server => {
                self.servers.start(self.context, pairing)?.map(|server| (server, None))
            }
            Ok(_) => self.take_server(pairing)?.map(|shared| {
                let SharedServer { server, life, cells } = shared;
                (server, Some((life, cells)))
            }),
        };
        let (server, life) = match started {
            Ok(started) => started,
            Err(outcome) => {
                let has_own_server = pairing.has_own_server;
                let row = Row { has_own_server, ..self.row(cell, outcome) };
                self.rows.push((row, None));
                return Ok(None);
            }
        };
        times.into_iter().for_each(|asked| workload.set_times(asked));
        Ok(Some(Member {
            cell,
            pairing,
            workload,
            is_chosen: times.is_some(),
            server: Some(server),
            life,
            outcome: Outcome::failed("it was not measured"),
            is_open: true,
        }))
    }

    /// With longer and longer windows until each holds what it measures, then again while
    /// something disturbs them.
    fn measure_members(&mut self, members: &mut [Member<'_, 'a>]) -> Result<(), Interrupted> {
        loop {
            self.measure_once(members)?;
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
            self.measure_once(members)?;
            // A disturbed window is better than none. All go back together, so that their windows
            // are of the same seconds. One whose server has died meanwhile keeps saying so.
            if faults(members) > before {
                members
                    .iter_mut()
                    .zip(kept)
                    .filter(|(member, _)| member.is_measured())
                    .for_each(|(member, outcome)| member.outcome = outcome);
            }
        }
        self.note_retries(retries, is_disturbed(members));
        Ok(())
    }

    /// True where some window has to be longer.
    fn choose_windows(&self, members: &mut [Member<'_, 'a>]) -> bool {
        let mut any_longer = false;
        for member in members.iter_mut().filter(|each| each.is_measured() && !each.is_chosen) {
            let Member { pairing, workload, .. } = *member;
            let run = CallerRun { context: self.context, pairing, workload, profiler: None };
            match after_outcome(&run, &member.outcome) {
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

    fn measure_once(&mut self, members: &mut [Member<'_, 'a>]) -> Result<(), Interrupted> {
        let context = self.context;
        let lap_ms = context.plan.lap_ms.unwrap_or(u64::MAX);
        // Each of these has a server, so that both lists have the same order and length.
        let mut open: Vec<_> = members.iter_mut().filter(|each| each.is_measured()).collect();
        let mut contestants: Vec<Contestant<'_>> = open
            .iter_mut()
            .filter_map(|member| {
                let Member { pairing, workload, .. } = **member;
                let run = CallerRun { context, pairing, workload, profiler: None };
                Some(Contestant { run, server: member.server.take()? })
            })
            .collect();
        let measured = measure_by_turns(&mut contestants, lap_ms, &mut self.random);
        // Before an interruption is passed on: `conclude` has to find the servers.
        for (member, contestant) in open.iter_mut().zip(contestants) {
            member.server = Some(contestant.server);
        }
        for (member, measured) in open.into_iter().zip(measured?) {
            member.outcome = match measured {
                Ok(window) => Outcome::Measured(Box::new(window)),
                Err(error) => error.into_outcome()?,
            };
            self.look_for_death(member);
        }
        Ok(())
    }

    fn look_for_death(&mut self, member: &mut Member<'_, 'a>) {
        let Some(server) = member.server.take_if(|server| server.has_exited()) else {
            return;
        };
        let reason = server.exit_reason("while it was measured");
        // The row has failed, and keeps the figures of a window that had ended.
        let own = std::mem::replace(&mut member.outcome, Outcome::failed(""));
        member.outcome = died(Ok(own), &reason);
        if let Some((life, _)) = member.life {
            self.mark_life(life, &reason);
        }
    }

    /// Their rows, if they have been measured; servers for other cells go on.
    fn conclude(&mut self, mut members: Vec<Member<'_, 'a>>, are_measured: bool) {
        // All are asked to end before any is waited for, so that they drain at the same time.
        members
            .iter_mut()
            .filter(|member| member.life.is_none())
            .filter_map(|member| member.server.as_mut())
            .for_each(RunningServer::close_stdin);
        for Member { cell, pairing, server, life, outcome, .. } in members {
            let mut row = self.row(cell, outcome);
            match (life, server) {
                (None, server) => {
                    row.has_own_server = true;
                    // After an interruption nobody waits for it to drain.
                    if let Some(server) = server.filter(|_| are_measured) {
                        server.end(self.context.timeouts.drain).complete(&mut [&mut row]);
                    }
                }
                (Some((life, cells)), server) => {
                    (row.server_life, row.cells_before) = (life, Some(cells));
                    if let Some(server) = server {
                        let shared = SharedServer { server, life, cells: cells + 1 };
                        self.servers.put_back(pairing.server_key(), shared);
                    }
                }
            }
            if are_measured {
                self.rows.push((row, life.map(|(life, _)| life)));
            }
        }
    }
}
