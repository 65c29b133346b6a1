//! Ending a server from another thread.

use crate::waker::{Waker, WeakWaker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ends [`crate::serve`]: every driver is stopped, every thread joined.
///
/// Clone it before serving and call it from any thread; not from a signal handler, which may not
/// take locks (a thread that waits for signals may).
#[derive(Clone, Debug, Default)]
pub struct ShutdownHandle(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    stopped_now: bool,
    /// Of running drivers, and of a few that have ended.
    wakers: Vec<WeakWaker>,
    /// Of drivers that are stopped elsewhere; [`ShutdownHandle::stop_now`] reaches them too.
    followers: Vec<WeakWaker>,
}

impl ShutdownHandle {
    /// A handle that has stopped nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops every server that uses this handle, now or later. Calls in progress may finish within
    /// the drain time ([`crate::IoOptions::drain_ns`]). Returns at once.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.wakers.iter().filter_map(WeakWaker::upgrade).for_each(|waker| waker.stop());
    }

    /// Like [`ShutdownHandle::stop`], but without the drain time; may be called after it.
    pub fn stop_now(&self) {
        let mut state = self.lock();
        (state.stopped, state.stopped_now) = (true, true);
        state
            .wakers
            .iter()
            .chain(&state.followers)
            .filter_map(WeakWaker::upgrade)
            .for_each(|waker| waker.stop_now());
    }

    /// Whether [`ShutdownHandle::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// A waker whose driver ends with the others.
    pub(crate) fn waker(&self) -> std::io::Result<Waker> {
        let waker = Waker::new()?;
        let mut state = self.lock();
        remember(&mut state.wakers, &waker);
        match (state.stopped, state.stopped_now) {
            (_, true) => waker.stop_now(),
            (true, false) => waker.stop(),
            (false, false) => {}
        }
        Ok(waker)
    }

    /// Lets [`ShutdownHandle::stop_now`] reach a driver that is stopped elsewhere.
    pub(crate) fn stop_now_too(&self, waker: &Waker) {
        let mut state = self.lock();
        remember(&mut state.followers, waker);
        if state.stopped_now {
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

/// Stops the other threads when the thread that holds it ends, also by a panic.
pub(crate) struct StopOnExit(pub ShutdownHandle);

impl StopOnExit {
    /// The others go on.
    pub fn disarm(&mut self) {
        self.0 = ShutdownHandle::new();
    }
}

impl Drop for StopOnExit {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_joins_after_the_end_is_stopped_too() {
        let shutdown = ShutdownHandle::new();
        let before = shutdown.waker().unwrap();
        assert!(!before.is_stopping() && !shutdown.is_stopped());
        shutdown.clone().stop();
        let after = shutdown.waker().unwrap();
        assert!(before.is_stopping() && after.is_stopping() && shutdown.is_stopped());
    }

    #[test]
    fn a_follower_is_stopped_by_stop_now_alone() {
        let (shutdown, follower) = (ShutdownHandle::new(), Waker::new().unwrap());
        let member = shutdown.waker().unwrap();
        shutdown.stop_now_too(&follower);
        shutdown.stop();
        assert!(member.is_stopping() && !member.is_stopping_now());
        assert!(!follower.is_stopping());
        shutdown.stop_now();
        assert!(member.is_stopping_now() && follower.is_stopping_now() && follower.is_stopping());
        let late = Waker::new().unwrap();
        shutdown.stop_now_too(&late);
        assert!(late.is_stopping_now() && shutdown.waker().unwrap().is_stopping_now());
    }

    #[test]
    fn a_driver_that_is_gone_keeps_nothing_open() {
        let shutdown = ShutdownHandle::new();
        drop(shutdown.waker().unwrap());
        assert!(shutdown.lock().wakers[0].is_gone());
        let waker = shutdown.waker().unwrap();
        assert_eq!(shutdown.lock().wakers.len(), 1);
        shutdown.stop();
        assert!(waker.is_stopping());
    }

    #[test]
    fn a_thread_that_panics_stops_the_others() {
        let shutdown = ShutdownHandle::new();
        let exit = StopOnExit(shutdown.clone());
        let thread = std::thread::spawn(move || {
            let _exit = exit;
            panic!("on purpose");
        });
        assert!(thread.join().is_err());
        assert!(shutdown.is_stopped());
    }
}
