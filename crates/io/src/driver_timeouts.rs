//! What a driver gives up after a while.

use crate::context::IoContext;
use crate::deadlines::TimeoutQueue;
use crate::kernel::TryGrow;
use crate::shard::ConnectionId;
use rustix::io::Errno;

/// The timeouts of a driver of many connections.
#[derive(Debug, Default)]
pub(crate) struct DriverTimeouts {
    connects: TimeoutQueue<u64>,
    lingers: TimeoutQueue<u64>,
    /// Set while accepting is paused for lack of descriptors.
    pub accept_at_ns: Option<u64>,
}

/// What a driver has to do because the time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Give up the connect of the connection of that index.
    Connect(u32),
    /// Close the connection of that index, which has been read on for long enough.
    Linger(u32),
    /// Ask the listener again.
    Accept,
}

/// A connection as its driver keeps it, and what it waits for.
pub(crate) trait TimedEntry {
    /// Its id.
    fn id(&self) -> ConnectionId;
    /// Whether its connect has not ended yet.
    fn awaits_connect(&self) -> bool;
    /// Whether it is closed for the shard, and read on so that the peer gets our last bytes.
    fn lingers(&self) -> bool;
}

/// The entry of the connection of that key, unless that is gone.
#[inline]
pub(crate) fn entry_of<E: TimedEntry>(entries: &mut [Option<E>], key: u64) -> Option<&mut E> {
    let entry = entries.get_mut(key as u32 as usize)?.as_mut()?;
    (entry.id().key() == key).then_some(entry)
}

/// Makes room for the entry at that index. Fails where there is no memory.
pub(crate) fn make_room<E>(entries: &mut Vec<Option<E>>, index: usize) -> Result<(), Errno> {
    if entries.len() <= index {
        entries.try_grow(index + 1 - entries.len())?;
        entries.resize_with(index + 1, || None);
    }
    Ok(())
}

impl DriverTimeouts {
    /// A connect has begun that may take until then. Fails where there is no memory: without a
    /// timeout it could wait for ever.
    pub fn connect_by(&mut self, by_ns: u64, id: ConnectionId) -> Result<(), Errno> {
        self.connects.try_push(by_ns, id.key())
    }

    /// A closed connection is to be read on until then. Fails where there is no memory.
    pub fn linger_until(&mut self, until_ns: u64, id: ConnectionId) -> Result<(), Errno> {
        self.lingers.try_push(until_ns, id.key())
    }

    /// When the first of these is due that still matters.
    #[inline]
    pub fn next_ns<E: TimedEntry>(&mut self, entries: &mut [Option<E>]) -> Option<u64> {
        let is_idle = self.connects.is_empty() && self.lingers.is_empty();
        if is_idle { self.accept_at_ns } else { self.next_of_queues_ns(entries) }
    }

    fn next_of_queues_ns<E: TimedEntry>(&mut self, entries: &mut [Option<E>]) -> Option<u64> {
        self.connects
            .forget_over(|key| !entry_of(entries, key).is_some_and(|entry| entry.awaits_connect()));
        self.lingers
            .forget_over(|key| !entry_of(entries, key).is_some_and(|entry| entry.lingers()));
        [self.connects.next_ns(), self.lingers.next_ns(), self.accept_at_ns]
            .into_iter()
            .flatten()
            .min()
    }

    /// What is due, one thing at a time.
    #[inline]
    pub fn pop_due<E: TimedEntry>(
        &mut self,
        entries: &mut [Option<E>],
        io: &IoContext,
    ) -> Option<Due> {
        let next_ns = self.next_ns(entries)?;
        let now_ns = io.now_ns();
        if next_ns > now_ns {
            return None;
        }
        self.pop(now_ns)
    }

    /// As [`DriverTimeouts::next_ns`] has left it, the front of each queue matters.
    #[cold]
    fn pop(&mut self, now_ns: u64) -> Option<Due> {
        if let Some(key) = self.connects.pop_due(now_ns) {
            return Some(Due::Connect(key as u32));
        }
        if let Some(key) = self.lingers.pop_due(now_ns) {
            return Some(Due::Linger(key as u32));
        }
        let is_due = |at_ns: &mut u64| *at_ns <= now_ns;
        self.accept_at_ns.take_if(is_due).map(|_| Due::Accept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Socket {
        id: ConnectionId,
        connects: bool,
    }

    impl TimedEntry for Socket {
        fn id(&self) -> ConnectionId {
            self.id
        }
        fn awaits_connect(&self) -> bool {
            self.connects
        }
        fn lingers(&self) -> bool {
            !self.connects
        }
    }

    fn id(index: u32) -> ConnectionId {
        ConnectionId { index, generation: 7 }
    }

    fn socket(index: u32, connects: bool) -> Option<Socket> {
        let id = id(index);
        Some(Socket { id, connects })
    }

    /// A turn long after all that is awaited in these tests.
    fn late() -> IoContext {
        let io = IoContext::default();
        assert!(io.now_ns() > 1_000);
        io
    }

    #[test]
    fn a_timeout_that_no_longer_matters_is_forgotten() {
        let mut entries = [None, socket(1, true), socket(2, true)];
        let mut timeouts = DriverTimeouts::default();
        timeouts.connect_by(10, id(1)).unwrap();
        timeouts.connect_by(20, id(2)).unwrap();
        assert_eq!(timeouts.next_ns(&mut entries), Some(10));
        entries[1].as_mut().unwrap().connects = false;
        assert_eq!(timeouts.next_ns(&mut entries), Some(20));
        let next_generation = 8;
        entries[2].as_mut().unwrap().id.generation = next_generation;
        assert_eq!(timeouts.next_ns(&mut entries), None);
        assert_eq!(timeouts.pop_due(&mut entries, &late()), None);
    }

    #[test]
    fn every_due_timeout_is_reported_once_and_others_wait() {
        let mut entries = [socket(0, true), socket(1, true), socket(2, false)];
        let mut timeouts = DriverTimeouts { accept_at_ns: Some(10), ..DriverTimeouts::default() };
        timeouts.linger_until(20, id(2)).unwrap();
        timeouts.connect_by(30, id(0)).unwrap();
        timeouts.connect_by(u64::MAX, id(1)).unwrap();
        let mut due = Vec::new();
        while let Some(next) = timeouts.pop_due(&mut entries, &late()) {
            due.push(next);
        }
        assert_eq!(due, [Due::Connect(0), Due::Linger(2), Due::Accept]);
        assert_eq!(timeouts.accept_at_ns, None);
        assert_eq!(timeouts.next_ns(&mut entries), Some(u64::MAX));
    }

    #[test]
    fn a_listener_that_is_gone_is_not_asked() {
        let mut timeouts = DriverTimeouts { accept_at_ns: Some(10), ..DriverTimeouts::default() };
        assert_eq!(timeouts.next_ns::<Socket>(&mut []), Some(10));
        timeouts.accept_at_ns = None;
        assert_eq!(timeouts.next_ns::<Socket>(&mut []), None);
    }
}
