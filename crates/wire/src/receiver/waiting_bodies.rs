//! Bodies of requests that wait for the empty DATA frame that ends their stream.
//!
//! tonic with several calls in flight writes the bodies of all of them, then the ends of all of
//! them. As long as both lie in one read, a body need not be copied: it stays in the input, and is
//! told together with its end. Any other frame has the bodies told first that came before it.

use super::{Receiver, behind_empty_end};
use crate::error::ConnectionError;
use crate::frame::{FrameHeader, flag, kind};
use crate::sender::Sender;
use crate::side::Side;
use crate::streams::StreamKey;
use crate::visitor::Visitor;
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
    fn takes(&self, stream_id: u32) -> bool {
        self.is_empty() || self.bodies.last().is_some_and(|last| last.stream_id < stream_id)
    }

    #[inline]
    fn push(&mut self, stream_id: u32, at: Range<usize>) {
        if self.is_empty() {
            self.forget();
        }
        self.bodies.push(WaitingBody { stream_id, at });
    }

    /// Takes the body that has waited longest, if it is one of that stream.
    #[inline]
    fn take_of(&mut self, stream_id: u32) -> Option<Range<usize>> {
        let is_next = self.bodies.get(self.first)?.stream_id == stream_id;
        if is_next { Some(self.take()?.1) } else { None }
    }

    /// Takes the body that has waited longest, and the id of its stream.
    #[inline]
    fn take(&mut self) -> Option<(u32, Range<usize>)> {
        let body = self.bodies.get(self.first)?;
        self.first += 1;
        Some((body.stream_id, body.at.clone()))
    }

    /// Nothing waits any more: forgets what came.
    fn forget(&mut self) {
        debug_assert!(self.is_empty());
        self.first = 0;
        self.bodies.clear();
        if self.bodies.capacity() > KEPT_BODIES {
            self.bodies = Vec::new();
        }
    }
}

impl Receiver {
    /// Takes a DATA frame, perhaps together with the one before or behind it. Returns the bytes
    /// behind.
    #[inline]
    pub(super) fn data_before<'a, V: Visitor>(
        &mut self,
        sender: &mut Sender,
        mut header: FrameHeader,
        payload: &'a [u8],
        mut behind: &'a [u8],
        input: &'a [u8],
        visitor: &mut V,
    ) -> Result<&'a [u8], ConnectionError> {
        if !self.bodies.is_empty() {
            if let Some(body) = self.body_before(header, input) {
                sender.credit.forget(body.len());
                self.end(sender, header.stream_id, body, visitor)?;
                return Ok(behind);
            }
            if !self.bodies.takes(header.stream_id) {
                self.tell_bodies(sender, input, visitor)?;
            }
        }
        if header.flags == 0 && V::TAKES_WHOLE_REQUESTS && self.side == Side::Server {
            let stream = self.stream_of_request(sender, header.stream_id);
            if stream.is_some_and(|stream| visitor.end_may_join(stream)) {
                if let Some(rest) = behind_empty_end(header, behind) {
                    header.flags = flag::END_STREAM;
                    behind = rest;
                } else if self.body_may_wait(sender, header, behind) {
                    // Until it is told: what others send meanwhile must fit in as well.
                    sender.credit.receive(header.length);
                    self.keep_body(header, input, behind);
                    return Ok(behind);
                }
            }
        }
        if !self.bodies.is_empty() {
            self.tell_bodies(sender, input, visitor)?;
        }
        self.frame(sender, header, payload, visitor)?;
        Ok(behind)
    }
    /// The body that has waited longest, if this frame is the end that it waits for.
    #[inline]
    fn body_before<'a>(&mut self, header: FrameHeader, input: &'a [u8]) -> Option<&'a [u8]> {
        let is_end = header.flags == flag::END_STREAM && header.length == 0;
        if !is_end {
            return None;
        }
        Some(&input[self.bodies.take_of(header.stream_id)?])
    }

    /// Tells a body that has waited, and the end of its stream.
    #[inline]
    fn end<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        stream_id: u32,
        body: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        let head = self.unlisted.get(stream_id).copied();
        let answered =
            head.and_then(|head| self.answer_unlisted(sender, stream_id, head, body, visitor));
        if answered.is_some() {
            return Ok(());
        }
        let flags = flag::END_STREAM;
        let header = FrameHeader { length: body.len(), kind: kind::DATA, flags, stream_id };
        self.frame(sender, header, body, visitor)
    }

    /// The stream, if it is alive, whether it is in the table or waits outside.
    #[inline]
    fn stream_of_request(&mut self, sender: &Sender, id: u32) -> Option<StreamKey> {
        if !self.unlisted.is_empty() && self.unlisted.get(id).is_some() {
            return Some(StreamKey::unlisted(id));
        }
        sender.streams.find(id)
    }

    /// Whether a part of a body may wait for the end of its stream, `behind` which other frames
    /// stand. At the end of a read nothing would come for it.
    #[inline]
    fn body_may_wait(&self, sender: &Sender, header: FrameHeader, behind: &[u8]) -> bool {
        header.length > 0
            && !behind.is_empty()
            && self.open_block.is_none()
            && self.settings_came
            && sender.admits_body(header.length)
    }

    /// Has a part of a body wait, which is the last part of the input before `behind`.
    #[inline]
    fn keep_body(&mut self, header: FrameHeader, input: &[u8], behind: &[u8]) {
        if let Some(head) = self.unlisted.get(header.stream_id) {
            head.has_part = true;
        }
        let end = input.len() - behind.len();
        self.bodies.push(header.stream_id, end - header.length..end);
    }

    /// Tells the bodies that wait, each as the frame that it came in.
    #[inline(never)]
    pub(super) fn tell_bodies<V: Visitor>(
        &mut self,
        sender: &mut Sender,
        input: &[u8],
        visitor: &mut V,
    ) -> Result<(), ConnectionError> {
        while let Some((stream_id, at)) = self.bodies.take() {
            sender.credit.forget(at.len());
            let header = FrameHeader { length: at.len(), kind: kind::DATA, flags: 0, stream_id };
            self.frame(sender, header, &input[at], visitor)?;
        }
        self.bodies.forget();
        Ok(())
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
