//! The servers of a race: started together, called by turns, and ended together.

use super::contestants::Contestants;
use super::doubts;
use super::error::RaceRunError;
use super::host::RaceHost;
use super::lap_callers::{LapCallerSpec, LapCallers, blame};
use super::plan::RacePlan;
use super::server::{RaceServer, RaceServerSpec, UsedCpu};
use bookend_contract::laps::LapFigures;
use bookend_results::race::{Race, RaceLap};
use std::time::Duration;

/// Servers that are raced, and what calls them. Those that run are killed when this is dropped.
pub struct RaceServers<'a> {
    host: &'a RaceHost,
    specs: &'a [RaceServerSpec],
    plan: &'a RacePlan,
    // Dropped first: no server ends before the connections to it.
    callers: LapCallers<'a>,
    live: Vec<RaceServer>,
    /// What each had used when it was warm, and then after the last whole round.
    marks: Vec<UsedCpu>,
    /// What each has used while it was warm, in laps and between them, in all starts. The laps of a
    /// round that was cut short count nowhere, so neither does what they took.
    used: Vec<UsedCpu>,
}

impl<'a> RaceServers<'a> {
    /// None of them has been started yet.
    pub fn new(
        host: &'a RaceHost,
        specs: &'a [RaceServerSpec],
        plan: &'a RacePlan,
        calls: &'a LapCallerSpec<'a>,
    ) -> Self {
        let (live, marks, used) = (Vec::new(), Vec::new(), vec![UsedCpu::default(); specs.len()]);
        RaceServers { host, specs, plan, callers: LapCallers::new(host, calls), live, marks, used }
    }

    /// Those that run now.
    pub fn live(&self) -> &[RaceServer] {
        &self.live
    }

    fn start_servers(&mut self, is_reversed: bool) -> Result<(), RaceRunError> {
        let start = |spec| RaceServer::start(self.host, spec);
        self.live = match is_reversed {
            true => self.specs.iter().rev().map(start).collect::<Result<_, _>>()?,
            false => self.specs.iter().map(start).collect::<Result<_, _>>()?,
        };
        if is_reversed {
            self.live.reverse();
        }
        Ok(())
    }

    /// Calls each server for the time of the warm-up, which the cells share.
    fn warm_up(&mut self) -> Result<(), RaceRunError> {
        let cells = u32::try_from(self.plan.cells).unwrap_or(u32::MAX).max(1);
        let mut left = self.plan.warmup / cells;
        while !left.is_zero() {
            let length = left.min(self.plan.lap);
            for cell in 0..self.plan.cells {
                for server in 0..self.live.len() {
                    self.lap_of(cell, server, length)?;
                }
            }
            left -= length;
        }
        Ok(())
    }

    fn lap_of(
        &mut self,
        cell: usize,
        server: usize,
        length: Duration,
    ) -> Result<RaceLap, RaceRunError> {
        let before_ns = self.live[server].cpu_ns();
        let called = self.callers.lap(cell, server, length);
        // A server that has ended is why its calls failed, and says why.
        self.live.iter().try_for_each(RaceServer::check)?;
        let LapFigures { ok, failed, length_ns, rated } =
            called.map_err(|error| blame(&self.live[server], error))?;
        let cpu_ns = self.live[server].cpu_ns().saturating_sub(before_ns);
        Ok(RaceLap { server, ok, failed, length_ns, cpu_ns, rated })
    }
}

impl Contestants for RaceServers<'_> {
    fn count(&self) -> usize {
        self.specs.len()
    }

    fn start(&mut self, is_reversed: bool) -> Result<(), RaceRunError> {
        // Two pairs at once would take CPU time from each other.
        self.callers.end();
        self.live.clear();
        self.start_servers(is_reversed)?;
        self.callers.connect(&self.live)?;
        self.warm_up()?;
        self.marks = self.live.iter_mut().map(RaceServer::used_cpu).collect();
        self.live.iter().try_for_each(RaceServer::check_account)
    }

    fn lap(&mut self, cell: usize, contestant: usize) -> Result<RaceLap, RaceRunError> {
        self.lap_of(cell, contestant, self.plan.lap)
    }

    fn end_round(&mut self) {
        let servers = self.live.iter_mut().zip(&mut self.marks);
        for ((server, mark), used) in servers.zip(&mut self.used) {
            let now = server.used_cpu();
            used.cpu_ns += now.cpu_ns.saturating_sub(mark.cpu_ns);
            used.in_ticks_ns += now.in_ticks_ns.saturating_sub(mark.in_ticks_ns);
            *mark = now;
        }
    }

    fn failed(&self, contestant: usize, reason: String) -> RaceRunError {
        self.live[contestant].not_called(reason)
    }

    fn doubts(&self, race: &Race) -> Vec<String> {
        let differ = self.callers.replies_differ();
        let differ = differ.then(|| "their replies to the first call differ".to_owned());
        let others = doubts::of_servers(self.host, self.specs, race, &self.used);
        differ.into_iter().chain(others).collect()
    }
}
