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
    hurried: bool,
    /// Of drivers that are still there, and of a few that are not.
    wakers: Vec<WeakWaker>,
    /// Of drivers that somebody else stops, and that are only hurried from here.
    followers: Vec<WeakWaker>,
}

impl Stopper {
    /// A stopper that has stopped nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has everything end that serves, or will serve, with this stopper: what goes on may come to
    /// its end within the drain time ([`crate::Options::drain_ns`]). Does not wait for it.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        let there = state.wakers.iter().filter_map(WeakWaker::upgrade);
        there.for_each(|waker| waker.stop());
    }

    /// As [`Stopper::stop`], without any time for what goes on; also after it.
    pub fn stop_now(&self) {
        let mut state = self.lock();
        (state.stopped, state.hurried) = (true, true);
        let all = state.wakers.iter().chain(&state.followers);
        let there = all.filter_map(WeakWaker::upgrade);
        there.for_each(|waker| waker.stop_now());
    }

    /// Whether it was called.
    pub fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// A waker whose driver ends with the others.
    pub(crate) fn waker(&self) -> std::io::Result<Waker> {
        let waker = Waker::new()?;
        let mut state = self.lock();
        remember(&mut state.wakers, &waker);
        match (state.stopped, state.hurried) {
            (_, true) => waker.stop_now(),
            (true, false) => waker.stop(),
            (false, false) => {}
        }
        Ok(waker)
    }

    /// Has a driver hurry with the others that is stopped later than they are.
    pub(crate) fn hurry_too(&self, waker: &Waker) {
        let mut state = self.lock();
        remember(&mut state.followers, waker);
        if state.hurried {
            waker.stop_now();
        }
    }

    /// Nothing that panics happens under the lock but running out of memory.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a waker to those that are still there.
fn remember(wakers: &mut Vec<WeakWaker>, waker: &Waker) {
    wakers.retain(|waker| !waker.is_gone());
    wakers.push(waker.downgrade());
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
    fn who_follows_is_hurried_and_not_stopped() {
        let (stopper, follower) = (Stopper::new(), Waker::new().unwrap());
        let member = stopper.waker().unwrap();
        stopper.hurry_too(&follower);
        stopper.stop();
        assert!(member.is_stopping() && !member.is_hurried());
        assert!(!follower.is_stopping());
        stopper.stop_now();
        assert!(member.is_hurried() && follower.is_hurried() && follower.is_stopping());
        let late = Waker::new().unwrap();
        stopper.hurry_too(&late);
        assert!(late.is_hurried() && stopper.waker().unwrap().is_hurried());
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
