//! Calling a driver from another thread.

use crate::kernel;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Weak};

/// The driver is at work and looks at its state before it sleeps.
const AWAKE: u8 = 0;
/// The driver sleeps, or is about to: it needs the eventfd.
const ASLEEP: u8 = 1;
/// It was called, and has not woken its shard yet.
const CALLED: u8 = 2;

thread_local! {
    /// The wakers to signal when this thread's batch ends.
    static HELD: RefCell<Option<Vec<Waker>>> = const { RefCell::new(None) };
}

/// Delays the signals of every [`Waker`] that this thread calls, until the batch is dropped.
///
/// Otherwise the first of a thousand values would wake the other shard. Where both threads share a
/// processor, the kernel runs the woken one first, so each value would be handled and written by
/// itself. Do not block on the shards that are to be woken while a batch is open.
#[derive(Debug)]
pub struct WakeBatch {
    is_outermost: bool,
    of_this_thread: PhantomData<*const ()>,
}

impl WakeBatch {
    /// Opens a batch. Of nested batches, the outermost sends the signals.
    pub fn begin() -> Self {
        let is_outermost = HELD.with_borrow_mut(|held| {
            let begins = held.is_none();
            held.get_or_insert_default();
            begins
        });
        Self { is_outermost, of_this_thread: PhantomData }
    }
}

impl Drop for WakeBatch {
    fn drop(&mut self) {
        if self.is_outermost {
            let held = HELD.take().unwrap_or_default();
            held.iter().for_each(Waker::write_signal);
        }
    }
}

/// Calls a shard from another thread: its driver then calls [`crate::Shard::woken`].
///
/// A call is one eventfd write, and none when the shard is awake or was called already. A blocking
/// driver in a plain read is awake in this sense and answers at its next tick (at most
/// [`crate::blocking::TICK_NS`] later), unless [`crate::Shard::has_outstanding`] is true.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Shared>);

/// A waker that does not keep its driver's eventfd open.
#[derive(Clone, Debug)]
pub(crate) struct WeakWaker(Weak<Shared>);

impl WeakWaker {
    /// The waker, if it still exists.
    pub fn upgrade(&self) -> Option<Waker> {
        self.0.upgrade().map(Waker)
    }

    /// Whether it no longer exists.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

#[derive(Debug)]
struct Shared {
    state: AtomicU8,
    stopping: AtomicBool,
    stopped_now: AtomicBool,
    event: OwnedFd,
}

impl Waker {
    /// A waker for one driver. Give clones to the threads that call it, then start the driver with
    /// it.
    ///
    /// # Errors
    /// The machine's, where no descriptor can be had.
    pub fn new() -> io::Result<Self> {
        let event = kernel::event()?;
        let state = AtomicU8::new(AWAKE);
        Ok(Self(Arc::new(Shared {
            state,
            stopping: AtomicBool::new(false),
            stopped_now: AtomicBool::new(false),
            event,
        })))
    }

    /// Makes the driver call [`crate::Shard::woken`] soon.
    #[inline]
    pub fn wake(&self) {
        if self.0.state.swap(CALLED, Ordering::AcqRel) == ASLEEP {
            self.signal();
        }
    }

    /// Asks the driver to end: [`crate::Shard::woken`] is called with
    /// [`crate::IoContext::stopping`] true, and the loop ends when the output is written.
    pub fn stop(&self) {
        self.0.stopping.store(true, Ordering::Release);
        self.wake();
    }

    /// Like [`Waker::stop`], but without the drain time.
    pub fn stop_now(&self) {
        self.0.stopped_now.store(true, Ordering::Release);
        self.stop();
    }

    /// Whether [`Waker::stop_now`] was called.
    pub(crate) fn is_stopping_now(&self) -> bool {
        self.0.stopped_now.load(Ordering::Acquire)
    }

    /// Whether [`Waker::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.0.stopping.load(Ordering::Acquire)
    }

    #[cold]
    fn signal(&self) {
        let hold = |held: &RefCell<Option<Vec<Waker>>>| match &mut *held.borrow_mut() {
            Some(held) => {
                held.push(self.clone());
                true
            }
            None => false,
        };
        // A thread that is ending holds nothing back.
        if !HELD.try_with(hold).unwrap_or(false) {
            self.write_signal();
        }
    }

    fn write_signal(&self) {
        // The counter cannot overflow, since only the first call after a sleep gets here, and an
        // open eventfd fails for nothing but a signal.
        while kernel::signal(&self.0.event) == Err(Errno::INTR) {}
    }

    pub(crate) fn downgrade(&self) -> WeakWaker {
        WeakWaker(Arc::downgrade(&self.0))
    }

    /// What the driver waits for while it sleeps.
    pub(crate) fn event(&self) -> BorrowedFd<'_> {
        self.0.event.as_fd()
    }

    /// The driver wants to sleep. False: it was called meanwhile and must not.
    #[inline]
    pub(crate) fn fall_asleep(&self) -> bool {
        let state = &self.0.state;
        state.compare_exchange(AWAKE, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The driver is awake. True: it was called since the last time it asked.
    #[inline]
    pub(crate) fn wake_up(&self) -> bool {
        self.0.state.swap(AWAKE, Ordering::AcqRel) == CALLED
    }

    /// Takes the eventfd's signal back, so that it can be waited for again.
    pub(crate) fn clear(&self) {
        let _ = kernel::clear_signal(&self.0.event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals(waker: &Waker) -> u64 {
        let mut count = [0; 8];
        match rustix::io::read(waker.event(), &mut count) {
            Ok(_) => u64::from_ne_bytes(count),
            Err(_) => 0,
        }
    }

    #[test]
    fn a_driver_that_is_awake_is_called_without_a_system_call() {
        let waker = Waker::new().unwrap();
        waker.wake();
        assert!(!waker.fall_asleep(), "it was called and must look first");
        assert!(waker.wake_up());
        assert_eq!(signals(&waker), 0);
    }

    #[test]
    fn signals_are_held_back_until_the_outermost_lets_go() {
        let waker = Waker::new().unwrap();
        let outermost = WakeBatch::begin();
        assert!(waker.fall_asleep());
        drop(WakeBatch::begin());
        waker.wake();
        assert_eq!(signals(&waker), 0);
        drop(outermost);
        assert_eq!(signals(&waker), 1);
        assert!(waker.wake_up() && waker.fall_asleep());
        waker.wake();
        assert_eq!(signals(&waker), 1, "nothing is held back any more");
    }

    #[test]
    fn what_one_thread_holds_back_another_does_not() {
        let waker = Waker::new().unwrap();
        let _held = WakeBatch::begin();
        assert!(waker.fall_asleep());
        let other = waker.clone();
        std::thread::spawn(move || other.wake()).join().unwrap();
        assert_eq!(signals(&waker), 1);
    }

    #[test]
    fn a_driver_asleep_is_signalled_once_however_often_it_is_called() {
        let waker = Waker::new().unwrap();
        assert!(waker.fall_asleep());
        waker.wake();
        waker.wake();
        waker.stop();
        assert_eq!(signals(&waker), 1);
        assert!(waker.wake_up());
        assert!(!waker.wake_up(), "answered once");
        assert!(waker.is_stopping());
    }
}
