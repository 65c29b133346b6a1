//! Bodies of requests that wait for the empty DATA frame that ends their stream.
//!
//! tonic with several calls in flight writes the bodies of all of them, then the ends of all of
//! them. As long as both lie in one read, a body need not be copied: it stays in the input, and is
//! reported together with its end. Before any other frame, the bodies that came earlier are
//! reported.

use alloc::vec::Vec;
use core::ops::Range;

/// A queue that has grown beyond this is given back to the allocator after the read.
const KEPT_BODIES: usize = 256;

/// The bodies that wait in one read, in the order of their streams' ids.
#[derive(Debug, Default)]
pub(super) struct WaitingBodies {
    bodies: Vec<WaitingBody>,
    /// Those before it wait no more.
    first: usize,
}

/// Where in the input a body lies.
#[derive(Debug)]
struct WaitingBody {
    stream_id: u32,
    at: Range<usize>,
}

impl WaitingBodies {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == self.bodies.len()
    }

    /// Whether a body of that stream may come behind those that wait: not a second one of a stream.
    #[inline]
    pub fn takes(&self, stream_id: u32) -> bool {
        self.is_empty() || self.bodies.last().is_some_and(|last| last.stream_id < stream_id)
    }

    #[inline]
    pub fn push(&mut self, stream_id: u32, at: Range<usize>) {
        if self.is_empty() {
            self.forget();
        }
        self.bodies.push(WaitingBody { stream_id, at });
    }

    /// Takes the body that has waited longest, if it is one of that stream.
    #[inline]
    pub fn take_of(&mut self, stream_id: u32) -> Option<Range<usize>> {
        let is_next = self.bodies.get(self.first)?.stream_id == stream_id;
        if is_next { Some(self.take()?.1) } else { None }
    }

    /// Takes the body that has waited longest, and the id of its stream.
    #[inline]
    pub fn take(&mut self) -> Option<(u32, Range<usize>)> {
        let body = self.bodies.get(self.first)?;
        self.first += 1;
        Some((body.stream_id, body.at.clone()))
    }

    /// Memory held, bytes.
    pub fn held_bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<WaitingBody>()
    }

    /// Nothing waits any more: forgets what came.
    pub fn forget(&mut self) {
        debug_assert!(self.is_empty());
        self.first = 0;
        self.bodies.clear();
        if self.bodies.capacity() > KEPT_BODIES {
            self.bodies = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_taken_in_their_order_and_no_stream_has_two() {
        let mut bodies = WaitingBodies::default();
        assert!(bodies.takes(7));
        bodies.push(7, 9..14);
        bodies.push(11, 23..24);
        assert!(!bodies.takes(7) && !bodies.takes(11) && bodies.takes(13));
        assert_eq!(bodies.take_of(11), None, "7 is before it");
        assert_eq!(bodies.take_of(7), Some(9..14));
        assert_eq!(bodies.take_of(7), None);
        assert_eq!(bodies.take(), Some((11, 23..24)));
        assert!(bodies.is_empty() && bodies.takes(3));
        bodies.push(3, 0..1);
        assert_eq!(bodies.take(), Some((3, 0..1)), "it begins anew");
    }

    #[test]
    fn an_idle_connection_keeps_little() {
        let mut bodies = WaitingBodies::default();
        (1..10_000).for_each(|id| bodies.push(id, 0..1));
        assert!(bodies.bodies.capacity() > KEPT_BODIES);
        while bodies.take().is_some() {}
        bodies.forget();
        assert!(bodies.bodies.capacity() <= KEPT_BODIES);
    }
}
