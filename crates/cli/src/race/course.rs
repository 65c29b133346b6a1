//! The course of a race: start after start, each with its rounds, until there is an answer or no
//! time left.

use super::arguments::RaceArguments;
use super::doubts::{doubts, running_already};
use super::ended::RaceEnd;
use super::profile::RaceProfiler;
use super::progress::RaceProgress;
use super::running::{LiveServers, Starter, UsedCpu};
use super::starts::{RaceTimes, StartPlan};
use crate::terminal::Failure;
use bookend_lab::race::{RaceServerSpec, RaceStart};
use bookend_results::race::{DROPPED_ALWAYS, Race, RaceCell, RaceServerName, Standing};
use bookend_results::random::Random;
use bookend_results::suite::TestedEnd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A rate that was held in so many rounds can be held.
const RATE_ROUNDS: u64 = 20;

/// A race that goes on.
pub struct Course<'a> {
    starter: Starter<'a>,
    /// Records the servers after the race, where that is wanted.
    profiler: Option<RaceProfiler>,
    random: Random,
    race: Race,
    standing: Standing,
    /// What each server used while it was warm, in laps and between them.
    used: Vec<UsedCpu>,
    begin: Instant,
    progress: RaceProgress,
}

impl<'a> Course<'a> {
    /// Nothing has been started yet.
    pub fn new(starter: Starter<'a>, profiler: Option<RaceProfiler>) -> Course<'a> {
        let arguments = starter.arguments;
        let race = new_race(arguments, TestedEnd::Server, names(starter.specs), starter.cells);
        Course {
            random: Random::new(race.seed),
            race,
            standing: Standing::default(),
            used: vec![UsedCpu::default(); starter.specs.len()],
            begin: Instant::now(),
            progress: RaceProgress::new(arguments),
            starter,
            profiler,
        }
    }

    /// Runs it. Interrupted, it returns what was measured.
    ///
    /// # Errors
    /// A server ended, or nothing was measured before the interrupt.
    pub fn run(mut self) -> Result<Race, RaceEnd> {
        let mut running = self.starter.start(false)?;
        self.race.doubts = running.doubts().to_vec();
        // The time until the first start is ready is the servers' affair.
        self.begin = Instant::now();
        let plan = self.plan(&running);
        let last = loop {
            let goes_on = self.run_start(&mut running, plan)?;
            let times = self.times(&running);
            let starts = self.race.starts.len();
            if !goes_on || !plan.has_time(starts, self.begin.elapsed(), times) {
                break Some(running);
            }
            // Two pairs at once would take CPU time from each other.
            drop(running);
            let is_reversed = self.random.fraction() < 0.5;
            running = match self.starter.start(is_reversed) {
                Ok(running) => running,
                Err(RaceEnd::Interrupted) => break None,
                Err(failed) => return Err(failed),
            };
        };
        self.progress.end(self.begin.elapsed(), &self.standing);
        self.race.check_dropped().map_err(Failure::nothing_measured)?;
        if self.race.starts.iter().all(Vec::is_empty) {
            return Err(RaceEnd::Interrupted);
        }
        if let (Some(profiler), Some(running)) = (&self.profiler, last) {
            let (starter, random) = (&self.starter, &mut self.random);
            let functions = profiler.record(starter, running, &self.race, random)?;
            self.race.functions = functions;
        }
        let doubts = doubts(&self.starter, &self.race, &self.used);
        self.race.doubts.extend(doubts);
        Ok(self.race)
    }

    /// The rounds of one start. Whether the race goes on.
    fn run_start(&mut self, running: &mut LiveServers, plan: StartPlan) -> Result<bool, RaceEnd> {
        self.race.starts.push(Vec::new());
        let goes_on = self.run_rounds(running, plan);
        self.used.iter_mut().zip(running.used()).for_each(|(sum, used)| sum.add(used));
        goes_on
    }

    fn run_rounds(&mut self, running: &mut LiveServers, plan: StartPlan) -> Result<bool, RaceEnd> {
        let (mut rounds, mut dropped) = (0, 0);
        while plan.rounds.is_none_or(|most| rounds < most) {
            let Some(round) = running.round(&self.starter, &mut self.random)? else {
                self.race.starts.pop_if(|start| start.is_empty());
                return Ok(false);
            };
            if let Err(error) = self.standing.push(&round) {
                self.race.dropped.push(round);
                dropped += 1;
                if dropped > DROPPED_ALWAYS {
                    let server = running.server(error.server());
                    return Err(server.not_called(error.to_string()).into());
                }
                continue;
            }
            dropped = 0;
            if let Some(start) = self.race.starts.last_mut() {
                start.push(round);
            }
            if self.standing.rounds() <= RATE_ROUNDS {
                self.race.check_rate().map_err(Failure::nothing_measured)?;
            }
            rounds += 1;
            self.progress.show(self.begin.elapsed(), &self.standing, &self.race);
            if plan.rounds.is_none() && self.is_over(plan) {
                break;
            }
        }
        self.standing.end_start();
        Ok(!self.is_over(plan))
    }

    fn is_over(&self, plan: StartPlan) -> bool {
        let arguments = self.starter.arguments;
        let is_narrow = arguments.until.is_some_and(|width| self.standing.is_within(width));
        let covers = self.standing.covers_starts() || plan.rounds.is_none();
        (is_narrow && covers) || self.begin.elapsed() >= arguments.budget()
    }

    fn is_restarted(&self) -> bool {
        let Starter { arguments, specs, .. } = &self.starter;
        running_already(specs).is_none() && !arguments.no_restart && arguments.starts != Some(1)
    }

    fn plan(&self, running: &LiveServers) -> StartPlan {
        match self.is_restarted() {
            true => StartPlan::new(self.starter.arguments.starts, self.times(running)),
            false => StartPlan::ONE,
        }
    }

    fn times(&self, running: &LiveServers) -> RaceTimes {
        RaceTimes {
            budget: self.starter.arguments.budget(),
            start: running.took,
            round: self.starter.round_length(),
        }
    }
}

/// A race of which nothing has been run.
pub fn new_race(
    arguments: &RaceArguments,
    tested: TestedEnd,
    servers: Vec<RaceServerName>,
    cells: &[RaceCell],
) -> Race {
    Race {
        tested,
        servers,
        cells: cells.to_vec(),
        rps: arguments.rps(),
        lap_ms: u64::try_from(arguments.lap().as_millis()).unwrap_or(u64::MAX),
        margin: arguments.margin,
        seed: arguments.seed.unwrap_or_else(new_seed),
        doubts: Vec::new(),
        functions: None,
        starts: Vec::new(),
        dropped: Vec::new(),
    }
}

fn names(specs: &[RaceServerSpec]) -> Vec<RaceServerName> {
    let named = |spec: &RaceServerSpec| {
        let command = match &spec.start {
            RaceStart::Command { command, .. } => command.clone(),
            RaceStart::Running(address) => address.to_string(),
        };
        RaceServerName { name: spec.name.clone(), command }
    };
    specs.iter().map(named).collect()
}

fn new_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    since.as_nanos() as u64
}
