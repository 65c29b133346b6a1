//! A streaming call as its callers hold it.

use super::pending_call::ChannelCommand;
use super::shared::ChannelShared;
use super::shared_stream::{Notification, SharedStream};
use bookend_wire::grpc::{Code, Status};
use std::fmt;
use std::sync::Arc;

/// What both halves of a call hold. It keeps the channel alive.
#[derive(Clone)]
pub(crate) struct CallHandle {
    pub channel: Arc<ChannelShared>,
    pub stream: Arc<SharedStream>,
}

impl CallHandle {
    /// Has the thread of the channel look at the stream, if it does not know.
    pub fn notify(&self, notification: Notification) {
        if notification == Notification::Needed {
            self.channel.post(ChannelCommand::StreamChanged(Arc::clone(&self.stream)));
        }
    }

    /// Ends the call with a status of our own; the server learns that it may stop.
    pub fn give_up(&self, status: Status) {
        self.notify(self.stream.give_up(status));
    }

    pub fn cancel(&self) {
        self.give_up(Status::new(Code::Cancelled, "the caller cancelled the call"));
    }
}

/// Cancels one streaming call, from any thread. Dropping it does nothing. It keeps the channel
/// alive, as the halves of the call do.
#[derive(Clone)]
pub struct Canceller(pub(crate) CallHandle);

impl Canceller {
    /// Ends the call with `CANCELLED`, unless it is over; the server learns that it may stop. Both
    /// halves stop waiting at once, and what has come and was not read is dropped.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
