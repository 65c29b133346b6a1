//! Ctrl-C: flags that every wait looks at, so that what was measured is kept and no process stays.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user wants the lab to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Whether the user wants the lab to end. Clones share their flags.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    hurried: Arc<AtomicBool>,
}

impl Interrupt {
    /// Flags that only [`Interrupt::raise`] sets.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Flags that SIGINT, SIGTERM and SIGHUP set. The first signal ends the measuring; processes
    /// may still drain. With the second they are killed instead, and everything is cleared away.
    /// The third ends this process at once with status 130, and its guardian ends what it started.
    ///
    /// A terminal that hangs up does not end a lab that was started to outlive it (`nohup`).
    ///
    /// # Errors
    /// The kernel refuses a signal handler, or a thread to wait for them.
    pub fn on_signals() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::new();
        let wanted: Vec<i32> = [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| *signal != SIGHUP || !ignores("self", SIGHUP))
            .collect();
        let mut signals = Signals::new(wanted)?;
        let flags = interrupt.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                flags.take_signal();
            }
        })?;
        Ok(interrupt)
    }

    fn take_signal(&self) {
        if self.hurried.load(Ordering::Relaxed) {
            std::process::exit(i32::from(bookend_contract::exit::INTERRUPTED));
        }
        let is_second = self.is_raised();
        self.hurried.store(is_second, Ordering::Relaxed);
        self.raise();
    }

    /// Asks the lab to end.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Whether the lab was asked to end.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// An interrupt that is raised when the user does not want to wait for processes to drain
    /// either.
    pub fn hurry(&self) -> Interrupt {
        Interrupt { raised: Arc::clone(&self.hurried), hurried: Arc::clone(&self.hurried) }
    }
}

/// Whether a process, by its folder in `/proc`, ignores `signal`: the mask has a bit for each,
/// from 1.
pub(crate) fn ignores(process: &str, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    ignored_in(&status).is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

fn ignored_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_signal_hurries_what_the_first_has_ended() {
        let interrupt = Interrupt::new();
        let hurry = interrupt.hurry();
        interrupt.take_signal();
        assert!(interrupt.is_raised() && !hurry.is_raised());
        interrupt.take_signal();
        assert!(interrupt.is_raised() && hurry.is_raised());
    }

    #[test]
    fn ignored_signals_are_read_from_a_mask() {
        let status = "Name:\tx\nSigIgn:\t0000000000000001\nSigCgt:\t0000000000000002\n";
        assert_eq!(ignored_in(status), Some(1));
        assert_eq!(ignored_in("Name:\tx\n"), None);
    }
}
