//! Streams whose calls are over for us, and may not be for the server.

use bookend_wire::{ErrorCode, ResetPace, Sender, StreamKey};
use std::collections::VecDeque;

/// Streams given up that a connection may have open before it is replaced, where it has fewer calls
/// in flight: as in the client library, the pace of resets needs more than six seconds for these.
const OPEN_MAX: usize = 32;

/// The streams of one connection that are to be reset, at a pace that no server takes for an
/// attack. Those beyond it are left alone: a server that keeps to `grpc-timeout` ends them by
/// itself.
#[derive(Debug, Default)]
pub(crate) struct ResetQueue {
    pace: ResetPace,
    streams: VecDeque<StreamKey>,
}

impl ResetQueue {
    /// The call of that stream was given up.
    pub fn add(&mut self, stream: StreamKey) {
        self.streams.push_back(stream);
    }

    /// Streams that were given up and may be open.
    pub fn len(&self) -> usize {
        self.streams.len()
    }

    /// Resets those whose turn has come, and forgets those that the server has ended.
    pub fn reset_due(&mut self, now_ns: u64, sender: &mut Sender) {
        self.streams.retain(|&stream| sender.is_open(stream));
        let due = self.streams.len().min(self.pace.allowed(now_ns) as usize);
        for stream in self.streams.drain(..due) {
            sender.reset(stream, ErrorCode::CANCEL);
            self.pace.spend();
        }
    }

    /// Whether so many are open that a new connection costs the server less: more than there are
    /// calls in flight.
    pub fn are_too_many(&self, in_flight: u32) -> bool {
        self.streams.len() > OPEN_MAX.max(in_flight as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::reset_pace::RESETS_AT_ONCE;
    use bookend_wire::{Connection, ConnectionConfig, Side};

    const SECOND_NS: u64 = 1_000_000_000;

    /// A sender with so many open streams, all given up.
    fn giving_up(count: usize) -> (Sender, ResetQueue, Vec<StreamKey>) {
        let mut sender = Connection::new(Side::Client, &ConnectionConfig::trusted()).sender;
        let mut resets = ResetQueue::default();
        let streams: Vec<_> = (0..count).map(|_| sender.open().unwrap()).collect();
        streams.iter().for_each(|&stream| resets.add(stream));
        (sender, resets, streams)
    }

    #[test]
    fn few_are_reset_at_once_and_the_rest_later() {
        let (mut sender, mut resets, streams) = giving_up(40);
        resets.reset_due(SECOND_NS, &mut sender);
        assert_eq!(resets.len(), 40 - RESETS_AT_ONCE as usize);
        assert!(!sender.is_open(streams[0]) && sender.is_open(streams[39]));
        resets.reset_due(2 * SECOND_NS, &mut sender);
        assert_eq!(resets.len(), 40 - RESETS_AT_ONCE as usize - 5);
    }

    #[test]
    fn what_has_ended_by_itself_is_not_reset() {
        let (mut sender, mut resets, streams) = giving_up(20);
        for &stream in &streams {
            sender.reset(stream, ErrorCode::NO_ERROR);
        }
        sender.output.clear();
        resets.reset_due(SECOND_NS, &mut sender);
        assert_eq!((resets.len(), sender.output.len()), (0, 0));
    }

    #[test]
    fn more_than_are_in_flight_are_too_many() {
        let (_, resets, _) = giving_up(50);
        assert!(resets.are_too_many(1));
        assert!(resets.are_too_many(49));
        assert!(!resets.are_too_many(50));
        let (_, resets, _) = giving_up(OPEN_MAX);
        assert!(!resets.are_too_many(1));
    }
}
