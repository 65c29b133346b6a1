//! The replies of one connection of Thrift, cut out of the bytes that come.

use crate::plan::ThriftRun;
use bookend_payload::thrift::{ReplyEnd, ReplyFault, ThriftCall, ThriftReply, ThriftTransport};
use bookend_wire::grpc::Status;
use std::sync::Arc;

/// A buffer for parts of replies that has grown larger than this is given back: there may be ten
/// thousand connections.
const PART_BYTES_KEPT: usize = 16 << 10;

/// Only larger parts of replies are added up: a run with ten thousand connections may have as many
/// of less.
const PART_BYTES_COUNTED: usize = 1 << 20;

/// What the calls of a worker share.
#[derive(Clone, Debug)]
pub(crate) struct ThriftCommon {
    pub call: Arc<ThriftCall>,
    /// A reply has no more bytes.
    reply_max_bytes: u32,
    /// Parts of replies on all connections of the worker take no more.
    parts_max_bytes: u64,
}

impl ThriftCommon {
    /// That of each of `threads` workers.
    pub fn new(run: &ThriftRun, threads: u32) -> Self {
        Self {
            call: Arc::clone(&run.call),
            reply_max_bytes: run.reply_max_bytes,
            parts_max_bytes: run.replies_max_bytes / u64::from(threads.max(1)),
        }
    }
}

/// Keeps the part of a reply that has come until the rest does.
#[derive(Debug)]
pub(super) struct ThriftReplies {
    part: Vec<u8>,
    /// Bytes of which the reply consists at least.
    wanted_bytes: usize,
    /// Where it has no length in front.
    end: Option<Box<ReplyEnd>>,
    max_bytes: u32,
}

impl ThriftReplies {
    /// Nothing has come.
    pub fn new(common: &ThriftCommon) -> Self {
        Self::of_at_most(common.reply_max_bytes)
    }

    fn of_at_most(max_bytes: u32) -> Self {
        Self { part: Vec::new(), wanted_bytes: 0, end: None, max_bytes }
    }

    /// Bytes have come. `ended` is called for each whole reply with its sequence id and how its
    /// call has ended.
    ///
    /// # Errors
    /// They are no replies, or `ended` says so: the connection is of no use any more.
    #[inline]
    pub fn receive(
        &mut self,
        call: &ThriftCall,
        bytes: &[u8],
        ended: impl FnMut(u32, Result<(), Box<Status>>) -> Result<(), ReplyFault>,
    ) -> Result<(), ReplyFault> {
        if self.part.is_empty() {
            let used = self.check(call, bytes, ended)?;
            self.part.extend_from_slice(&bytes[used..]);
            return Ok(());
        }
        self.part.extend_from_slice(bytes);
        if self.part.len() < self.wanted_bytes || self.misses_its_end(call) {
            return Ok(());
        }
        let mut part = std::mem::take(&mut self.part);
        let used = self.check(call, &part, ended)?;
        part.drain(..used);
        if !part.is_empty() || part.capacity() <= PART_BYTES_KEPT {
            self.part = part;
        }
        Ok(())
    }

    /// Whether the reply of which a part has come does not end in what has come since. One that is
    /// too long has to be looked at.
    fn misses_its_end(&mut self, call: &ThriftCall) -> bool {
        let Some(end) = &mut self.end else {
            return false;
        };
        match end.missing(&self.part, call.protocol()) {
            Some(wanted_bytes) if wanted_bytes <= self.max_bytes as usize => {
                self.wanted_bytes = wanted_bytes;
                true
            }
            _ => false,
        }
    }

    /// Returns the bytes of whole replies.
    #[inline]
    fn check(
        &mut self,
        call: &ThriftCall,
        bytes: &[u8],
        mut ended: impl FnMut(u32, Result<(), Box<Status>>) -> Result<(), ReplyFault>,
    ) -> Result<usize, ReplyFault> {
        let mut used = 0;
        while used < bytes.len() {
            match ThriftReply::read(call, &bytes[used..], self.max_bytes)? {
                ThriftReply::Part(wanted_bytes) => {
                    self.wanted_bytes = wanted_bytes;
                    let has_length = call.transport() == ThriftTransport::Framed;
                    self.end = (!has_length).then(Box::default);
                    break;
                }
                ThriftReply::Whole { bytes, sequence_id, outcome } => {
                    used += bytes;
                    ended(sequence_id, outcome)?;
                }
            }
        }
        Ok(used)
    }

    /// Nothing of it is left for another connection.
    pub fn clear(&mut self) {
        *self = Self::of_at_most(self.max_bytes);
    }

    /// Whether enough has come of a reply that the parts of all connections have to be added up.
    pub fn has_much(&self) -> bool {
        self.part_bytes() > PART_BYTES_COUNTED as u64
    }

    /// Memory that the part of a reply takes.
    fn part_bytes(&self) -> u64 {
        self.part.capacity() as u64
    }

    /// Whether what has come of replies on all connections of a worker may be kept. This one's may
    /// always be: a reply has a limit of its own.
    ///
    /// # Errors
    /// It is too much: this connection has to go.
    #[cold]
    pub fn check_parts<'a>(
        &self,
        all: impl Iterator<Item = &'a ThriftReplies>,
        common: &ThriftCommon,
    ) -> Result<(), ReplyFault> {
        let max_bytes = common.parts_max_bytes;
        let all_bytes: u64 = all.map(ThriftReplies::part_bytes).sum();
        if all_bytes > max_bytes.max(self.part_bytes()) {
            return Err(ReplyFault::too_much_at_once(max_bytes));
        }
        Ok(())
    }
}
