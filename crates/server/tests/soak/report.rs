//! What a soak came to, and what must not be.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::hostile::Attacked;
use crate::legal::{Made, STALL};
use crate::serving::Handled;
use crate::watch::Sample;

/// Fewer looks than this tell nothing about growth: the first minute fills pools and tables.
const SAMPLES_TO_TELL_GROWTH: usize = 240;

/// Growth from the second quarter of the time to the last that is not held against a server:
/// allocators give memory back when it suits them.
const GROWTH_ALLOWED_KIB: u64 = 16 << 10;

pub struct Report {
    seed: u64,
    made: Vec<Made>,
    attacks: BTreeMap<&'static str, (u64, u64)>,
    samples: Vec<Sample>,
    handled: Handled,
}

impl Report {
    pub fn new(
        seed: u64,
        made: Vec<Made>,
        attacked: Vec<Vec<Attacked>>,
        samples: Vec<Sample>,
        handled: Handled,
    ) -> Self {
        let mut attacks = BTreeMap::new();
        for done in attacked.into_iter().flatten() {
            let (connections, cut_off) = attacks.entry(done.attack).or_default();
            *connections += done.connections;
            *cut_off += done.cut_off;
        }
        Report { seed, made, attacks, samples, handled }
    }

    /// What must not be; nothing, if all is well.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.lost();
        faults.extend(self.disagreements());
        faults.extend(self.growth());
        if self.counted("panics") > 0 {
            faults.push("a handler panicked".to_owned());
        }
        faults
    }

    fn counted(&self, name: &str) -> u64 {
        self.handled.get(name).copied().unwrap_or(0)
    }

    /// Calls that did not end as they had to.
    fn lost(&self) -> Vec<String> {
        let wrong = |made: &&Made| made.calls == 0 || made.right < made.calls;
        let told = |made: &Made| {
            let why = made.first_wrong.as_deref().unwrap_or("no call was made");
            let (client, right, calls) = (made.client, made.right, made.calls);
            format!("{client}: {right} of {calls} calls ended as they had to: {why}")
        };
        self.made.iter().filter(wrong).map(told).collect()
    }

    /// Methods of which the two ends counted different numbers of calls.
    fn disagreements(&self) -> Vec<String> {
        let mut made = BTreeMap::<_, u64>::new();
        for client in &self.made {
            *made.entry(client.path).or_default() += client.calls;
        }
        // A call whose deadline passes while it waits to be sent reaches no server.
        let differs = |&(path, &calls): &(&&str, &u64)| match *path == STALL {
            true => self.counted(path) > calls,
            false => self.counted(path) != calls,
        };
        let told = |(path, calls): (&&str, &u64)| {
            let handled = self.counted(path);
            format!("{path}: clients made {calls} calls, the server handled {handled}")
        };
        made.iter().filter(differs).map(told).collect()
    }

    fn growth(&self) -> Option<String> {
        if self.samples.len() < SAMPLES_TO_TELL_GROWTH {
            return None;
        }
        let (before, after) = (self.quarter(1), self.quarter(3));
        let allowed_kib = before.resident_kib + before.resident_kib / 4 + GROWTH_ALLOWED_KIB;
        let grew = after.resident_kib > allowed_kib
            || after.threads > before.threads + 64
            || after.descriptors > before.descriptors * 2 + 64;
        grew.then(|| format!("the server grew: {before:?} at most, later {after:?}"))
    }

    /// The largest of everything in a quarter of the time.
    fn quarter(&self, number: usize) -> Sample {
        let quarter = self.samples.len() / 4;
        let samples = &self.samples[quarter * number..];
        let largest = |largest: Sample, sample: &Sample| Sample {
            resident_kib: largest.resident_kib.max(sample.resident_kib),
            threads: largest.threads.max(sample.threads),
            descriptors: largest.descriptors.max(sample.descriptors),
        };
        let samples = samples.iter().take(quarter.max(1));
        samples.fold(Sample::default(), largest)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}", self.seed)?;
        for made in &self.made {
            let (client, path, calls, right) = (made.client, made.path, made.calls, made.right);
            writeln!(f, "{client:<20} {path:<18} {calls:>9} calls, {right} right")?;
        }
        writeln!(f, "time of calls made together, ms: p50, p99, slowest; the same under attack")?;
        for Made { client, alone, attacked, .. } in &self.made {
            writeln!(f, "{client:<20} {}   {}", shown(alone), shown(attacked))?;
        }
        for (attack, (connections, cut_off)) in &self.attacks {
            writeln!(f, "{attack:<40} {connections:>7} connections, {cut_off} cut off")?;
        }
        for (what, count) in &self.handled {
            writeln!(f, "server: {what} {count}")?;
        }
        for number in 0..4 {
            let most = self.quarter(number);
            let (kib, threads, descriptors) = (most.resident_kib, most.threads, most.descriptors);
            let name = number + 1;
            writeln!(
                f,
                "quarter {name}: at most {kib} KiB, {threads} threads, {descriptors} descriptors"
            )?;
        }
        match self.faults() {
            faults if faults.is_empty() => writeln!(f, "soak: no call lost, counts agree"),
            faults => writeln!(f, "soak FAILED:\n{}", faults.join("\n")),
        }
    }
}

/// Percentiles in milliseconds.
fn shown(times: &[Duration]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |percent: usize| {
        let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or_default().as_secs_f64() * 1e3
    };
    format!("{:>8.1} {:>8.1} {:>8.1}", at(50), at(99), at(100))
}
