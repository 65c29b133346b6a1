//! What a process tree used over a window: a reading at its start and end, and every 100 ms
//! between.

use crate::control_group::PeakCounter;
use crate::cpu::CpuMeter;
use crate::memory::{Footprint, MemoryMeter};
use crate::process::Process;
use bookend_results::measurement::EndUsage;
use std::time::{Duration, Instant};

/// Between two samples: short enough to see a server that waits in bursts, long enough that
/// taking them costs below a thousandth of a CPU.
pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// Meters of one tree, taking its samples over one window.
#[derive(Debug)]
pub struct Sampler {
    /// When it began, later by all that it has paused.
    began: Instant,
    /// Since when it pauses.
    paused: Option<Instant>,
    cpu: CpuMeter,
    memory: MemoryMeter,
    peak: Option<PeakCounter>,
    usage: Usage,
}

/// What a tree used over a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceUsage {
    /// Time between the first and the last reading, seconds.
    pub seconds: f64,
    /// CPU time, memory and threads. The peak of memory is that of the samples, or what the kernel
    /// has seen between them.
    pub end: EndUsage,
}

impl Sampler {
    /// Takes the first reading of `process` and all that it started.
    pub fn begin(process: &Process) -> Sampler {
        let mut cpu = CpuMeter::of(process);
        let memory = MemoryMeter::of(process);
        let peak = memory.account.begin_peak();
        let began = Instant::now();
        let usage = Usage::begin(cpu.read_ns(), memory.read());
        Sampler { began, paused: None, cpu, memory, peak, usage }
    }

    /// Takes a reading in the middle of the window.
    pub fn sample(&mut self) {
        let at = self.began.elapsed();
        self.usage.add(at, self.cpu.read_ns(), self.memory.read());
    }

    /// Takes a reading, after which nothing counts until [`Sampler::resume`].
    pub fn pause(&mut self) {
        self.sample();
        self.paused = Some(Instant::now());
    }

    /// Goes on where it has paused: neither time nor CPU time has passed in between.
    pub fn resume(&mut self) {
        if let Some(paused) = self.paused.take() {
            self.usage.skip(self.cpu.read_ns());
            self.began += paused.elapsed();
        }
    }

    /// Takes the last reading, unless it pauses.
    pub fn end(mut self) -> ResourceUsage {
        if self.paused.is_none() {
            self.sample();
        }
        let kernel_peak = self.peak.as_mut().and_then(PeakCounter::bytes);
        let mut used = self.usage.used();
        used.end.memory_peak_bytes = kernel_peak.max(used.end.memory_peak_bytes);
        used.end.memory_source = Some(self.memory.source().to_owned());
        used
    }
}

/// Readings folded into figures; it keeps no reading but the last, so a window may be long.
#[derive(Clone, Debug)]
struct Usage {
    first_cpu_ns: u64,
    last_cpu_ns: u64,
    last_at: Duration,
    /// Where the share that is being formed began.
    share_cpu_ns: u64,
    share_at: Duration,
    cpu_max: f64,
    memory_sum_bytes: u128,
    readings: u32,
    most: Footprint,
}

impl Usage {
    fn begin(cpu_ns: u64, held: Footprint) -> Usage {
        Usage {
            first_cpu_ns: cpu_ns,
            last_cpu_ns: cpu_ns,
            last_at: Duration::ZERO,
            share_cpu_ns: cpu_ns,
            share_at: Duration::ZERO,
            cpu_max: 0.0,
            memory_sum_bytes: u128::from(held.memory_bytes),
            readings: 1,
            most: held,
        }
    }

    fn add(&mut self, at: Duration, cpu_ns: u64, held: Footprint) {
        // A late sample may be followed by one that comes too soon; a share over a few
        // milliseconds says nothing.
        if at.saturating_sub(self.share_at) >= SAMPLE_INTERVAL / 2 {
            let share = share(cpu_ns - self.share_cpu_ns.min(cpu_ns), at - self.share_at);
            self.cpu_max = self.cpu_max.max(share);
            self.share_cpu_ns = cpu_ns;
            self.share_at = at;
        }
        self.last_at = at;
        self.last_cpu_ns = cpu_ns.max(self.last_cpu_ns);
        self.memory_sum_bytes += u128::from(held.memory_bytes);
        self.readings += 1;
        self.most.memory_bytes = self.most.memory_bytes.max(held.memory_bytes);
        self.most.threads = self.most.threads.max(held.threads);
    }

    /// CPU time until now, when it is `cpu_ns`, is not counted.
    fn skip(&mut self, cpu_ns: u64) {
        let skipped_ns = cpu_ns.saturating_sub(self.last_cpu_ns);
        self.first_cpu_ns += skipped_ns;
        self.last_cpu_ns += skipped_ns;
        self.share_cpu_ns = self.last_cpu_ns;
        self.share_at = self.last_at;
    }

    fn used(&self) -> ResourceUsage {
        let cpu_ns = self.last_cpu_ns - self.first_cpu_ns;
        let mean = share(cpu_ns, self.last_at);
        let cpu_seconds = Duration::from_nanos(cpu_ns).as_secs_f64();
        let memory_mean = self.memory_sum_bytes / u128::from(self.readings);
        ResourceUsage {
            seconds: self.last_at.as_secs_f64(),
            end: EndUsage {
                cpu_seconds,
                cpu_sampled_seconds: Some(cpu_seconds),
                cpu_mean: Some(mean),
                // A window shorter than a sample has no share but its own.
                cpu_max: Some(self.cpu_max.max(mean)),
                memory_mean_bytes: Some(u64::try_from(memory_mean).unwrap_or(u64::MAX)),
                memory_peak_bytes: Some(self.most.memory_bytes),
                threads: Some(self.most.threads),
                ..EndUsage::default()
            },
        }
    }
}

fn share(cpu_ns: u64, time: Duration) -> f64 {
    if time.is_zero() {
        return 0.0;
    }
    cpu_ns as f64 / time.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(memory_bytes: u64, threads: u32) -> Footprint {
        Footprint { memory_bytes, threads }
    }

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn mean_is_over_the_window_and_maximum_over_one_sample() {
        let mut usage = Usage::begin(5_000_000, held(100, 1));
        usage.add(at(100), 15_000_000, held(300, 4));
        usage.add(at(200), 115_000_000, held(200, 2));
        usage.add(at(400), 205_000_000, held(200, 2));
        let used = usage.used();
        assert_eq!(used.end.cpu_seconds, 0.2);
        assert_eq!(used.end.cpu_mean, Some(0.5));
        assert_eq!(used.end.cpu_max, Some(1.0));
        assert_eq!(used.end.memory_mean_bytes, Some(200));
        assert_eq!(used.end.memory_peak_bytes, Some(300));
        assert_eq!(used.end.threads, Some(4));
    }

    #[test]
    fn a_sample_that_comes_too_soon_cannot_make_a_maximum() {
        let mut usage = Usage::begin(0, held(0, 0));
        usage.add(at(100), 50_000_000, held(0, 0));
        usage.add(at(101), 52_000_000, held(0, 0));
        usage.add(at(200), 100_000_000, held(0, 0));
        assert_eq!(usage.used().end.cpu_max, Some(0.5));
    }

    #[test]
    fn what_is_used_in_a_pause_is_nobodys() {
        let mut usage = Usage::begin(5_000_000, held(0, 0));
        usage.add(at(100), 85_000_000, held(0, 0));
        usage.skip(485_000_000);
        usage.add(at(200), 525_000_000, held(0, 0));
        let used = usage.used();
        assert_eq!((used.end.cpu_seconds, used.seconds), (0.12, 0.2));
        assert_eq!((used.end.cpu_max, used.end.cpu_mean), (Some(0.8), Some(0.6)));
    }

    #[test]
    fn a_window_shorter_than_a_sample_still_has_shares() {
        let mut usage = Usage::begin(0, held(0, 0));
        usage.add(at(10), 5_000_000, held(0, 0));
        assert_eq!(usage.used().end.cpu_max, Some(0.5));
        assert_eq!(usage.used().end.cpu_mean, Some(0.5));
    }

    #[test]
    fn a_clock_that_goes_back_costs_nothing_but_its_sample() {
        let mut usage = Usage::begin(100, held(0, 0));
        usage.add(at(100), 50, held(0, 0));
        assert_eq!(usage.used().end.cpu_seconds, 0.0);
        let nothing = Usage::begin(7, held(0, 0)).used();
        assert_eq!((nothing.end.cpu_mean, nothing.end.cpu_max), (Some(0.0), Some(0.0)));
    }
}
