use std::collections::VecDeque;
use std::sync::Arc;

use bookend_wire::grpc::Status;

use super::channel::{PoolChannel, PoolReply, PoolRequest};
use crate::response_metadata::ResponseFields;
use crate::stream_reply::StreamReply;

/// The shard's end of a channel: hands requests to the handler and sends its replies. Dropping it
/// cancels the call, so that a handler that blocks returns.
pub(crate) struct ShardEnd {
    channel: Arc<PoolChannel>,
    replies: VecDeque<PoolReply>,
    /// How the call ends once these are sent.
    end: Option<(Result<(), Status>, ResponseFields)>,
}

impl ShardEnd {
    pub fn new(channel: Arc<PoolChannel>) -> Self {
        ShardEnd { channel, replies: VecDeque::new(), end: None }
    }

    /// Whether there is room for another request.
    pub fn has_room(&self) -> bool {
        self.channel.has_room()
    }

    /// Requests that the handler has not taken yet, bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.channel.waiting_bytes()
    }

    pub fn push_request(&self, request: PoolRequest) {
        self.channel.push_request(request);
    }

    pub fn end_requests(&self) {
        self.channel.end_requests();
    }

    /// Sends the handler's replies, as far as there is room.
    pub fn send(&mut self, reply: &mut StreamReply<'_>) {
        loop {
            while let Some(queued) = self.replies.pop_front() {
                reply.compress(queued.compress);
                reply.message(|output| output.extend_from_slice(&queued.message));
                if reply.is_full() {
                    return;
                }
            }
            if let Some((result, fields)) = self.end.take() {
                reply.adopt(fields);
                return reply.end(result);
            }
            let found = self.channel.poll(reply.head_was_sent(), &mut self.replies);
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

impl Drop for ShardEnd {
    fn drop(&mut self) {
        self.channel.cancel();
    }
}
