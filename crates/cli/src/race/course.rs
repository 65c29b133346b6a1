//! The course of a race: start after start, each with its rounds, until there is an answer or no
//! time left.

use super::arguments::RaceArguments;
use super::doubts::{doubts, running_already};
use super::ended::RaceEnd;
use super::profile::RaceProfiler;
use super::progress::RaceProgress;
use super::running::{LiveServers, Starter, UsedCpu};
use super::starts::{RaceTimes, StartPlan};
use crate::own_build;
use crate::shell::this_command;
use crate::terminal::{Failure, print_error};
use bookend_contract::secrets::in_command;
use bookend_lab::machine::this_machine;
use bookend_lab::race::{RaceServerSpec, RaceStart};
use bookend_results::race::{DROPPED_ALWAYS, Race, RaceCell, RaceServerName, STARTS_MIN, Standing};
use bookend_results::suite::TestedEnd;
use fastrand::Rng;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Rounds after which a rate that was kept counts as sustainable.
const RATE_ROUNDS: u64 = 20;

/// A race that takes longer than this multiple of its budget says so.
const OVERRUN_SAID: f64 = 1.1;

/// A race that goes on.
pub struct Course<'a> {
    starter: Starter<'a>,
    /// Records the servers after the race, where that is wanted.
    profiler: Option<RaceProfiler>,
    random: Rng,
    race: Race,
    standing: Standing,
    /// What each server used while it was warm, in laps and between them.
    used: Vec<UsedCpu>,
    plan: StartPlan,
    /// What all starts took, and how many there were.
    starts: (Duration, u32),
    /// The same of rounds, dropped ones too.
    rounds: (Duration, u32),
    begin: Instant,
    progress: RaceProgress,
}

impl<'a> Course<'a> {
    /// Nothing has been started yet.
    pub fn new(starter: Starter<'a>, profiler: Option<RaceProfiler>) -> Course<'a> {
        let arguments = starter.arguments;
        let race = new_race(arguments, TestedEnd::Server, names(starter.specs), starter.cells);
        Course {
            random: Rng::with_seed(race.seed),
            race,
            standing: Standing::default(),
            used: vec![UsedCpu::default(); starter.specs.len()],
            plan: StartPlan::ONE,
            starts: (Duration::ZERO, 0),
            rounds: (Duration::ZERO, 0),
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
        add(&mut self.starts, running.took);
        // The time until the first start is ready is the servers' affair.
        self.begin = Instant::now();
        let mut rounds = None;
        let last = loop {
            let goes_on = self.run_start(&mut running, rounds)?;
            let starts = self.race.starts.len();
            rounds = self.plan.next(starts, self.begin.elapsed(), self.times());
            if !goes_on || rounds.is_none() {
                break Some(running);
            }
            let begin = Instant::now();
            // Two pairs at once would take CPU time from each other.
            drop(running);
            let is_reversed = self.random.bool();
            running = match self.starter.start(is_reversed) {
                Ok(running) => running,
                Err(RaceEnd::Interrupted) => break None,
                Err(failed) => return Err(failed),
            };
            add(&mut self.starts, begin.elapsed());
        };
        self.end(last)
    }

    /// The race with all that is said of it, after its last round.
    fn end(mut self, last: Option<LiveServers>) -> Result<Race, RaceEnd> {
        let elapsed = self.begin.elapsed();
        self.progress.end(elapsed, &self.standing);
        self.race.check_dropped().map_err(Failure::nothing_measured)?;
        if self.race.starts.iter().all(Vec::is_empty) {
            return Err(RaceEnd::Interrupted);
        }
        if let Some(line) = overrun(self.race.starts.len(), elapsed, self.times().budget) {
            print_error(&line);
        }
        self.race.doubts.extend(self.too_short());
        if let (Some(profiler), Some(running)) = (&self.profiler, last) {
            let (starter, random) = (&self.starter, &mut self.random);
            let functions = profiler.record(starter, running, &self.race, random)?;
            self.race.functions = functions;
        }
        let doubts = doubts(&self.starter, &self.race, &self.used);
        self.race.doubts.extend(doubts);
        Ok(self.race)
    }

    /// Runs one start of `rounds` rounds; how many the first start has becomes clear while they are
    /// run. Returns whether the race goes on.
    fn run_start(
        &mut self,
        running: &mut LiveServers,
        rounds: Option<u32>,
    ) -> Result<bool, RaceEnd> {
        self.race.starts.push(Vec::new());
        let goes_on = self.run_rounds(running, rounds);
        self.used.iter_mut().zip(running.used()).for_each(|(sum, used)| sum.add(used));
        goes_on
    }

    fn run_rounds(
        &mut self,
        running: &mut LiveServers,
        planned: Option<u32>,
    ) -> Result<bool, RaceEnd> {
        let (mut rounds, mut dropped) = (0, 0);
        loop {
            let begin = Instant::now();
            let Some(round) = running.round(&self.starter, &mut self.random)? else {
                self.race.starts.pop_if(|start| start.is_empty());
                return Ok(false);
            };
            add(&mut self.rounds, begin.elapsed());
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
            if planned.is_none() {
                self.plan = self.new_plan();
            }
            if self.is_start_over(rounds, planned.or(self.plan.rounds)) {
                break;
            }
        }
        self.standing.end_start();
        Ok(!self.is_narrow() || !self.standing.covers_starts())
    }

    fn is_start_over(&self, rounds: u32, planned: Option<u32>) -> bool {
        match planned {
            Some(planned) => rounds >= planned,
            None => self.is_narrow() || self.begin.elapsed() >= self.times().budget,
        }
    }

    fn is_narrow(&self) -> bool {
        self.starter.arguments.until.is_some_and(|width| self.standing.is_within(width))
    }

    fn is_restarted(&self) -> bool {
        let Starter { arguments, specs, .. } = &self.starter;
        running_already(specs).is_none() && !arguments.no_restart && arguments.starts != Some(1)
    }

    fn new_plan(&self) -> StartPlan {
        match self.is_restarted() {
            true => StartPlan::new(self.starter.arguments.starts, self.times()),
            false => StartPlan::ONE,
        }
    }

    /// How long things took so far.
    fn times(&self) -> RaceTimes {
        let mean = |(sum, count): (Duration, u32)| sum / count.max(1);
        RaceTimes {
            budget: self.starter.arguments.budget(),
            start: mean(self.starts),
            round: mean(self.rounds),
        }
    }

    /// Says that there was no time for the starts that would have shown how others differ.
    fn too_short(&self) -> Option<String> {
        (self.is_restarted() && self.plan == StartPlan::ONE).then(|| {
            let seconds = self.times().budget_needed().as_secs_f64().ceil();
            format!(
                "the budget has time for one start, so this says nothing of other starts: \
                 {STARTS_MIN} of them take about --budget {seconds}s"
            )
        })
    }
}

/// Adds what one more took.
fn add((sum, count): &mut (Duration, u32), took: Duration) {
    *sum += took;
    *count += 1;
}

/// Says that the starts have taken longer than they should.
fn overrun(starts: usize, elapsed: Duration, budget: Duration) -> Option<String> {
    (starts > 1 && elapsed > budget.mul_f64(OVERRUN_SAID)).then(|| {
        let [took, given] = [elapsed, budget].map(|time| time.as_secs_f64());
        format!("this took {took:.1} s instead of {given} s, for {starts} starts take so long")
    })
}

/// A race of which nothing has been run.
pub fn new_race(
    arguments: &RaceArguments,
    tested: TestedEnd,
    mut servers: Vec<RaceServerName>,
    cells: &[RaceCell],
) -> Race {
    if !arguments.call.show_secrets {
        servers.iter_mut().for_each(|server| server.command = in_command(&server.command));
    }
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
        machine: Some(this_machine()),
        build: Some(own_build::facts()),
        command: Some(this_command()),
        started: Some(SystemTime::now().into()),
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
