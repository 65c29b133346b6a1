//! What the clones of a channel share, and their way to its thread.

use super::calls::{Mail, Pending};
use super::options::ChannelOptions;
use super::stream_state::{Notice, StreamState};
use bookend_io::{Mailbox, Waker};
use bookend_wire::grpc::{Code, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A channel without its thread, which ends when this is dropped.
pub(crate) struct ChannelShared {
    pub target: String,
    pub max_message_bytes: usize,
    pub stream_window_bytes: u32,
    mailbox: Mailbox<Mail>,
    waker: Waker,
    limit: Arc<CallLimit>,
}

impl ChannelShared {
    pub fn new(
        target: &str,
        options: &ChannelOptions,
        waker: Waker,
        mailbox: Mailbox<Mail>,
        limit: Arc<CallLimit>,
    ) -> Self {
        Self {
            target: target.to_owned(),
            max_message_bytes: options.max_message_bytes,
            stream_window_bytes: options.http2.settings.initial_window_bytes,
            mailbox,
            waker,
            limit,
        }
    }

    /// Counts one more call without a response.
    ///
    /// # Errors
    /// The status of a call beyond [`ChannelOptions::max_unanswered_calls`].
    pub fn admit(&self) -> Result<(), Status> {
        if self.limit.try_acquire() {
            return Ok(());
        }
        let text = format!("{} calls wait for an answer already", self.limit.calls_max);
        Err(Status::new(Code::ResourceExhausted, text))
    }

    /// Sends a call that was admitted.
    pub fn call(&self, pending: Pending) {
        self.post(Mail::Call(pending));
    }

    /// Has the thread of the channel look at a stream, if it does not know.
    pub fn notify(&self, notice: Notice, stream: &Arc<StreamState>) {
        if notice == Notice::Due {
            self.post(Mail::Attend(Arc::clone(stream)));
        }
    }

    /// Commands that come too late are dropped, and that ends their calls.
    pub fn post(&self, mail: Mail) {
        self.mailbox.push(mail);
        if self.limit.is_closed() {
            discard(&self.mailbox);
        }
    }
}

impl Drop for ChannelShared {
    fn drop(&mut self) {
        self.waker.stop();
    }
}

/// Held by the thread of a channel: however it ends, no caller waits for it for ever.
pub(crate) struct ThreadGuard {
    pub mailbox: Mailbox<Mail>,
    pub limit: Arc<CallLimit>,
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        self.limit.close();
        discard(&self.mailbox);
    }
}

fn discard(mailbox: &Mailbox<Mail>) {
    mailbox.drain_into(&mut Vec::new());
}

/// A semaphore that nobody waits for: one permit for each call without a response.
#[derive(Debug)]
pub(crate) struct CallLimit {
    calls: AtomicUsize,
    calls_max: usize,
    closed: AtomicBool,
}

impl CallLimit {
    pub fn new(calls_max: usize) -> Self {
        Self {
            calls: AtomicUsize::new(0),
            calls_max,
            closed: AtomicBool::new(false),
        }
    }

    /// Takes a permit, if there is one.
    pub fn try_acquire(&self) -> bool {
        let had_room = self.calls.fetch_add(1, Ordering::Relaxed) < self.calls_max;
        if !had_room {
            self.release();
        }
        had_room
    }

    /// The call of a permit has ended.
    pub fn release(&self) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// No thread handles calls any more.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_has_ended_makes_room_for_another() {
        let limit = CallLimit::new(2);
        assert!(limit.try_acquire() && limit.try_acquire());
        assert!(!limit.try_acquire() && !limit.try_acquire());
        limit.release();
        assert!(limit.try_acquire() && !limit.try_acquire());
    }
}
