//! Ending a server from another thread.

use crate::waker::{Waker, WeakWaker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ends [`crate::serve`]: every driver is stopped, every thread joined.
///
/// Clone it before serving and call it from any thread; not from a signal handler, which may not
/// take locks (a thread that waits for signals may).
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    /// Of drivers that are still there, and of a few that are not.
    wakers: Vec<WeakWaker>,
}

impl Stopper {
    /// A stopper that has stopped nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has everything end that serves, or will serve, with this stopper. Does not wait for it.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let there = state.wakers.iter().filter_map(WeakWaker::upgrade);
        there.for_each(|waker| waker.stop());
    }

    /// Whether it was called.
    pub fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// A waker whose driver ends with the others.
    pub(crate) fn waker(&self) -> std::io::Result<Waker> {
        let waker = Waker::new()?;
        let mut state = self.lock();
        state.wakers.retain(|waker| !waker.is_gone());
        state.wakers.push(waker.downgrade());
        if state.stopped {
            waker.stop();
        }
        Ok(waker)
    }

    /// Nothing that panics happens under the lock but running out of memory.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops the others when the thread that holds it ends, whatever it ends of.
pub(crate) struct StopOnExit(pub Stopper);

impl Drop for StopOnExit {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_joins_after_the_end_is_stopped_too() {
        let stopper = Stopper::new();
        let before = stopper.waker().unwrap();
        assert!(!before.is_stopping() && !stopper.is_stopped());
        stopper.clone().stop();
        let after = stopper.waker().unwrap();
        assert!(before.is_stopping() && after.is_stopping() && stopper.is_stopped());
    }

    #[test]
    fn a_driver_that_is_gone_keeps_nothing_open() {
        let stopper = Stopper::new();
        drop(stopper.waker().unwrap());
        assert!(stopper.lock().wakers[0].is_gone());
        let waker = stopper.waker().unwrap();
        assert_eq!(stopper.lock().wakers.len(), 1);
        stopper.stop();
        assert!(waker.is_stopping());
    }

    #[test]
    fn a_thread_that_panics_stops_the_others() {
        let stopper = Stopper::new();
        let exit = StopOnExit(stopper.clone());
        let thread = std::thread::spawn(move || {
            let _exit = exit;
            panic!("on purpose");
        });
        assert!(thread.join().is_err());
        assert!(stopper.is_stopped());
    }
}
