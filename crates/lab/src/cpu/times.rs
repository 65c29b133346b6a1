//! The machine's CPU times, `/proc/stat`: coarse (10 ms), but every process is in them, interrupts
//! and the hypervisor.

use bookend_results::measurement::MachineCpu;
use std::array;
use std::collections::BTreeMap;

/// User, nice, system and idle: what every kernel counts.
const FIELDS_MIN: usize = 4;

/// Ticks a second of `/proc/stat` on every architecture that Linux is commonly built for.
pub(super) const TICKS_PER_SECOND: u64 = 100;

/// What every CPU has done since the machine started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes(BTreeMap<usize, Ticks>);

/// What every CPU has done between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimesDelta(BTreeMap<usize, Ticks>);

/// The fields of one CPU's line in the kernel's order: user, nice, system, idle, iowait, irq,
/// softirq, steal. Guests' time is within user's.
type Ticks = [u64; 8];

impl CpuTimes {
    /// Reads them; empty where `/proc/stat` cannot be read.
    pub fn read() -> CpuTimes {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        CpuTimes::parse(&text)
    }

    /// Reads the text of `/proc/stat`.
    pub fn parse(text: &str) -> CpuTimes {
        let of_cpu = |line: &str| {
            let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
            // The first line, of all CPUs together, has a blank in the place of the number.
            let cpu = (!line.starts_with("cpu ")).then(|| words.next())??;
            Some((cpu.parse().ok()?, parse_ticks(words)?))
        };
        CpuTimes(text.lines().filter_map(of_cpu).collect())
    }

    /// What happened since `earlier`. A CPU that was not there then is left out.
    pub fn since(&self, earlier: &CpuTimes) -> CpuTimesDelta {
        let since_earlier = |(cpu, now): (&usize, &Ticks)| {
            let before = earlier.0.get(cpu)?;
            // Idle time can go back by a tick; the kernel says so itself.
            Some((*cpu, array::from_fn(|field| now[field].saturating_sub(before[field]))))
        };
        CpuTimesDelta(self.0.iter().filter_map(since_earlier).collect())
    }
}

impl CpuTimesDelta {
    /// Adds what happened between two other readings.
    pub fn add(&mut self, other: &CpuTimesDelta) {
        for (cpu, ticks) in &other.0 {
            let sum = self.0.entry(*cpu).or_default();
            *sum = array::from_fn(|field| sum[field] + ticks[field]);
        }
    }

    /// The CPUs that were there at both readings.
    pub fn cpus(&self) -> Vec<usize> {
        self.0.keys().copied().collect()
    }

    /// The sum over all CPUs.
    pub fn total(&self) -> MachineCpu {
        let [user, nice, system, idle, iowait, irq, softirq, steal] = self.sum(|_| true);
        MachineCpu {
            user_seconds: seconds(user + nice),
            system_seconds: seconds(system),
            softirq_seconds: seconds(softirq),
            irq_seconds: seconds(irq),
            steal_seconds: seconds(steal),
            idle_seconds: seconds(idle + iowait),
        }
    }

    /// Time in which these CPUs worked, for whomever, of `elapsed_seconds`.
    ///
    /// Most kernels ask at every tick of a clock what runs (`CONFIG_TICK_CPU_ACCOUNTING`). Where
    /// timers wake a process, as they do at a fixed rate of calls, it runs at almost every tick or
    /// at almost none, and its share of the ticks may be several times its time. Idle time is
    /// measured, so that it bounds what the ticks say.
    pub fn busy_seconds(&self, cpus: &[usize], elapsed_seconds: f64) -> f64 {
        let [user, nice, system, _, _, irq, softirq, _] = self.sum(|cpu| cpus.contains(cpu));
        let ticks = seconds(user + nice + system + irq + softirq);
        ticks.min(self.not_idle_seconds(cpus, elapsed_seconds))
    }

    /// Time in which these CPUs were not idle, of `elapsed_seconds`. Where timers wake what runs,
    /// as they do at a fixed rate of calls, it is far nearer to the truth than ticks are.
    pub fn not_idle_seconds(&self, cpus: &[usize], elapsed_seconds: f64) -> f64 {
        let [_, _, _, idle, iowait, _, _, steal] = self.sum(|cpu| cpus.contains(cpu));
        elapsed_seconds * cpus.len() as f64 - seconds(idle + iowait + steal)
    }

    /// Time that the hypervisor took from these CPUs while they had work, seconds.
    pub fn steal_seconds(&self, cpus: &[usize]) -> f64 {
        let [.., steal] = self.sum(|cpu| cpus.contains(cpu));
        seconds(steal)
    }

    fn sum(&self, is_chosen: impl Fn(&usize) -> bool) -> Ticks {
        self.0.iter().filter(|(cpu, _)| is_chosen(cpu)).fold(Ticks::default(), |sum, (_, ticks)| {
            array::from_fn(|field| sum[field] + ticks[field])
        })
    }
}

/// Old kernels have fewer fields; what they do not count is 0.
fn parse_ticks<'a>(words: impl Iterator<Item = &'a str>) -> Option<Ticks> {
    let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let field = |index| numbers.get(index).copied().unwrap_or(0);
    (numbers.len() >= FIELDS_MIN).then(|| array::from_fn(field))
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / TICKS_PER_SECOND as f64
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
        assert_eq!(span().cpus(), [0, 1]);
    }

    #[test]
    fn one_cpu_can_be_asked_alone() {
        assert_eq!(span().busy_seconds(&[0], 99.0), 3.2);
        assert_eq!(span().busy_seconds(&[1], 99.0), 1.4);
        assert_eq!(span().steal_seconds(&[0]), 0.2);
        assert_eq!(span().steal_seconds(&[1]), 0.0);
        assert_eq!(span().busy_seconds(&[9], 99.0), 0.0);
        assert!((span().busy_seconds(&[0], 1.25) - 1.0).abs() < 1e-9, "not more than was not idle");
    }

    #[test]
    fn spans_add_up() {
        let mut twice = span();
        twice.add(&span());
        assert_eq!(twice.busy_seconds(&[0], 99.0), 6.4);
        let mut once = CpuTimesDelta::default();
        once.add(&span());
        assert_eq!(once, span());
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
