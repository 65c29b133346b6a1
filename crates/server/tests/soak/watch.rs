//! What the server's process takes of its machine while it is soaked.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(250);

/// What was seen at one look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub resident_kib: u64,
    pub threads: u64,
    pub descriptors: u64,
}

pub struct Watch {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

impl Watch {
    pub fn start(process: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let mut samples = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                samples.extend(look(process));
                thread::sleep(EVERY);
            }
            samples
        });
        Watch { over, thread }
    }

    pub fn end(self) -> Vec<Sample> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("looking does not panic")
    }
}

fn look(process: u32) -> Option<Sample> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some(Sample {
        resident_kib: field("VmRSS:")?,
        threads: field("Threads:")?,
        descriptors: fs::read_dir(format!("/proc/{process}/fd")).ok()?.count() as u64,
    })
}
