//! What the clones of a channel share, and their way to its thread.

use super::call_limit::CallLimit;
use super::pending_call::ChannelCommand;
use bookend_io::{Mailbox, Waker};
use bookend_wire::grpc::{Code, Status};
use std::sync::Arc;

/// A channel without its thread, which ends when this is dropped.
pub(crate) struct ChannelShared {
    pub target: String,
    pub max_message_bytes: usize,
    pub stream_window_bytes: u32,
    pub mailbox: Mailbox<ChannelCommand>,
    pub waker: Waker,
    pub limit: Arc<CallLimit>,
}

impl ChannelShared {
    /// Counts one more call without a response.
    ///
    /// # Errors
    /// The status of a call beyond [`crate::ChannelOptions::max_pending_calls`].
    pub fn admit(&self) -> Result<(), Status> {
        if self.limit.try_acquire() {
            return Ok(());
        }
        let text = format!("{} calls wait for an answer already", self.limit.calls_max);
        Err(Status::new(Code::ResourceExhausted, text))
    }

    /// Commands that come too late are dropped, and that ends their calls.
    pub fn post(&self, command: ChannelCommand) {
        self.mailbox.push(command);
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
    pub mailbox: Mailbox<ChannelCommand>,
    pub limit: Arc<CallLimit>,
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        self.limit.close();
        discard(&self.mailbox);
    }
}

fn discard(mailbox: &Mailbox<ChannelCommand>) {
    mailbox.drain_into(&mut Vec::new());
}
