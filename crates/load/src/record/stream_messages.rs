//! What is recorded of the messages of streaming calls.

use super::latencies::Latencies;
use serde::{Deserialize, Serialize};

/// The messages of streaming calls, of one phase.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StreamMessages {
    /// Request messages that were written.
    pub sent: u64,
    /// Response messages that came whole.
    pub received: u64,
    /// From the start of a call until its first response message.
    pub first_message: Latencies,
    /// From one response message of a call until the next. Messages that come in one read have no
    /// time between them.
    pub gaps: Latencies,
    /// From each request message of a bidirectional call until the response message of the same
    /// number.
    pub answers: Latencies,
    /// How long flow control kept a message from being written, where it did.
    pub stalls: Latencies,
}

impl StreamMessages {
    /// `messages` messages of a call have come at `now_ns`, the one before them at `last_ns`, and
    /// the call was made at `start_ns`; `last_ns` is 0 where they are the first.
    #[inline]
    pub(crate) fn record_received(
        &mut self,
        messages: u64,
        start_ns: u64,
        last_ns: u64,
        now_ns: u64,
    ) {
        self.received += messages;
        if last_ns == 0 {
            self.first_message.record(now_ns.saturating_sub(start_ns));
        } else {
            self.gaps.record(now_ns.saturating_sub(last_ns));
        }
        if messages > 1 {
            self.gaps.record_n(0, messages - 1);
        }
    }

    /// What was recorded after `before`, which is a part of it.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            received: self.received - before.received,
            first_message: self.first_message.since(&before.first_message),
            gaps: self.gaps.since(&before.gaps),
            answers: self.answers.since(&before.answers),
            stalls: self.stalls.since(&before.stalls),
        }
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.first_message.merge(&other.first_message);
        self.gaps.merge(&other.gaps);
        self.answers.merge(&other.answers);
        self.stalls.merge(&other.stalls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_message_counts_from_the_start_and_others_from_the_one_before() {
        let mut messages = StreamMessages::default();
        messages.record_received(1, 100, 0, 130);
        messages.record_received(3, 100, 130, 150);
        let mut sum = StreamMessages::default();
        sum.merge(&messages);
        assert_eq!(sum.received, 4);
        assert_eq!((sum.first_message.histogram.len(), sum.first_message.max_ns), (1, 30));
        assert_eq!((sum.gaps.histogram.len(), sum.gaps.max_ns, sum.gaps.min_ns), (3, 20, 0));
    }
}
