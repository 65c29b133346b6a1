//! Ctrl-C: a flag that every wait looks at, so that what was measured is kept and no process stays.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The user wants the lab to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Whether the user wants the lab to end. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that only [`Interrupt::raise`] sets.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// A flag that SIGINT and SIGTERM set. The second signal ends the process at once with
    /// status 130, for users who cannot wait; the kernel then kills what the lab started.
    ///
    /// # Errors
    /// The kernel refuses a signal handler.
    pub fn on_signals() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::new();
        let status = i32::from(bookend_contract::exit::INTERRUPTED);
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the first signal must not yet find the flag set.
            let flag = || Arc::clone(&interrupt.0);
            signal_hook::flag::register_conditional_shutdown(signal, status, flag())?;
            signal_hook::flag::register(signal, flag())?;
        }
        Ok(interrupt)
    }

    /// Asks the lab to end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the lab was asked to end.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
