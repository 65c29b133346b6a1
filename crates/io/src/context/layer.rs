//! What a layer between a driver and a shard needs: it changes what the shard has put out before
//! the driver sees it. Between the shard's calls nothing in any output is the shard's own any more.

use super::{IoContext, PendingOps};
use crate::shard::ConnectionId;
use std::mem;

const BEHIND_THE_LAYER: &str = "something was put out that the layer has not seen";

impl IoContext {
    /// Where a call of the shard begins; what it touches from here on comes from
    /// [`IoContext::next_put_out`].
    pub(crate) fn layer_mark(&self) -> usize {
        let is_touched = |index: &u32| self.slots[*index as usize].touched;
        debug_assert!(!self.touched.iter().any(is_touched), "{BEHIND_THE_LAYER}");
        self.touched.len()
    }

    /// The next connection that the shard has touched since `mark`. If it is touched again, it is
    /// reported again: the driver then finds it twice, the second time with nothing to do.
    pub(crate) fn next_put_out(&mut self, mark: &mut usize) -> Option<ConnectionId> {
        while let Some(&index) = self.touched.get(*mark) {
            *mark += 1;
            let slot = &mut self.slots[index as usize];
            if mem::take(&mut slot.touched) && slot.taken {
                return Some(ConnectionId { index, generation: slot.generation });
            }
        }
        None
    }

    /// Takes what the shard has put out in this call, as reported by [`IoContext::next_put_out`],
    /// into `taken`, which is empty, and gives the output that it came from.
    pub(crate) fn take_put_out(&mut self, id: ConnectionId, taken: &mut Vec<u8>) -> &mut Vec<u8> {
        let slot = &mut self.slots[id.index as usize];
        if slot.untouched_bytes == 0 {
            mem::swap(&mut slot.output, taken);
        } else {
            taken.extend_from_slice(&slot.output[slot.untouched_bytes..]);
            slot.output.truncate(slot.untouched_bytes);
        }
        &mut slot.output
    }

    /// The output, for what is not the shard's. Not while the shard's own stands in it.
    pub(crate) fn output_below(&mut self, id: ConnectionId) -> &mut Vec<u8> {
        if self.find(id).is_none() {
            self.discarded.clear();
            return &mut self.discarded;
        }
        self.touched.push(id.index);
        let slot = &mut self.slots[id.index as usize];
        if slot.output.capacity() == 0
            && let Some(buffer) = self.pool.pop()
        {
            slot.output = buffer;
        }
        &mut slot.output
    }

    /// Takes the whole output away, so that the shard finds an empty one.
    pub(crate) fn set_aside(&mut self, id: ConnectionId) -> Vec<u8> {
        if self.find(id).is_none() {
            return Vec::new();
        }
        let slot = &mut self.slots[id.index as usize];
        let mut output = mem::take(&mut slot.output);
        let written = mem::take(&mut slot.written).min(output.len());
        output.drain(..written);
        output
    }

    /// Puts back what was set aside, in front of what has come since.
    pub(crate) fn put_before(&mut self, id: ConnectionId, mut aside: Vec<u8>) {
        if !aside.is_empty() && self.find(id).is_some() {
            let output = self.output_below(id);
            aside.append(output);
            let since = mem::replace(output, aside);
            self.recycle(since);
        }
    }

    /// The pending operations of a connection that the shard has touched in this call.
    pub(crate) fn pending_of(&mut self, id: ConnectionId) -> Option<&mut PendingOps> {
        self.find(id)?;
        Some(&mut self.slots[id.index as usize].pending)
    }

    /// Asks something of a connection that the shard inside did not ask for.
    pub(crate) fn request_below(
        &mut self,
        id: ConnectionId,
        request: impl FnOnce(&mut PendingOps),
    ) {
        if self.find(id).is_some() {
            self.touched.push(id.index);
            request(&mut self.slots[id.index as usize].pending);
        }
    }

    /// The transport of a connection is there, and something above it is not yet.
    pub(crate) fn transport_opened(&mut self, id: ConnectionId) {
        let now_ns = self.now_ns();
        if self.find(id).is_some() {
            self.slots[id.index as usize].transport_opened_ns = now_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a shard has put out since `mark`, by connection, as a layer takes it.
    fn put_out(io: &mut IoContext, mut mark: usize) -> Vec<(u32, Vec<u8>)> {
        let mut all = Vec::new();
        while let Some(id) = io.next_put_out(&mut mark) {
            let mut taken = Vec::new();
            io.take_put_out(id, &mut taken).extend(b"<>");
            all.push((id.index, taken));
        }
        all
    }

    #[test]
    fn only_new_output_is_taken_and_every_connection_is_reported_again() {
        let mut io = IoContext::default();
        let (one, other) = (io.reserve(), io.reserve());
        io.output_below(one).extend(b"below");
        let mark = io.layer_mark();
        io.output(one).extend(b"first");
        assert_eq!(put_out(&mut io, mark), [(0, b"first".to_vec())]);
        let mark = io.layer_mark();
        io.output(other).extend(b"other");
        io.output(one).extend(b"sec");
        io.output(one).extend(b"ond");
        let both = [(1, b"other".to_vec()), (0, b"second".to_vec())];
        assert_eq!(put_out(&mut io, mark), both);
        assert_eq!(io.unwritten(one), b"below<><>");
        assert_eq!(io.unwritten(other), b"<>");
    }

    #[test]
    fn what_is_set_aside_goes_first_whatever_becomes_of_the_buffer() {
        let mut io = IoContext::default();
        let id = io.reserve();
        io.output_below(id).extend(b"written, below");
        assert!(!io.took(id, 9));
        let aside = io.set_aside(id);
        *io.output(id) = b"a buffer of the shard's own".to_vec();
        io.put_before(id, aside);
        assert_eq!(io.unwritten(id), b"belowa buffer of the shard's own");
    }

    #[test]
    fn the_driver_finds_every_connection_that_something_was_done_to() {
        let mut io = IoContext::default();
        let connections: Vec<_> = (0..3).map(|_| io.reserve()).collect();
        let mark = io.layer_mark();
        io.output(connections[0]).push(1);
        put_out(&mut io, mark);
        io.output_below(connections[1]).push(1);
        io.request_below(connections[2], |pending| pending.abort = true);
        let mut found: Vec<_> = std::iter::from_fn(|| io.next_touched())
            .map(|(id, pending)| (id.index, pending.abort))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [(0, false), (1, false), (2, true)]);
    }

    #[test]
    fn requests_for_a_connection_that_is_gone_are_ignored() {
        let mut io = IoContext::default();
        let gone = io.reserve();
        io.retire(gone);
        io.output_below(gone).push(1);
        io.request_below(gone, |pending| pending.close = true);
        io.transport_opened(gone);
        assert!(io.pending_of(gone).is_none());
        assert!(io.next_touched().is_none());
    }
}
