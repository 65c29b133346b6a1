//! What one thread of a server owns, and what it does when its driver calls.
//!
//! The way of a request: `received` hands the bytes of a read to `ServerConnection::handle_slice`
//! (in `connection`), slice by slice. Its HTTP/2 connection calls `RequestVisitor` (in `calls`),
//! which runs the handler. All answers of a slice go out in one write.
//!
//! Everything else has a page of its own: `ready_queue` for streams that wait for their turn,
//! `timeouts` for what takes too long, `draining` for connections that end gracefully.

mod connection;
mod draining;
mod holding;
mod progress;
mod ready_queue;
mod timeouts;

use std::sync::atomic::Ordering;

use bookend_io::{
    AfterRead, BACKLOG_LIMIT_BYTES, Closed, ConnectionId, DeadlineHeap, IoContext, Mailbox, Opened,
    Received, Shard, TimeoutQueue, Waker,
};
use bookend_wire::{Connection, Side};

use crate::call_event::{CallEvent, CallEventKind};
use crate::calls::CallId;
use crate::counts::Counts;
use crate::limits::{CONNECTION_OUTPUT_BYTES, TURN_WORK_BYTES};
use crate::services::Services;
use connection::{HandledSlice, ServerConnection, find, is_settled};
use progress::ProgressMarks;
use ready_queue::ReadyQueue;

/// One thread's share of a server: connections that it accepted, and their calls.
pub struct ServerShard {
    services: Services,
    /// Of all shards of its server.
    number: u64,
    mailbox: Mailbox<CallEvent>,
    /// The buffer into which the mailbox is emptied.
    events: Vec<CallEvent>,
    connections: Vec<Option<Box<ServerConnection>>>,
    /// Closed connections, for reuse.
    spare: Vec<Connection>,
    open_connections: u32,
    /// Connections whose client preface has not come yet.
    prefaces: TimeoutQueue<ConnectionId>,
    call_deadlines: DeadlineHeap<CallId>,
    /// When connections reach their age, or have taken too long to drain.
    connection_deadlines: DeadlineHeap<ConnectionId>,
    /// The number from which the age limit of the next connection is drawn.
    next_age_number: u64,
    ready: ReadyQueue,
    /// Calls whose answer comes from another thread.
    outstanding: u64,
    counts: Counts,
    shutdown: ShutdownPhase,
    next_timeout_check_ns: Option<u64>,
    /// When all calls are checked again, and not only those that keep something.
    next_whole_check_ns: u64,
}

/// How far a shard has come on its way to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShutdownPhase {
    Running,
    /// Calls come to their end.
    Draining,
    /// The calls that were left are cut off: nothing is waited for any more.
    Finished,
}

/// Closed connections whose memory a thread keeps: as many as it accepts in a turn. What each keeps
/// is bounded by the limits of header lists; a table of streams that has grown is freed.
const MAX_SPARE_CONNECTIONS: usize = 64;

/// A deadline that has passed: the driver calls `woken` in its next turn, without sleeping.
const AT_ONCE: u64 = 0;

/// A deadline that no clock reaches.
const NEVER: u64 = u64::MAX;

impl Services {
    /// The shard of one thread, for the driver that `waker` wakes.
    pub fn shard(&self, waker: Waker) -> ServerShard {
        let number = self.shards.fetch_add(1, Ordering::Relaxed);
        self.memory.join(number, waker.clone());
        ServerShard {
            services: self.clone(),
            number,
            mailbox: Mailbox::new(waker),
            events: Vec::new(),
            connections: Vec::new(),
            spare: Vec::new(),
            open_connections: 0,
            prefaces: TimeoutQueue::default(),
            call_deadlines: DeadlineHeap::default(),
            connection_deadlines: DeadlineHeap::default(),
            // Connections of different threads get different ages.
            next_age_number: number << 32,
            ready: ReadyQueue::default(),
            outstanding: 0,
            counts: Counts::default(),
            shutdown: ShutdownPhase::Running,
            next_timeout_check_ns: None,
            next_whole_check_ns: 0,
        }
    }
}

impl Drop for ServerShard {
    fn drop(&mut self) {
        self.services.counts.end(self.number, self.counts);
        self.services.memory.leave(self.number);
        for mut connection in self.connections.drain(..).flatten() {
            self.services.memory.close(&mut connection.account);
        }
    }
}

impl Shard for ServerShard {
    fn opened(&mut self, id: ConnectionId, _how: Opened, io: &mut IoContext) {
        let index = id.index as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        let http2 = self.new_http2();
        let mailbox = self.mailbox.clone();
        let connection = ServerConnection::new(id, http2, mailbox, io.peer(id), &self.services);
        let mut connection = Box::new(connection);
        connection.marks = ProgressMarks::beginning(io.now_ns());
        let preface = &mut connection.http2.sender.output;
        io.output(id).append(preface);
        self.connections[index] = Some(connection);
        self.open_connections += 1;
        self.start_timeout_checks(io);
        if self.services.limits.max_address_connections.is_some() {
            self.enter_address(id, io);
        }
        if self.services.limits.connection_age.is_some() {
            self.schedule_age_limit(id, io);
        }
        if self.shutdown != ShutdownPhase::Running {
            self.drain_new_connection(id, io);
        }
        if let Some(timeout_ns) = self.services.limits.preface_timeout_ns {
            self.prefaces.push(io.now_ns() + timeout_ns, id);
        }
    }

    /// RFC 9113, section 5.4.1.
    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let Some(connection) = find(&mut self.connections, id) else {
            return Received { consumed: bytes.len(), after: AfterRead::Close };
        };
        let slice = connection.handle_slice(bytes, &self.services, &mut self.call_deadlines, io);
        self.outstanding += slice.deferred_calls;
        connection.calls.report(&mut self.counts);
        connection.queue_if_ready(&mut self.ready);
        let is_draining = connection.draining.is_some();
        let limit_exceeded = connection.calls.limit_exceeded;
        if connection.account.is_off(connection.held_bytes(slice.output_bytes)) {
            self.charge(id, io);
        }
        if is_draining {
            self.continue_draining(id, io);
        }
        if self.call_deadlines.needs_sweep() {
            self.sweep_call_deadlines();
        }
        if self.prefaces.next_ns().is_some() {
            self.forget_prefaces();
        }
        match slice.result {
            Ok(consumed) if !limit_exceeded => {
                Received { consumed, after: self.after_slice(id, &slice, bytes.len(), io) }
            }
            _ => {
                self.count_broken(id);
                Received { consumed: bytes.len(), after: AfterRead::LingeringClose }
            }
        }
    }

    /// All output of that connection is written: its streams go on, and it is read again.
    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        if let Some(connection) = find(&mut self.connections, id) {
            if std::mem::take(&mut connection.is_paused) {
                io.resume(id);
            }
            connection.queue_if_ready(&mut self.ready);
        }
        self.note_held(id, 0, io);
    }

    fn closed(&mut self, id: ConnectionId, _why: Closed, _io: &mut IoContext) {
        self.forget(id);
        self.forget_prefaces();
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.handle_events(io);
        self.expire_calls(io);
        self.run_ready_streams(io);
        self.close_without_preface(io);
        self.check_timeouts(io);
        self.check_connection_deadlines(io);
        if self.services.memory.is_exceeded() {
            self.shed_excess(io);
        }
        if io.stopping() {
            self.shut_down(io);
        }
    }

    fn next_deadline(&self) -> Option<u64> {
        if self.ready.is_due() {
            return Some(AT_ONCE);
        }
        let next_ns = self
            .prefaces
            .next_ns()
            .unwrap_or(NEVER)
            .min(self.call_deadlines.next_ns().unwrap_or(NEVER))
            .min(self.connection_deadlines.next_ns().unwrap_or(NEVER))
            .min(self.next_timeout_check_ns.unwrap_or(NEVER));
        (next_ns != NEVER).then_some(next_ns)
    }

    fn has_outstanding(&self) -> bool {
        match self.shutdown {
            ShutdownPhase::Running => self.outstanding > 0 || self.ready.is_due(),
            // Nobody waits for the answer to a call whose connection is gone.
            ShutdownPhase::Draining => self.open_connections > 0 || self.ready.is_due(),
            ShutdownPhase::Finished => false,
        }
    }
}

impl ServerShard {
    /// What this thread has done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How the driver goes on with a read of which a slice was handled.
    #[inline]
    fn after_slice(
        &mut self,
        id: ConnectionId,
        slice: &HandledSlice,
        read_bytes: usize,
        io: &IoContext,
    ) -> AfterRead {
        // A slice with much work in it may have been left before its end.
        let has_worked = slice.work_bytes > TURN_WORK_BYTES && slice.result != Ok(read_bytes);
        if slice.bytes == read_bytes && !has_worked {
            AfterRead::Continue
        } else if slice.output_bytes > BACKLOG_LIMIT_BYTES {
            self.pause_reading(id, io)
        } else if has_worked {
            self.ready.pause(id)
        } else {
            AfterRead::Again
        }
    }

    /// There is more output than the driver would let wait: the rest of the read comes when that is
    /// written. See `writable`.
    #[cold]
    fn pause_reading(&mut self, id: ConnectionId, io: &IoContext) -> AfterRead {
        match find(&mut self.connections, id) {
            Some(connection) if io.backlog(id) > BACKLOG_LIMIT_BYTES => {
                connection.is_paused = true;
                AfterRead::Pause
            }
            _ => AfterRead::Again,
        }
    }

    /// Acts on what other threads report about calls.
    fn handle_events(&mut self, io: &mut IoContext) {
        let mut events = std::mem::take(&mut self.events);
        self.mailbox.drain_into(&mut events);
        for event in events.drain(..) {
            self.outstanding -= u64::from(event.kind.is_last());
            self.counts.panics += u64::from(event.kind.is_panic());
            let id = event.id;
            self.counts.recalled += u64::from(matches!(event.kind, CallEventKind::Recalled));
            let late = match find(&mut self.connections, id) {
                None => event.kind.is_late(),
                Some(connection) => {
                    let in_time = match event.kind {
                        CallEventKind::Prepared(result) => {
                            let (services, deadlines) = (&self.services, &mut self.call_deadlines);
                            connection.handle_prepared(
                                event.stream,
                                result,
                                services,
                                deadlines,
                                io,
                            );
                            true
                        }
                        _ => connection.handle_event(event, &self.services.limits, io),
                    };
                    self.outstanding += connection.settle(&mut self.counts, &mut self.ready, io);
                    !in_time
                }
            };
            self.counts.late += u64::from(late);
            let output_bytes = io.output(id).len();
            self.note_held(id, output_bytes, io);
        }
        self.events = events;
    }

    /// Lets each connection in the queue work once. One that is not done goes to the end of the
    /// queue, and waits until the driver has read what has come meanwhile.
    fn run_ready_streams(&mut self, io: &mut IoContext) {
        for id in self.ready.paused.drain(..) {
            io.resume(id);
        }
        for _ in 0..self.ready.waiting.len() {
            let Some(id) = self.ready.waiting.pop_front() else {
                return;
            };
            let Some(connection) = find(&mut self.connections, id) else {
                continue;
            };
            connection.is_queued = false;
            // Streams use the same limit: they would find no room and be queued again at once.
            if io.output(id).len() >= CONNECTION_OUTPUT_BYTES {
                // Asking for the backlog has the driver call `writable` when all is written.
                io.backlog(id);
                continue;
            }
            connection.with_output(io, |sender, calls| {
                calls.run_ready_streams(sender, &self.services.limits);
            });
            self.outstanding += connection.settle(&mut self.counts, &mut self.ready, io);
            let output_bytes = io.output(id).len();
            self.note_held(id, output_bytes, io);
        }
    }

    /// Closes connections whose client has not sent its preface in time.
    fn close_without_preface(&mut self, io: &mut IoContext) {
        self.forget_prefaces();
        if self.prefaces.next_ns().is_none() {
            return;
        }
        while let Some(id) = self.prefaces.pop_due(io.now_ns()) {
            if !is_settled(&mut self.connections, id) {
                self.count_broken(id);
                io.close(id);
            }
        }
    }

    /// Drops the timeouts of prefaces that have come, or whose connection is gone.
    fn forget_prefaces(&mut self) {
        self.prefaces.forget_over(|id| is_settled(&mut self.connections, id));
    }

    /// A connection closes because of what its client did.
    #[cold]
    fn count_broken(&mut self, id: ConnectionId) {
        if let Some(connection) = find(&mut self.connections, id) {
            self.counts.broken_connections += u64::from(!connection.is_closing);
            connection.is_closing = true;
        }
    }

    /// A new connection, in the memory of a closed one if there is one: otherwise clients that make
    /// a connection for each call would have it allocated each time.
    fn new_http2(&mut self) -> Connection {
        match self.spare.pop() {
            Some(mut connection) => {
                connection.renew(&self.services.limits.http2);
                connection
            }
            None => Connection::new(Side::Server, &self.services.limits.http2),
        }
    }
}
