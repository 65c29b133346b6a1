use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// Tells whether a call is over: see [`crate::Context::cancellation`].
///
/// For deferred handlers whose work is worth stopping when the client waits for it no more. A call
/// whose handler does not ask for one pays nothing.
#[derive(Clone, Debug)]
pub struct Cancellation(Weak<Lifetime>);

impl Cancellation {
    /// Whether the call is over: cancelled by its client, past its deadline, its connection lost,
    /// or answered.
    pub fn is_cancelled(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Waits until the call is over, on whatever runtime.
    pub fn cancelled(&self) -> Cancelled {
        Cancelled(self.clone())
    }
}

/// A future that is ready once a call is over: [`Cancellation::cancelled`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Cancelled(Cancellation);

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(lifetime) = self.0.0.upgrade() else {
            return Poll::Ready(());
        };
        let mut waiting = lifetime.waiting();
        let waker = context.waker();
        if !waiting.iter().any(|known| known.will_wake(waker)) {
            waiting.push(waker.clone());
        }
        drop(waiting);
        // If the call has ended meanwhile, this is the last reference, and wakes the task.
        drop(lifetime);
        Poll::Pending
    }
}

/// What a call keeps while it is open, so that each [`Cancellation`] sees its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallLifetime(Arc<Lifetime>);

impl CallLifetime {
    pub fn cancellation(&self) -> Cancellation {
        Cancellation(Arc::downgrade(&self.0))
    }
}

/// The tasks that wait for the end of a call.
#[derive(Debug, Default)]
struct Lifetime(Mutex<Vec<Waker>>);

impl Lifetime {
    /// Nothing that panics happens under the lock but running out of memory.
    fn waiting(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lifetime {
    fn drop(&mut self) {
        let waiting = std::mem::take(&mut *self.waiting());
        waiting.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Calls(AtomicU32);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_end_of_a_call_wakes_who_waits_for_it_once() {
        let lifetime = CallLifetime::default();
        let cancellation = lifetime.cancellation();
        let calls = Arc::new(Calls::default());
        let waker = Waker::from(Arc::clone(&calls));
        let mut context = Context::from_waker(&waker);
        let mut cancelled = pin!(cancellation.cancelled());
        for _ in 0..3 {
            assert!(cancelled.as_mut().poll(&mut context).is_pending());
        }
        assert_eq!(calls.0.load(Ordering::Relaxed), 0);
        drop(lifetime);
        assert_eq!(calls.0.load(Ordering::Relaxed), 1);
        assert!(cancellation.is_cancelled());
        assert!(cancelled.as_mut().poll(&mut context).is_ready());
    }
}
