//! What the clones of a channel share, and their way to its thread.

use super::call_limit::CallLimit;
use super::options::ChannelOptions;
use super::pending_call::ChannelCommand;
use super::shared_stream::{Notification, SharedStream};
use bookend_io::{Mailbox, Waker};
use bookend_wire::grpc::{Code, Status};
use std::sync::Arc;

/// A channel without its thread, which ends when this is dropped.
pub(crate) struct ChannelShared {
    pub target: String,
    pub max_message_bytes: usize,
    pub stream_window_bytes: u32,
    mailbox: Mailbox<ChannelCommand>,
    waker: Waker,
    limit: Arc<CallLimit>,
}

impl ChannelShared {
    pub fn new(
        target: &str,
        options: &ChannelOptions,
        waker: Waker,
        mailbox: Mailbox<ChannelCommand>,
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
    /// The status of a call beyond [`ChannelOptions::max_pending_calls`].
    pub fn admit(&self) -> Result<(), Status> {
        if self.limit.try_acquire() {
            return Ok(());
        }
        let text = format!("{} calls wait for an answer already", self.limit.calls_max);
        Err(Status::new(Code::ResourceExhausted, text))
    }

    /// Has the thread of the channel look at a stream, if it does not know.
    pub fn notify(&self, notification: Notification, stream: &Arc<SharedStream>) {
        if notification == Notification::Needed {
            self.post(ChannelCommand::StreamChanged(Arc::clone(stream)));
        }
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
