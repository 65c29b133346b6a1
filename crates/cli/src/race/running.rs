//! The servers of a race from one start to their end, and the connections to them.

use super::arguments::RaceArguments;
use super::caller::Callers;
use super::ended::RaceEnd;
use bookend_lab::race::{RaceHost, RaceRunError, RaceServer, RaceServerSpec, run_block, run_lap};
use bookend_results::race::{RaceCell, RaceRound};
use fastrand::Rng;
use std::time::{Duration, Instant};

/// What is started, how often it may be.
pub struct Starter<'a> {
    /// As typed.
    pub arguments: &'a RaceArguments,
    /// The servers as named.
    pub specs: &'a [RaceServerSpec],
    /// How they are called.
    pub cells: &'a [RaceCell],
    /// Where they run.
    pub host: &'a RaceHost,
    /// What was on standard input.
    pub input: &'a [u8],
}

/// CPU time of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedCpu {
    /// All of it, nanoseconds.
    pub cpu_ns: u64,
    /// How much of it is known in ticks alone, nanoseconds.
    pub in_ticks_ns: u64,
}

/// Servers that were started together. They are killed when this is dropped.
pub struct LiveServers {
    // Dropped first: no server ends before the connections to it.
    callers: Callers,
    servers: Vec<RaceServer>,
    used_before: Vec<UsedCpu>,
    used: Vec<UsedCpu>,
    /// How long it took until they were warm.
    pub took: Duration,
}

impl Starter<'_> {
    /// Starts the servers, connects to them and warms them up. `is_reversed`: the last one first.
    ///
    /// # Errors
    /// One does not start or does not answer, or the user wants the race to end.
    pub fn start(&self, is_reversed: bool) -> Result<LiveServers, RaceEnd> {
        let begin = Instant::now();
        let start = |spec: &RaceServerSpec| RaceServer::start(self.host, spec);
        let specs = self.specs.iter();
        let servers: Vec<RaceServer> = if is_reversed {
            let mut servers: Vec<_> = specs.rev().map(start).collect::<Result<_, _>>()?;
            servers.reverse();
            servers
        } else {
            specs.map(start).collect::<Result<_, _>>()?
        };
        let callers =
            Callers::connect(self.arguments, self.cells, &servers, self.host, self.input)?;
        let mut running = LiveServers {
            callers,
            servers,
            used_before: Vec::new(),
            used: Vec::new(),
            took: Duration::ZERO,
        };
        running.warm_up(self)?;
        running.used_before = running.servers.iter_mut().map(UsedCpu::read).collect();
        running.servers.iter().try_for_each(RaceServer::check_account)?;
        running.took = begin.elapsed();
        Ok(running)
    }
}

impl UsedCpu {
    fn read(server: &mut RaceServer) -> UsedCpu {
        UsedCpu { cpu_ns: server.cpu_ns(), in_ticks_ns: server.cpu_gaps().in_ticks_ns }
    }

    fn since(self, before: &UsedCpu) -> UsedCpu {
        UsedCpu {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            in_ticks_ns: self.in_ticks_ns.saturating_sub(before.in_ticks_ns),
        }
    }

    /// Adds what a server of another start used.
    pub fn add(&mut self, other: &UsedCpu) {
        self.cpu_ns += other.cpu_ns;
        self.in_ticks_ns += other.in_ticks_ns;
    }
}

impl LiveServers {
    /// A block in each cell, in random order. `None`: the user wants the race to end.
    ///
    /// # Errors
    /// A server has ended, or cannot be called any more.
    pub fn round(
        &mut self,
        starter: &Starter<'_>,
        random: &mut Rng,
    ) -> Result<Option<RaceRound>, RaceRunError> {
        let mut order: Vec<usize> = (0..starter.cells.len()).collect();
        random.shuffle(&mut order);
        let mut blocks = Vec::new();
        for cell in order {
            self.callers.cell = cell;
            let lap = starter.arguments.lap();
            let servers = self.servers.len();
            let run = |server| run_lap(&mut self.servers, server, &mut self.callers, lap);
            match run_block(servers, random, run)? {
                Some(block) => blocks.push((cell, block)),
                None => return Ok(None),
            }
        }
        self.used = self
            .servers
            .iter_mut()
            .map(UsedCpu::read)
            .zip(&self.used_before)
            .map(|(now, before)| now.since(before))
            .collect();
        blocks.sort_unstable_by_key(|(cell, _)| *cell);
        Ok(Some(blocks.into_iter().map(|(_, block)| block).collect()))
    }

    /// All servers.
    pub fn servers(&self) -> &[RaceServer] {
        &self.servers
    }

    /// The server of that number.
    pub fn server(&self, number: usize) -> &RaceServer {
        &self.servers[number]
    }

    /// What is odd about the servers' answers, a sentence each.
    pub fn doubts(&self) -> &[String] {
        &self.callers.doubts
    }

    /// What each server used since it was warm, in laps and between them. The laps of a round that
    /// was cut short count nowhere, so neither does what they took.
    pub fn used(&self) -> &[UsedCpu] {
        &self.used
    }

    /// Calls each server for the time of the warm-up, which the cells share.
    fn warm_up(&mut self, starter: &Starter<'_>) -> Result<(), RaceRunError> {
        let cells = starter.cells.len();
        let mut left = starter.arguments.warmup / u32::try_from(cells).unwrap_or(u32::MAX).max(1);
        while !left.is_zero() {
            let length = left.min(starter.arguments.lap());
            for (cell, server) in all(cells, self.servers.len()) {
                self.callers.cell = cell;
                run_lap(&mut self.servers, server, &mut self.callers, length)?
                    .ok_or(RaceRunError::Interrupted)?;
            }
            left -= length;
        }
        Ok(())
    }
}

/// Every cell with every server.
fn all(cells: usize, servers: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..cells).flat_map(move |cell| (0..servers).map(move |server| (cell, server)))
}
