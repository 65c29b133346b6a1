//! The witness as a process: started, called, and asked at its end what it saw.

use super::bench::Bench;
use super::stop::CheckStop;
use crate::control_group::ResourceLimits;
use crate::cpu::CpuMeter;
use crate::invocation::Invocation;
use crate::listening_process::ListeningProcess;
use crate::memory::MemoryMeter;
use crate::process::{DRAIN_TIMEOUT, Process};
use bookend_contract::environment::{Environment, Role};
use bookend_contract::lines::Line;
use bookend_contract::transport::TransportConfig;
use std::collections::BTreeMap;

/// A witness that listens.
#[derive(Debug)]
pub struct Clockwork {
    server: ListeningProcess,
    meter: CpuMeter,
}

/// What the witness saw, by the names of its notes.
#[derive(Debug, Default)]
pub struct Witnessed(BTreeMap<String, f64>);

impl Clockwork {
    /// Starts a variant of the witness on the server's CPU.
    ///
    /// # Errors
    /// It does not come up.
    pub fn start(bench: &Bench, variant: &str) -> Result<Clockwork, CheckStop> {
        let subject = &bench.witness.subject;
        let variant = subject.variant(Some(variant)).map_err(CheckStop::because)?;
        let environment = Environment {
            cpus: Some(1),
            variant: Some(variant.name.clone()),
            ..Environment::of(Role::Server)
        };
        let invocation = Invocation {
            cpus: bench.placement.server.clone(),
            ..Invocation::of_subject(&variant.run, &subject.folder, environment)
        };
        let limits =
            ResourceLimits { cpus: bench.placement.server.clone(), ..ResourceLimits::default() };
        let group = bench.groups.create(&limits).map_err(CheckStop::because)?;
        let process = bench.spawner.spawn(&invocation, group).map_err(CheckStop::because)?;
        let (transport, timeout) = (TransportConfig::H2c, subject.ready_timeout());
        let interrupt = &bench.spawner.interrupt;
        let server = ListeningProcess::wait(process, &transport, timeout, interrupt)
            .map_err(|error| CheckStop::of("the witness", error))?;
        Ok(Clockwork { meter: CpuMeter::of(&server.process), server })
    }

    /// Its process.
    pub fn process(&self) -> &Process {
        &self.server.process
    }

    /// The port on which it listens.
    pub fn port(&self) -> u16 {
        self.server.address.port()
    }

    /// CPU time of its processes so far, nanoseconds.
    pub fn cpu_ns(&mut self) -> u64 {
        self.meter.read_ns()
    }

    /// Its memory now, bytes.
    pub fn memory_bytes(&self) -> u64 {
        MemoryMeter::of(self.process()).read().memory_bytes
    }

    /// Ends it and reads its record.
    ///
    /// # Errors
    /// It has ended before, or says something else.
    pub fn end(self) -> Result<Witnessed, CheckStop> {
        let mut lines = Vec::new();
        let exit = self.server.process.end(DRAIN_TIMEOUT, |line| lines.push(line));
        if exit.code() != Some(0) {
            return Err(CheckStop::because(format!("the witness: {}", exit.describe())));
        }
        Witnessed::of(lines.iter().map(|line| line.text())).map_err(CheckStop::because)
    }
}

impl Witnessed {
    fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Witnessed, String> {
        let mut notes = BTreeMap::new();
        for line in lines {
            match line.parse::<Line>() {
                Ok(Line::Note { name, value }) => drop(notes.insert(name, value)),
                Ok(Line::Served(_)) => {}
                Ok(_) => return Err(format!("the witness says {line:?}")),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(Witnessed(notes))
    }

    /// A figure that it noted; no number where it noted none, which no tolerance lets through.
    pub fn figure(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }

    /// A count that it noted.
    pub fn count(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_witness_notes_is_found_by_name_and_nothing_else_is_taken() {
        let lines = ["note calls 30", "note service_p50_ns 200123.5", "served 30"];
        let seen = Witnessed::of(lines.into_iter()).unwrap();
        assert_eq!((seen.count("calls"), seen.figure("service_p50_ns")), (30, 200_123.5));
        assert!(seen.figure("service_p99_ns").is_nan());
        for odd in ["listening", "ok 3", "note Calls 3"] {
            assert!(Witnessed::of([odd].into_iter()).is_err(), "{odd}");
        }
    }
}
