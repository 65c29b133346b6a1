//! One connection of a server, and its calls.

use std::net::IpAddr;
use std::sync::Arc;

use bookend_io::{ConnectionId, DeadlineHeap, IoContext, Mailbox, Peer};
use bookend_wire::keepalive::KeepaliveState;
use bookend_wire::{Connection, ConnectionError, ErrorCode, Sender, StreamKey};

use super::progress::ProgressMarks;
use super::ready_queue::ReadyQueue;
use crate::call_event::{CallEvent, ReplyTo};
use crate::call_origin::CallOrigin;
use crate::calls::{CallEnvironment, CallId, CallTable, RequestVisitor};
use crate::counts::Counts;
use crate::large_request::PreparationResult;
use crate::limits::{Limits, TURN_WORK_BYTES};
use crate::memory::Account;
use crate::services::Services;
use crate::timeouts::ConnectionTimeouts;

/// A connection and its calls.
pub(super) struct ServerConnection {
    pub id: ConnectionId,
    pub http2: Connection,
    pub calls: CallTable,
    /// It is in the queue of connections whose streams wait for their turn.
    pub is_queued: bool,
    /// It is not read from until its output is written.
    pub is_paused: bool,
    /// It closes once its output is written.
    pub is_closing: bool,
    /// How far its graceful end has come, if it has begun.
    pub draining: Option<Box<Draining>>,
    /// How much of the input was consumed.
    pub consumed_bytes: u64,
    pub timeouts: ConnectionTimeouts,
    pub keepalive: KeepaliveState,
    slices: Slices,
    /// The work that the slices of this read have caused so far, while it is less than a turn's.
    read_work_bytes: usize,
    /// What it holds of the server's memory.
    pub account: Account,
    /// How far it had come when it was looked at.
    pub marks: ProgressMarks,
    /// Where it comes from, if that is counted.
    pub counted_address: Option<IpAddr>,
}

/// How far the graceful end of a connection has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draining {
    pub reason: GoAwayReason,
    /// The GOAWAY that names the last stream is out.
    pub is_final: bool,
    /// When the answer to the PING is no longer waited for.
    pub ping_by_ns: u64,
    /// When the remaining calls are cut off.
    pub cut_off_at_ns: Option<u64>,
}

/// Why a connection ends whose client did nothing wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoAwayReason {
    Stopping,
    Age,
    Idle,
}

impl GoAwayReason {
    /// The debug data of the GOAWAY.
    pub fn text(self) -> &'static str {
        match self {
            GoAwayReason::Stopping => "the server is stopping",
            GoAwayReason::Age => "the connection has reached its age",
            GoAwayReason::Idle => "there was no call for too long",
        }
    }
}

/// What handling a slice of a read came to.
pub(super) struct HandledSlice {
    /// Length of the slice.
    pub bytes: usize,
    /// How much of it was consumed.
    pub result: Result<usize, ConnectionError>,
    /// How much output there is.
    pub output_bytes: usize,
    /// The work that it and the slices before it of the same read have caused.
    pub work_bytes: usize,
    /// Calls whose answer comes from another thread.
    pub deferred_calls: u64,
}

/// A long read is handled in two halves, and the answers to the first are written before the
/// second: about a hundred calls of a hundred bytes and more. The client goes on with those, so
/// that neither end sleeps. Shorter reads are handled at once: each write may have to wake the
/// client, which costs the server more than a dozen calls.
const SLICE_BYTES_MIN: usize = 4 << 10;

/// A connection without streams that keeps more gives back what it has for the next ones: all but
/// HPACK's table and the ids that it has to remember.
const IDLE_BYTES_MAX: usize = 16 << 10;

/// No slice is longer, so that what its answers occupy is bounded, and the first ones do not wait
/// for a thousand others.
const SLICE_BYTES_MAX: usize = 64 << 10;

/// How a long read is cut.
#[derive(Debug, Default)]
struct Slices {
    /// What was left of a read after its first slice.
    rest_bytes: usize,
}

impl Slices {
    /// The length of the next slice.
    #[inline]
    fn next_bytes(&self, read_bytes: usize) -> usize {
        if read_bytes < 2 * SLICE_BYTES_MIN {
            return read_bytes;
        }
        let is_second_half = read_bytes == self.rest_bytes;
        let slice_bytes = if is_second_half { read_bytes } else { read_bytes.div_ceil(2) };
        slice_bytes.min(SLICE_BYTES_MAX)
    }
}

impl ServerConnection {
    pub fn new(
        id: ConnectionId,
        http2: Connection,
        mailbox: Mailbox<CallEvent>,
        peer: Peer,
        services: &Services,
    ) -> Self {
        let preparation = Arc::clone(&services.preparation);
        let reply_to = ReplyTo { mailbox, id };
        let origin = CallOrigin { reply_to, peer: Arc::new(peer), preparation };
        ServerConnection {
            id,
            http2,
            calls: CallTable::new(origin, &services.limits),
            is_queued: false,
            is_paused: false,
            is_closing: false,
            draining: None,
            consumed_bytes: 0,
            timeouts: ConnectionTimeouts::default(),
            keepalive: KeepaliveState::default(),
            slices: Slices::default(),
            read_work_bytes: 0,
            account: services.memory.open(),
            marks: ProgressMarks::default(),
            counted_address: None,
        }
    }

    /// Handles the requests in the next slice of a read. Meanwhile the driver's own output buffer
    /// is the connection's: both are swapped, and swapped back.
    #[inline]
    pub fn handle_slice(
        &mut self,
        read: &[u8],
        services: &Services,
        deadlines: &mut DeadlineHeap<CallId>,
        io: &mut IoContext,
    ) -> HandledSlice {
        let ServerConnection { http2, calls, slices, .. } = self;
        let is_rest = slices.rest_bytes == read.len();
        calls.responses.counts.work_bytes = if is_rest { self.read_work_bytes } else { 0 };
        std::mem::swap(io.output(self.id), &mut http2.sender.output);
        let mut visitor = RequestVisitor {
            calls,
            environment: CallEnvironment {
                router: &services.router,
                limits: &services.limits,
                pool: &services.pool,
                interceptors: &services.interceptors,
                deadlines,
                io,
            },
            wake_batch: None,
        };
        let (bytes, result) =
            receive_slice(http2, slices.next_bytes(read.len()), read, &mut visitor);
        drop(visitor);
        if http2.sender.has_glitches() {
            calls.take_glitches(&mut http2.sender, || io.now_ns());
        }
        let output_bytes = http2.sender.output.len();
        std::mem::swap(io.output(self.id), &mut http2.sender.output);
        let consumed_bytes = *result.as_ref().unwrap_or(&0);
        self.consumed_bytes += consumed_bytes as u64;
        self.slices.rest_bytes = read.len() - consumed_bytes;
        let work_bytes = calls.responses.counts.work_bytes;
        // After that much the others have their turn, and the rest of the read begins anew.
        self.read_work_bytes = if work_bytes > TURN_WORK_BYTES { 0 } else { work_bytes };
        HandledSlice {
            bytes,
            result,
            output_bytes,
            work_bytes,
            deferred_calls: calls.responses.counts.deferred,
        }
    }

    /// What is due after something happened to calls outside of a read.
    #[inline]
    /// Returns how many answers are now expected from other threads.
    pub fn settle(
        &mut self,
        counts: &mut Counts,
        ready: &mut ReadyQueue,
        io: &mut IoContext,
    ) -> u64 {
        let deferred_calls = self.calls.report(counts);
        self.queue_if_ready(ready);
        self.close_if_drained(io);
        deferred_calls
    }

    /// What it holds for requests and replies, bytes. Each of these is a counter.
    #[inline]
    pub fn held_bytes(&self, output_bytes: usize) -> usize {
        self.calls.held_bytes()
            + self.http2.receiver.held_bytes()
            + self.http2.sender.held_back_bytes()
            + self.slices.rest_bytes
            + output_bytes
    }

    /// What the tables hold that grow with the number of streams, bytes.
    pub fn table_bytes(&self) -> usize {
        self.calls.queue_bytes()
            + self.http2.receiver.queue_bytes()
            + self.http2.sender.table_bytes()
    }

    /// Gives back what a connection without streams keeps for the next ones, if it is much.
    pub fn give_back(&mut self) {
        let kept_bytes =
            self.calls.held_bytes() + self.http2.receiver.held_bytes() + self.table_bytes();
        if self.http2.sender.live_streams() == 0 && kept_bytes > IDLE_BYTES_MAX {
            self.calls.give_back();
            self.http2.receiver.give_back();
            self.http2.sender.give_back();
        }
    }

    /// Part of a frame is there.
    pub fn has_partial_frame(&self) -> bool {
        self.slices.rest_bytes > 0
    }

    /// Queues the connection if its streams can make use of a turn.
    #[inline]
    pub fn queue_if_ready(&mut self, ready: &mut ReadyQueue) {
        if self.calls.is_ready() && !self.is_queued {
            self.is_queued = true;
            ready.waiting.push_back(self.id);
        }
    }

    /// Acts on what another thread reports about a call. False if it came too late.
    pub fn handle_event(&mut self, event: CallEvent, limits: &Limits, io: &mut IoContext) -> bool {
        self.with_output(io, |sender, calls| calls.handle_event(sender, event, limits))
    }

    pub fn send_goaway(&mut self, code: ErrorCode, why: &str, io: &mut IoContext) {
        self.with_output(io, |sender, _| sender.goaway(code, why.as_bytes()));
    }

    /// Goes on with a call whose large request is ready.
    #[cold]
    pub fn handle_prepared(
        &mut self,
        stream: StreamKey,
        prepared: PreparationResult,
        services: &Services,
        deadlines: &mut DeadlineHeap<CallId>,
        io: &mut IoContext,
    ) {
        let ServerConnection { http2, calls, .. } = self;
        std::mem::swap(io.output(self.id), &mut http2.sender.output);
        let environment = CallEnvironment {
            router: &services.router,
            limits: &services.limits,
            pool: &services.pool,
            interceptors: &services.interceptors,
            deadlines,
            io,
        };
        let mut visitor = RequestVisitor { calls, environment, wake_batch: None };
        visitor.prepared(&mut http2.sender, stream, prepared);
        drop(visitor);
        std::mem::swap(io.output(self.id), &mut http2.sender.output);
    }

    /// Runs `write` with the driver's own buffer as output.
    #[inline]
    pub fn with_output<R>(
        &mut self,
        io: &mut IoContext,
        write: impl FnOnce(&mut Sender, &mut CallTable) -> R,
    ) -> R {
        let sender = &mut self.http2.sender;
        std::mem::swap(io.output(self.id), &mut sender.output);
        let written = write(sender, &mut self.calls);
        std::mem::swap(io.output(self.id), &mut sender.output);
        written
    }
}

/// Handles the next slice of a read, or the whole if a frame is longer than a slice. Returns the
/// length of what was handled.
#[inline]
fn receive_slice(
    http2: &mut Connection,
    slice_bytes: usize,
    read: &[u8],
    visitor: &mut RequestVisitor<'_>,
) -> (usize, Result<usize, ConnectionError>) {
    match http2.receive(&read[..slice_bytes], visitor) {
        Ok(0) if slice_bytes < read.len() => (read.len(), http2.receive(read, visitor)),
        result => (slice_bytes, result),
    }
}

/// The connection of that identity, unless it is gone.
#[inline]
pub(super) fn find(
    connections: &mut [Option<Box<ServerConnection>>],
    id: ConnectionId,
) -> Option<&mut Box<ServerConnection>> {
    let connection = connections.get_mut(id.index as usize)?.as_mut()?;
    (connection.id == id).then_some(connection)
}

/// Whether the client's preface need not be waited for: it has come, or the connection is gone.
pub(super) fn is_settled(
    connections: &mut [Option<Box<ServerConnection>>],
    id: ConnectionId,
) -> bool {
    find(connections, id).is_none_or(|connection| connection.calls.preface_received)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slices of one read, of which all but `left_over` bytes of each are consumed.
    fn cut(read_bytes: usize, left_over: usize) -> Vec<usize> {
        let (mut slices, mut rest, mut cut) = (Slices::default(), read_bytes, Vec::new());
        while rest > left_over {
            let slice_bytes = slices.next_bytes(rest);
            cut.push(slice_bytes);
            rest -= slice_bytes - if slice_bytes < rest { left_over } else { 0 };
            slices.rest_bytes = rest;
        }
        cut
    }

    #[test]
    fn a_short_read_is_one_slice_and_a_long_one_two_of_a_length() {
        assert_eq!(cut(4_000, 0), [4_000]);
        assert_eq!(cut(8_191, 0), [8_191]);
        assert_eq!(cut(8_192, 0), [4_096, 4_096]);
        assert_eq!(cut(100_001, 0), [50_001, 50_000]);
        assert_eq!(
            cut(100_000, 30),
            [50_000, 50_030],
            "the frame that was cut comes with the rest"
        );
    }

    #[test]
    fn no_slice_is_longer_than_the_longest() {
        assert_eq!(cut(256 << 10, 0), [SLICE_BYTES_MAX; 4]);
        let cut = cut(200_000, 0);
        assert_eq!((cut.len(), cut.iter().sum::<usize>()), (4, 200_000));
        assert!(cut.iter().all(|slice| *slice <= SLICE_BYTES_MAX));
    }
}
