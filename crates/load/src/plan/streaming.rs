//! What makes the calls of a run streams of messages, and when such a call ends.

use crate::flags::streaming::StreamingFlags;
use bookend_contract::duration::{nanoseconds, unless_zero};
use prost_reflect::MethodDescriptor;

/// What makes the calls of a run streams of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streaming {
    /// Whether requests are streams.
    pub client: bool,
    /// Whether responses are streams.
    pub server: bool,
    /// From when one request message is due until the next is, nanoseconds; 0 is as fast as flow
    /// control lets them go.
    pub interval_ns: u64,
    /// After how long the client ends its request or, where that is one message, the call,
    /// nanoseconds.
    pub duration_ns: Option<u64>,
    /// After how many messages the client ends its request or, where that is one message, the call.
    pub messages: Option<u64>,
    /// Whether templates are rendered for each message instead of each call.
    pub is_dynamic: bool,
}

impl Streaming {
    /// What the flags mean for calls of a method; `None` where that is unary.
    pub(super) fn of(method: &MethodDescriptor, flags: &StreamingFlags) -> Option<Self> {
        let (client, server) = (method.is_client_streaming(), method.is_server_streaming());
        (client || server).then(|| Self {
            client,
            server,
            interval_ns: nanoseconds(flags.stream_interval),
            duration_ns: unless_zero(flags.stream_call_duration).map(nanoseconds),
            messages: (flags.stream_call_count > 0).then_some(flags.stream_call_count),
            is_dynamic: flags.stream_dynamic_messages,
        })
    }

    /// Whether a request that has sent `sent` messages, with `given` messages in its data, sends
    /// its last one next. Given messages are sent once, or again and again where a number or a time
    /// ends the request.
    pub(crate) fn is_last(&self, sent: u64, given: usize) -> bool {
        match self.messages {
            Some(messages) => sent + 1 >= messages,
            None => self.duration_ns.is_none() && sent + 1 >= given as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_after_its_messages_unless_a_number_or_a_time_says_otherwise() {
        let given = Streaming { client: true, ..Streaming::default() };
        assert!(!given.is_last(1, 3) && given.is_last(2, 3));
        let counted = Streaming { messages: Some(5), ..given };
        assert!(!counted.is_last(3, 3) && counted.is_last(4, 3));
        let timed = Streaming { duration_ns: Some(1), ..given };
        assert!(!timed.is_last(1_000, 3));
        let both = Streaming { messages: Some(5), ..timed };
        assert!(both.is_last(4, 3));
    }
}
