//! Bodies that do not come as one message in one piece.

use bookend_wire::grpc::Status;
use bookend_wire::{ErrorCode, Sender, StreamKey};

use super::{Calls, Handling};
use crate::call::Phase;
use crate::heads::HeadIndex;
use crate::stream_call::StreamCall;
use crate::unary::{self, Gathered};

impl Handling<'_> {
    pub(super) fn data_slowly(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        data: &[u8],
        end_stream: bool,
    ) {
        if let Phase::Streaming(_) = self.calls.call(stream).phase {
            self.stream_step(sender, stream, |call, outlet, limit_bytes| {
                call.received(outlet, data, limit_bytes);
            });
        } else {
            sender.release(stream, data.len());
            match self.calls.call(stream).phase {
                Phase::Over { .. } => self.discard(sender, stream, data.len(), end_stream),
                Phase::Streaming(_) | Phase::Deferred(_) => {}
                Phase::Awaiting | Phase::Gathering(_) => self.gather(sender, stream, data),
            }
        }
        if end_stream {
            self.ended(sender, stream);
        }
    }

    /// Adds to a request that did not come in one piece.
    fn gather(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8]) {
        self.calls.unfinished_bytes += data.len();
        let room = self.limits.max_unfinished_bytes;
        let enough_room =
            self.calls.unfinished_bytes <= room || self.calls.recount_unfinished() <= room;
        if let Phase::Awaiting = self.calls.call(stream).phase {
            self.calls.call(stream).phase = Phase::Gathering(Box::default());
            self.watch(stream);
        }
        let Some(index) = self.calls.call(stream).head else {
            return;
        };
        let encoding = self.calls.heads.head(index).encoding;
        let Phase::Gathering(gathered) = &mut self.calls.call(stream).phase else {
            return;
        };
        let result = match gathered.push(data, encoding, self.limits.max_message_bytes) {
            Ok(()) if !enough_room => Err(unary::no_room(room)),
            result => result,
        };
        if let Err(status) = result {
            self.calls.fail(sender, stream, &status);
        }
    }

    /// The client sends no more on this stream.
    pub(super) fn ended(&mut self, sender: &mut Sender, stream: StreamKey) {
        let call = self.calls.call(stream);
        match call.phase {
            Phase::Over { .. } | Phase::Deferred(_) => {}
            Phase::Awaiting => self.calls.fail(sender, stream, &unary::no_message()),
            Phase::Streaming(_) => self.stream_step(sender, stream, StreamCall::ended),
            Phase::Gathering(_) => {
                let (head, deadline_ns) = (call.head.take(), call.deadline_ns);
                let Some(head) = head else { return };
                let Phase::Gathering(gathered) = self.calls.leave(stream) else {
                    return;
                };
                self.handle_gathered(sender, stream, head, deadline_ns, &gathered);
            }
        }
    }

    fn handle_gathered(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        head: HeadIndex,
        deadline_ns: Option<u64>,
        gathered: &Gathered,
    ) {
        let encoding = self.calls.heads.head(head).encoding;
        let limit_bytes = self.limits.max_message_bytes;
        let inflated_bytes = &mut self.calls.answers.tally.inflated_bytes;
        let result = gathered
            .message()
            .and_then(|message| match message.compressed {
                true => encoding
                    .inflate(message.octets, limit_bytes, inflated_bytes)
                    .map(Whole::Inflated),
                false => Ok(Whole::AsItCame(message.octets)),
            });
        match result {
            Ok(Whole::AsItCame(octets)) => {
                self.handle(sender, stream, head, deadline_ns, octets, false);
            }
            Ok(Whole::Inflated(octets)) => {
                self.handle(sender, stream, head, deadline_ns, &octets, true);
            }
            Err(status) => {
                self.calls.heads.give_back(head);
                self.calls.answers.fail(sender, stream, &status);
            }
        }
    }

    /// Throws away what comes after the answer, up to a bound: then the client is told to stop, as
    /// RFC 9113 section 8.1 provides once the answer is out. What of it waits for the client's
    /// windows would be lost.
    fn discard(&mut self, sender: &mut Sender, stream: StreamKey, bytes: usize, end_stream: bool) {
        /// A request whose rest is on its way already when the answer goes out: one usual window.
        const DISCARDED_BYTES_MAX: usize = 65_535;
        let Phase::Over { discarded_bytes } = &mut self.calls.call(stream).phase else {
            return;
        };
        *discarded_bytes = discarded_bytes.saturating_add(bytes);
        let is_too_much = *discarded_bytes > DISCARDED_BYTES_MAX && !end_stream;
        if is_too_much && sender.blocked_bytes(stream) == 0 {
            sender.reset(stream, ErrorCode::NO_ERROR);
        }
    }
}

impl Calls {
    /// Ends a call that has sent nothing yet.
    pub(super) fn fail(&mut self, sender: &mut Sender, stream: StreamKey, status: &Status) {
        self.leave(stream);
        self.answers.fail(sender, stream, status);
    }
}

/// The message of a unary request.
enum Whole<'a> {
    AsItCame(&'a [u8]),
    Inflated(Vec<u8>),
}
