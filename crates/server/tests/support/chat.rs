//! A stream that gives every message back as it comes.

use bookend_server::{InlineStream, StreamReply};

pub struct Chat;

impl InlineStream for Chat {
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        replies.message(|output| output.extend_from_slice(message));
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.end(Ok(()));
    }
}
