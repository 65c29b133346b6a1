use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::call_event::{CallEventKind, Notifier};

/// Wakes a stream that is handled inline, from any thread: its `on_ready` is called soon, on the
/// thread that owns the connection. See [`crate::Context::waker`].
///
/// A waker that is used again before the stream has noticed does nothing, so it may be used as
/// often as there is news. On a call that is over it does nothing either.
#[derive(Clone, Debug)]
pub struct StreamWaker(Arc<Wakeup>);

#[derive(Debug)]
struct Wakeup {
    notifier: Notifier,
    /// The stream was woken and does not know yet.
    is_due: AtomicBool,
}

impl StreamWaker {
    pub(crate) fn new(notifier: Notifier) -> Self {
        StreamWaker(Arc::new(Wakeup { notifier, is_due: AtomicBool::new(false) }))
    }

    /// Has the stream's `on_ready` called. What this thread did before is visible there.
    pub fn wake(&self) {
        if !self.0.is_due.swap(true, Ordering::AcqRel) {
            self.0.notifier.post(CallEventKind::Ready);
        }
    }

    /// The stream is about to look for news: what comes from here on wakes it again.
    pub(crate) fn notice(&self) {
        self.0.is_due.swap(false, Ordering::AcqRel);
    }
}
