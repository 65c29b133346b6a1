use std::collections::VecDeque;
use std::sync::Arc;

use bookend_wire::grpc::Status;

use super::channel::{Channel, Outgoing, Request};
use crate::response_metadata::ResponseFields;
use crate::stream_reply::StreamReply;

/// A call that a thread of the pool handles, as its shard has it: a state machine that hands over
/// what comes and sends what the handler has left. When it is dropped, the handler is told.
pub(crate) struct PoolSide {
    channel: Arc<Channel>,
    replies: VecDeque<Outgoing>,
    /// How the call ends when these are sent.
    end: Option<(Result<(), Status>, ResponseFields)>,
}

impl PoolSide {
    pub fn new(channel: Arc<Channel>) -> Self {
        PoolSide {
            channel,
            replies: VecDeque::new(),
            end: None,
        }
    }

    /// Whether another request may be handed over.
    pub fn has_room(&self) -> bool {
        self.channel.has_room()
    }

    /// Requests that were handed over and not taken yet, bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.channel.waiting_bytes()
    }

    pub fn hand_over(&self, request: Request) {
        self.channel.push_request(request);
    }

    pub fn end_requests(&self) {
        self.channel.end_requests();
    }

    /// Sends what the handler has left, as far as there is room.
    pub fn send(&mut self, reply: &mut StreamReply<'_>) {
        loop {
            while let Some(outgoing) = self.replies.pop_front() {
                reply.compress(outgoing.compress);
                reply.message(|output| output.extend_from_slice(&outgoing.octets));
                if reply.is_full() {
                    return;
                }
            }
            if let Some((result, fields)) = self.end.take() {
                reply.adopt(fields);
                return reply.end(result);
            }
            let found = self.channel.look(reply.head_was_sent(), &mut self.replies);
            if let Some(fields) = found.head {
                reply.adopt(fields);
                reply.head();
            }
            self.end = found.end;
            if self.replies.is_empty() && self.end.is_none() {
                return;
            }
        }
    }
}

impl Drop for PoolSide {
    fn drop(&mut self) {
        self.channel.give_up();
    }
}
