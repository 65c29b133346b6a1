//! Both ends and the machine over one window: read when it begins and ends, sampled in between.

use crate::cpu::{CpuTimes, CpuTimesDelta, ThreadMeter, own_cpu};
use crate::process::Process;
use crate::sampler::{SAMPLE_INTERVAL, Sampler};
use bookend_contract::timestamp::Timestamp;
use bookend_results::measurement::Ends;
use bookend_results::suite::TestedEnd;
use std::time::{Duration, Instant, SystemTime};

/// Context switches are read thread by thread, which takes CPU time that both ends may need: with
/// each sample up to this number of threads, else with every tenth.
const FEW_THREADS: usize = 16;

/// A window that is open.
#[derive(Debug)]
pub struct WindowSampler {
    started: Timestamp,
    side: TestedEnd,
    /// When it began, or went on after a pause.
    machine: CpuTimes,
    lab_cpu: Duration,
    /// From before the last pause.
    machine_before: CpuTimesDelta,
    lab_cpu_before: Duration,
    is_paused: bool,
    server: Sampler,
    generator: Sampler,
    backend: Option<Sampler>,
    threads: ThreadMeter,
    /// When the next sample is due.
    pub next_sample: Instant,
    samples: usize,
}

/// What both ends and the machine did in a window.
#[derive(Clone, Debug, Default)]
pub struct WindowUsage {
    /// When it began.
    pub started: Option<Timestamp>,
    /// Time between the first and the last reading of the server, seconds.
    pub seconds: f64,
    /// The trees of both ends and of the backend.
    pub ends: Ends,
    /// The machine.
    pub machine: CpuTimesDelta,
    /// CPU time of the lab itself, seconds.
    pub lab_seconds: f64,
}

/// The processes of one window.
#[derive(Clone, Copy, Debug)]
pub struct WindowProcesses<'a> {
    /// The server.
    pub server: &'a Process,
    /// The process that calls it.
    pub generator: &'a Process,
    /// The backend of the server.
    pub backend: Option<&'a Process>,
    /// Which of the two ends is measured.
    pub under_test: TestedEnd,
}

impl<'a> WindowProcesses<'a> {
    /// The process that is measured.
    pub fn under_test(&self) -> &'a Process {
        match self.under_test {
            TestedEnd::Server => self.server,
            TestedEnd::Client => self.generator,
        }
    }
}

impl WindowSampler {
    /// The window begins now. What takes longest to read is read last, here and at the end.
    pub fn begin(processes: WindowProcesses<'_>) -> WindowSampler {
        WindowSampler {
            started: SystemTime::now().into(),
            side: processes.under_test,
            server: Sampler::begin(processes.server),
            generator: Sampler::begin(processes.generator),
            backend: processes.backend.map(Sampler::begin),
            machine: CpuTimes::read(),
            lab_cpu: own_cpu(),
            machine_before: CpuTimesDelta::default(),
            lab_cpu_before: Duration::ZERO,
            is_paused: false,
            threads: ThreadMeter::begin(processes.under_test().tree().clone()),
            next_sample: Instant::now() + SAMPLE_INTERVAL,
            samples: 0,
        }
    }

    /// Takes a sample if it is due.
    pub fn sample_if_due(&mut self) {
        let now = Instant::now();
        if now >= self.next_sample {
            self.server.sample();
            self.generator.sample();
            if let Some(backend) = &mut self.backend {
                backend.sample();
            }
            self.samples += 1;
            if self.threads.threads() <= FEW_THREADS || self.samples.is_multiple_of(10) {
                self.threads.sample();
            }
            // A sample that came late does not make the following ones come early.
            self.next_sample = now + SAMPLE_INTERVAL;
        }
    }

    /// Nothing counts from now on until [`WindowSampler::resume`].
    pub fn pause(&mut self) {
        if std::mem::replace(&mut self.is_paused, true) {
            return;
        }
        self.each_end(Sampler::pause);
        self.machine_before.add(&CpuTimes::read().since(&self.machine));
        self.lab_cpu_before += own_cpu().saturating_sub(self.lab_cpu);
        self.threads.sample_all();
    }

    /// The window goes on. What takes longest to read is read first: nothing happens yet.
    pub fn resume(&mut self) {
        self.threads.skip();
        self.each_end(Sampler::resume);
        self.machine = CpuTimes::read();
        self.lab_cpu = own_cpu();
        self.next_sample = Instant::now() + SAMPLE_INTERVAL;
        self.is_paused = false;
    }

    fn each_end(&mut self, what: impl Fn(&mut Sampler)) {
        what(&mut self.server);
        what(&mut self.generator);
        self.backend.iter_mut().for_each(what);
    }

    /// The window ends now, or has ended where it was paused.
    pub fn end(mut self) -> WindowUsage {
        self.pause();
        let server = self.server.end();
        let mut ends = Ends {
            side: self.side,
            server: server.end,
            caller: self.generator.end().end,
            backend: self.backend.map(|backend| backend.end().end),
        };
        ends.tested_mut().context_switches = Some(self.threads.switches());
        ends.tested_mut().thread_imbalance = self.threads.imbalance();
        WindowUsage {
            started: Some(self.started),
            seconds: server.seconds,
            ends,
            machine: self.machine_before,
            lab_seconds: self.lab_cpu_before.as_secs_f64(),
        }
    }
}
