use std::collections::VecDeque;
use std::sync::Arc;

use bookend_wire::grpc::Status;

use super::channel::{PoolChannel, PoolMessage};
use crate::response_metadata::ResponseFields;
use crate::stream_reply::StreamReply;

/// The shard's end of a channel: it sends the handler's replies. Dropping it cancels the call, so
/// that a handler that blocks returns.
pub(crate) struct ShardEnd {
    pub channel: Arc<PoolChannel>,
    replies: VecDeque<PoolMessage>,
    /// How the call ends once these are sent.
    end: Option<(Result<(), Status>, ResponseFields)>,
}

impl ShardEnd {
    pub fn new(channel: Arc<PoolChannel>) -> Self {
        ShardEnd { channel, replies: VecDeque::new(), end: None }
    }

    /// Memory held for replies that were not sent yet, bytes.
    pub fn held_bytes(&self) -> usize {
        let taken_bytes: usize = self.replies.iter().map(|reply| reply.bytes.capacity()).sum();
        taken_bytes + self.channel.reply_bytes()
    }

    /// Sends the handler's replies, as far as there is room.
    pub fn send(&mut self, reply: &mut StreamReply<'_>) {
        loop {
            while let Some(queued) = self.replies.pop_front() {
                if queued.compressed {
                    reply.deflated(&queued.bytes);
                } else {
                    reply.compress(false);
                    reply.message(|output| output.extend_from_slice(&queued.bytes));
                }
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
