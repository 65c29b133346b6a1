//! A caller of a streaming call, and its way to the thread of the channel.

use super::calls::Mail;
use super::stream_state::{Notice, StreamState};
use super::{Channel, answer_nobody};
use bookend_wire::grpc::{Code, Status};
use std::fmt;
use std::sync::Arc;

/// What both halves of a call have. It keeps the channel alive.
#[derive(Clone)]
pub(crate) struct Caller {
    pub channel: Channel,
    pub stream: Arc<StreamState>,
}

impl Caller {
    /// Has the thread of the channel look at the stream, if it does not know.
    pub fn tell(&self, notice: Notice) {
        if notice == Notice::Needless {
            return;
        }
        let owner = &self.channel.0;
        owner.mailbox.push(Mail::Attend(Arc::clone(&self.stream)));
        if owner.gate.is_closed() {
            answer_nobody(&owner.mailbox);
        }
    }

    /// Ends the call for another reason than the server's, which is told to stop.
    pub fn give_up(&self, status: Status) {
        self.tell(self.stream.give_up(status));
    }

    pub fn cancel(&self) {
        self.give_up(Status::new(
            Code::Cancelled,
            "the caller cancelled the call",
        ));
    }
}

/// Cancels one streaming call, from any thread. Dropping it does nothing. It keeps the channel
/// alive, as the halves of the call do.
#[derive(Clone)]
pub struct Canceller(Caller);

impl Canceller {
    pub(crate) fn new(caller: Caller) -> Self {
        Self(caller)
    }

    /// Ends the call with `CANCELLED`, unless it is over; the server is told to stop. Both halves
    /// stop waiting at once, and what has come and was not read is dropped.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
