//! What ends a run before its time: Ctrl-C, and under the lab the end of standard input.

use crate::contract;
use bookend_contract::exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is raised when the run is to end. A second signal ends the process at once.
///
/// # Errors
/// When the system takes no handler or no thread.
pub fn watch(until_input_closes: bool) -> io::Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let status = i32::from(exit::INTERRUPTED);
        flag::register_conditional_shutdown(signal, status, Arc::clone(&raised))?;
        flag::register(signal, Arc::clone(&raised))?;
    }
    if until_input_closes {
        let raised = Arc::clone(&raised);
        contract::at_end_of_input(move || raised.store(true, Ordering::Relaxed))?;
    }
    Ok(raised)
}
