//! The machine's CPU times, `/proc/stat`: coarse (10 ms), but every process is in them, interrupts
//! and the hypervisor.

use bookend_results::measurement::MachineCpu;
use std::collections::BTreeMap;

/// Ticks a second of `/proc/stat` on every architecture that Linux is commonly built for.
const TICKS_PER_SECOND: f64 = 100.0;

/// What every CPU has done since the machine started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes(BTreeMap<usize, Ticks>);

/// What every CPU has done between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimesDelta(BTreeMap<usize, Ticks>);

/// The fields of one CPU's line in the kernel's order. Guests' time is within user's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    user: u64,
    nice: u64,
    system: u64,
    idle: u64,
    iowait: u64,
    irq: u64,
    softirq: u64,
    steal: u64,
}

impl CpuTimes {
    /// Reads them; empty where `/proc/stat` cannot be read.
    pub fn read() -> CpuTimes {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        CpuTimes::parse(&text)
    }

    /// Reads the text of `/proc/stat`.
    pub fn parse(text: &str) -> CpuTimes {
        let lines = text.lines().filter_map(|line| {
            let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
            // The first line, of all CPUs together, has a blank in the place of the number.
            let cpu = (!line.starts_with("cpu ")).then(|| words.next())??;
            Some((cpu.parse().ok()?, Ticks::parse(words)?))
        });
        CpuTimes(lines.collect())
    }

    /// What happened since `earlier`. A CPU that was not there then is left out.
    pub fn since(&self, earlier: &CpuTimes) -> CpuTimesDelta {
        let common = self.0.iter().filter_map(|(cpu, now)| {
            let before = earlier.0.get(cpu)?;
            Some((*cpu, now.minus(before)))
        });
        CpuTimesDelta(common.collect())
    }
}

impl CpuTimesDelta {
    /// The sum over all CPUs.
    pub fn total(&self) -> MachineCpu {
        let sum = |ticks: fn(&Ticks) -> u64| seconds(self.0.values().map(ticks).sum());
        MachineCpu {
            user_seconds: sum(|ticks| ticks.user + ticks.nice),
            system_seconds: sum(|ticks| ticks.system),
            softirq_seconds: sum(|ticks| ticks.softirq),
            irq_seconds: sum(|ticks| ticks.irq),
            steal_seconds: sum(|ticks| ticks.steal),
            idle_seconds: sum(|ticks| ticks.idle + ticks.iowait),
        }
    }

    /// Time in which these CPUs worked, for whomever, seconds.
    pub fn busy_seconds(&self, cpus: &[usize]) -> f64 {
        self.sum(cpus, |ticks| ticks.user + ticks.nice + ticks.system + ticks.irq + ticks.softirq)
    }

    /// Time that the hypervisor took from these CPUs while they had work, seconds.
    pub fn steal_seconds(&self, cpus: &[usize]) -> f64 {
        self.sum(cpus, |ticks| ticks.steal)
    }

    fn sum(&self, cpus: &[usize], of: fn(&Ticks) -> u64) -> f64 {
        let chosen = self.0.iter().filter(|(cpu, _)| cpus.contains(cpu));
        seconds(chosen.map(|(_, ticks)| of(ticks)).sum())
    }
}

impl Ticks {
    /// Old kernels have fewer fields; what they do not count is 0.
    fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Option<Ticks> {
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        let field = |index: usize| numbers.get(index).copied();
        Some(Ticks {
            user: field(0)?,
            nice: field(1)?,
            system: field(2)?,
            idle: field(3)?,
            iowait: field(4).unwrap_or(0),
            irq: field(5).unwrap_or(0),
            softirq: field(6).unwrap_or(0),
            steal: field(7).unwrap_or(0),
        })
    }

    /// Idle time can go back by a tick; the kernel says so itself.
    fn minus(&self, before: &Ticks) -> Ticks {
        Ticks {
            user: self.user.saturating_sub(before.user),
            nice: self.nice.saturating_sub(before.nice),
            system: self.system.saturating_sub(before.system),
            idle: self.idle.saturating_sub(before.idle),
            iowait: self.iowait.saturating_sub(before.iowait),
            irq: self.irq.saturating_sub(before.irq),
            softirq: self.softirq.saturating_sub(before.softirq),
            steal: self.steal.saturating_sub(before.steal),
        }
    }
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS_PER_SECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
cpu  100 0 50 1000 5 0 10 2 0 0
cpu0 60 0 30 500 5 0 10 1 0 0
cpu1 40 0 20 500 0 0 0 1 0 0
intr 12 0 0
ctxt 99
";
    const AFTER: &str = "\
cpu  400 3 150 1100 5 7 60 22 0 0
cpu0 260 3 90 505 4 7 60 21 0 0
cpu1 140 0 60 595 1 0 0 1 0 0
cpu2 1 1 1 1 1 1 1 1 0 0
";

    fn span() -> CpuTimesDelta {
        CpuTimes::parse(AFTER).since(&CpuTimes::parse(BEFORE))
    }

    #[test]
    fn the_machine_is_the_sum_of_its_cpus_without_newcomers() {
        let total = span().total();
        let expected = MachineCpu {
            user_seconds: 3.03,
            system_seconds: 1.0,
            softirq_seconds: 0.5,
            irq_seconds: 0.07,
            steal_seconds: 0.2,
            idle_seconds: 1.01,
        };
        assert_eq!(total, expected);
    }

    #[test]
    fn one_cpu_can_be_asked_alone() {
        assert_eq!(span().busy_seconds(&[0]), 3.2);
        assert_eq!(span().busy_seconds(&[1]), 1.4);
        assert_eq!(span().steal_seconds(&[0]), 0.2);
        assert_eq!(span().steal_seconds(&[1]), 0.0);
        assert_eq!(span().busy_seconds(&[9]), 0.0);
    }

    #[test]
    fn text_that_makes_no_sense_is_no_times() {
        for text in ["", "cpu", "cpu0", "cpux 1 2 3 4", "cpu0 1 2 3"] {
            assert_eq!(CpuTimes::parse(text), CpuTimes::default(), "{text:?}");
        }
    }

    #[test]
    fn this_machine_has_cpu_times() {
        assert_ne!(CpuTimes::read(), CpuTimes::default());
    }
}
