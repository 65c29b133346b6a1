//! One connection of a server, and its calls.

use bookend_io::{ConnectionId, DeadlineHeap, IoContext, Mailbox};
use bookend_wire::keepalive::KeepaliveState;
use bookend_wire::{Connection, ConnectionError, ErrorCode, Sender};

use super::ready_queue::ReadyQueue;
use crate::call_event::{CallEvent, ReplyTo};
use crate::calls::{CallEnvironment, CallId, CallTable, RequestVisitor};
use crate::counts::Counts;
use crate::limits::Limits;
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
    pub input: InputProgress,
    pub timeouts: ConnectionTimeouts,
    pub keepalive: KeepaliveState,
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

/// How much of the input was consumed, for timeouts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InputProgress {
    pub consumed_bytes: u64,
    /// Part of a frame is there.
    pub has_partial_frame: bool,
}

/// What handling a slice of a read came to.
pub(super) struct HandledSlice {
    /// Length of the slice.
    pub bytes: usize,
    /// How much of it was consumed.
    pub result: Result<usize, ConnectionError>,
    /// How much output there is.
    pub output_bytes: usize,
    /// Size of the messages that were inflated.
    pub inflated_bytes: usize,
    /// Calls whose answer comes from another thread.
    pub deferred_calls: u64,
}

/// A long read is handled in slices of this size, and the answers to each are written before the
/// next: about two hundred small calls. The client goes on with those, so that neither end sleeps.
const SLICE_BYTES: usize = 8 << 10;

impl ServerConnection {
    pub fn new(
        id: ConnectionId,
        http2: Connection,
        mailbox: Mailbox<CallEvent>,
        limits: &Limits,
    ) -> Self {
        ServerConnection {
            id,
            http2,
            calls: CallTable::new(ReplyTo { mailbox, id }, limits),
            is_queued: false,
            is_paused: false,
            is_closing: false,
            draining: None,
            input: InputProgress::default(),
            timeouts: ConnectionTimeouts::default(),
            keepalive: KeepaliveState::default(),
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
        let ServerConnection { http2, calls, .. } = self;
        std::mem::swap(io.output(self.id), &mut http2.sender.output);
        let mut visitor = RequestVisitor {
            calls,
            environment: CallEnvironment {
                router: &services.router,
                limits: &services.limits,
                pool: &services.pool,
                deadlines,
                io,
            },
            wake_batch: None,
        };
        let (bytes, result) = receive_slice(http2, read, &mut visitor);
        drop(visitor);
        if http2.sender.has_glitches() {
            calls.take_glitches(&mut http2.sender, || io.now_ns());
        }
        let output_bytes = http2.sender.output.len();
        std::mem::swap(io.output(self.id), &mut http2.sender.output);
        let consumed_bytes = *result.as_ref().unwrap_or(&0);
        self.input.consumed_bytes += consumed_bytes as u64;
        self.input.has_partial_frame = consumed_bytes < read.len();
        HandledSlice {
            bytes,
            result,
            output_bytes,
            inflated_bytes: calls.responses.counts.inflated_bytes,
            deferred_calls: calls.responses.counts.deferred,
        }
    }

    /// What is due after something happened to calls outside of a read.
    #[inline]
    pub fn settle(&mut self, counts: &mut Counts, ready: &mut ReadyQueue, io: &mut IoContext) {
        self.calls.report(counts);
        self.queue_if_ready(ready);
        self.close_if_drained(io);
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
    read: &[u8],
    visitor: &mut RequestVisitor<'_>,
) -> (usize, Result<usize, ConnectionError>) {
    let slice_bytes = read.len().min(SLICE_BYTES);
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
