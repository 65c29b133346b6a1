//! The io_uring driver: one thread, any number of connections, one system call a turn.
//!
//! The kernel accepts and reads without being asked again (multishot operations), into buffers that
//! it picks. What the shard puts out during a turn is sent by the same system call that waits for
//! the next one. A turn ends early once many connections have something to send, so that the peers
//! of the first can go on meanwhile.
//!
//! A turn, in order:
//! 1. `settle`: begin connects, apply what the shard asked for, queue its output as sends.
//! 2. `wait`: one `io_uring_enter` submits all of it and waits for completions or a deadline.
//! 3. One event after another: the shard is called, and what it asks for is applied at once.
//! 4. `expire`: timeouts of the driver. `wake_shard`: the shard's deadline and calls of its waker.

mod accepting;
mod connection;

use crate::connection_state::{ConnectionStatus, LINGER_NS};
use crate::context::Connect;
use crate::driver_timeouts::{DriverTimeouts, Due, TimedEntry, entry_of, make_room};
use crate::kernel;
use crate::listener::Listener;
use crate::mailbox::Mailbox;
use crate::options::IoOptions;
use crate::ring::{Event, Filled, Ring};
use crate::shard::{Closed, ConnectionId, Opened, Shard};
use crate::socket;
use crate::statistics::IoStatistics;
use crate::waker::Waker;
use crate::worker::Worker;
use connection::{ReadEnd, ReadState, Stage, UringConnection};
use rustix::event::PollFlags;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::io;
use std::mem;
use std::thread;
use std::time::Duration;

/// Connections whose output is submitted together. More of them would save little of a system call
/// each, and the first would wait for the last.
const SENDS_A_TURN: usize = 64;

/// How long a driver sleeps when the kernel has no memory for its operations.
const ENTER_BACK_OFF: Duration = Duration::from_millis(10);

/// The io_uring driver, ready to run a shard on one thread. Needs Linux 6.1.
pub struct Uring {
    ring: Ring,
    waker: Waker,
    options: IoOptions,
    listener: Option<Listener>,
    arrivals: Option<Mailbox<OwnedFd>>,
}

impl Uring {
    /// A driver that `waker` calls.
    ///
    /// # Errors
    /// The machine's: no descriptor or memory can be had, the kernel is older than Linux 6.1, or
    /// io_uring is not allowed here. [`crate::UringRefusal::of`] tells the last two from the
    /// others.
    pub fn new(waker: Waker, options: IoOptions) -> io::Result<Self> {
        Ok(Self { ring: Ring::new()?, waker, options, listener: None, arrivals: None })
    }

    /// Makes a ring and drops it.
    pub(crate) fn ask() -> io::Result<()> {
        Ring::new().map(drop).map_err(io::Error::from)
    }

    /// Accepts connections from `listener`.
    pub fn accept_from(mut self, listener: Listener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Takes connections that another thread has accepted. The mailbox's waker is this driver's.
    pub(crate) fn take_from(mut self, arrivals: Mailbox<OwnedFd>) -> Self {
        self.arrivals = Some(arrivals);
        self
    }

    /// Runs the shard until it stops or is stopped. [`Shard::woken`] is called once first; that is
    /// where a client makes its connections.
    ///
    /// # Errors
    /// The machine's, where the kernel refuses to wait; not for anything a peer can do.
    pub fn run<S: Shard>(mut self, shard: S) -> io::Result<(S, IoStatistics)> {
        self.ring.enable()?;
        let mut driver = UringDriver {
            ring: self.ring,
            worker: Worker::start(shard, self.waker, self.options),
            turn_number: 0,
            entries: Vec::new(),
            to_write: Vec::new(),
            timeouts: DriverTimeouts::default(),
            acceptor: self.listener.map(RingListener::from),
            arrivals: self.arrivals,
            arrived: Vec::new(),
        };
        driver.run()?;
        Ok(driver.finish())
    }
}

/// The ring comes first: it is dropped before the sockets that it has operations for.
struct UringDriver<S> {
    ring: Ring,
    worker: Worker<S>,
    turn_number: u64,
    /// By [`ConnectionId::index`].
    entries: Vec<Option<UringConnection>>,
    /// Indices of the connections that may have output.
    to_write: Vec<u32>,
    timeouts: DriverTimeouts,
    acceptor: Option<RingListener>,
    arrivals: Option<Mailbox<OwnedFd>>,
    arrived: Vec<OwnedFd>,
}

/// A listener and how far it is.
struct RingListener {
    listener: Listener,
    /// A multishot accept is in flight.
    is_accepting: bool,
    /// The listener is to be closed.
    is_stopping: bool,
}

impl From<Listener> for RingListener {
    fn from(listener: Listener) -> Self {
        Self { listener, is_accepting: false, is_stopping: false }
    }
}

impl<S: Shard> UringDriver<S> {
    fn run(&mut self) -> io::Result<()> {
        self.ring.listen(self.worker.waker.event());
        self.accept();
        loop {
            self.turn_number += 1;
            self.settle();
            if self.may_leave() {
                return Ok(());
            }
            self.wait()?;
            while self.to_write.len() < SENDS_A_TURN
                && let Some(event) = self.ring.next_event()
            {
                self.on_event(event);
                self.apply_requests();
            }
            self.expire();
            if self.worker.wake_shard() {
                self.take_arrivals();
            }
        }
    }

    #[inline]
    fn wait(&mut self) -> io::Result<()> {
        let own_deadline_ns = self.timeouts.next_ns(&mut self.entries);
        if self.worker.options.counts_busy_time {
            // Submit before the clock is read: sends are work of this turn, the wait is not.
            self.enter(Some(0))?;
        }
        let mut timeout_ns = self.worker.begin_wait(own_deadline_ns);
        if self.ring.has_events() {
            timeout_ns = Some(0);
        }
        if timeout_ns != Some(0) && !self.worker.waker.fall_asleep() {
            timeout_ns = Some(0);
        }
        self.enter(timeout_ns)?;
        let has_events = self.ring.has_events();
        self.worker.end_wait(has_events);
        Ok(())
    }

    #[inline]
    fn enter(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        match self.ring.enter(timeout_ns) {
            // BUSY: the completion queue is full and has to be read first.
            Ok(()) | Err(Errno::INTR | Errno::TIME | Errno::BUSY) => Ok(()),
            Err(Errno::AGAIN | Errno::NOMEM) => {
                thread::sleep(ENTER_BACK_OFF);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    #[inline]
    fn on_event(&mut self, event: Event) {
        match event {
            Event::Received { index, result, left_more, goes_on } => {
                self.on_received(index, result, left_more, goes_on)
            }
            Event::Sent { index, result } => self.on_sent(index, result),
            Event::Called { goes_on: true } => {}
            Event::Called { goes_on: false } => self.ring.listen(self.worker.waker.event()),
            Event::Accepted { result, goes_on } => self.on_accepted(result, goes_on),
            Event::Connected { index, result } => self.on_connected(index, result),
            Event::Watched { index, result } => self.on_watched(index, result),
        }
    }

    #[inline]
    fn on_received(
        &mut self,
        index: u32,
        result: Result<Option<Filled>, Errno>,
        left_more: bool,
        goes_on: bool,
    ) {
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
            return;
        };
        let is_live = entry.stage == Stage::Live;
        let mut status = ConnectionStatus::Continue(());
        let end = match result {
            Ok(Some(filled)) => {
                if is_live {
                    let bytes = self.ring.bytes(&filled);
                    status = entry.received(bytes, left_more, &mut self.worker);
                }
                self.ring.give_back(filled);
                ReadEnd::Interrupted
            }
            Ok(None) => ReadEnd::Peer,
            Err(error) => ReadEnd::from(error),
        };
        if !goes_on {
            entry.receiving = ReadState::Off;
            if is_live && matches!(status, ConnectionStatus::Continue(())) {
                status = entry.receiving_ended(end, &mut self.worker);
            } else if entry.stage == Stage::Lingering && end != ReadEnd::Interrupted {
                return self.forget(index);
            }
        }
        self.apply_status(index, status);
    }

    #[inline]
    fn on_sent(&mut self, index: u32, result: Result<(usize, usize), Errno>) {
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
            return;
        };
        let (ring, worker) = (&mut self.ring, &mut self.worker);
        let status = match result {
            _ if entry.stage != Stage::Live => {
                entry.drop_lent(ring, worker);
                ConnectionStatus::Continue(())
            }
            Ok(counts) => entry.sent(counts, self.turn_number, ring, worker),
            Err(error) => entry.not_sent(error, ring, worker),
        };
        if !entry.is_sending() && worker.io.has_output(entry.state.id) {
            self.queue(index);
        }
        self.apply_status(index, status);
    }

    fn on_watched(&mut self, index: u32, result: Result<u32, Errno>) {
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
            return;
        };
        entry.is_watched = false;
        let is_broken = result.is_ok_and(is_broken);
        entry.is_half_closed |= result.is_ok() && !is_broken;
        let is_unread = entry.stage == Stage::Live && entry.receiving == ReadState::Off;
        let status = if is_broken && is_unread {
            ConnectionStatus::Break(Closed::Failed(socket::pending_error(&entry.socket)))
        } else {
            ConnectionStatus::Continue(())
        };
        self.apply_status(index, status);
    }

    /// Applies what the shard has asked for since the last wait.
    fn settle(&mut self) {
        if self.worker.io.has_work() {
            for connect in self.worker.io.take_connects() {
                self.connect(connect);
            }
            self.worker.notify_writable();
        }
        self.apply_requests();
        while !self.to_write.is_empty() {
            self.write_all();
            self.apply_requests();
        }
    }

    /// Applies what the shard asked of its connections in the last call.
    #[inline]
    fn apply_requests(&mut self) {
        while let Some((id, pending)) = self.worker.io.next_touched() {
            let Some(entry) = entry_of(&mut self.entries, id.key()) else {
                self.worker.withdraw(id, pending);
                continue;
            };
            let status = entry.apply(pending, &mut self.worker);
            self.queue(id.index);
            self.apply_status(id.index, status);
        }
    }

    /// Notes that a connection may have output.
    #[inline]
    fn queue(&mut self, index: u32) {
        if let Some(Some(entry)) = self.entries.get_mut(index as usize)
            && !mem::replace(&mut entry.is_queued, true)
        {
            self.to_write.push(index);
        }
    }

    /// Hands all output to the ring.
    fn write_all(&mut self) {
        let mut to_write = mem::take(&mut self.to_write);
        for index in to_write.drain(..) {
            let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
                continue;
            };
            entry.is_queued = false;
            if entry.stage == Stage::Live {
                let status = entry.write(self.turn_number, &mut self.ring, &mut self.worker);
                self.apply_status(index, status);
            }
        }
        // Connections that were queued meanwhile are in the new one.
        to_write.append(&mut self.to_write);
        self.to_write = to_write;
    }

    #[inline]
    fn apply_status(&mut self, index: u32, status: ConnectionStatus) {
        if let ConnectionStatus::Break(why) = status {
            return self.close(index, why);
        }
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
            return;
        };
        entry.update_reads(&mut self.ring, &self.worker);
        if entry.stage == Stage::Gone {
            self.sweep(index);
        }
    }

    fn close(&mut self, index: u32, why: Closed) {
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
            return;
        };
        let id = entry.state.id;
        let why = entry.state.reason_for_shard(why);
        let until_ns = self.worker.io.now_ns() + LINGER_NS;
        entry.forget_input();
        if matches!(why, Closed::Us)
            && entry.state.may_have_unread_bytes()
            && self.timeouts.linger_until(until_ns, id).is_ok()
        {
            let _ = kernel::shut_down(&entry.socket);
            entry.stage = Stage::Lingering;
            entry.update_reads(&mut self.ring, &self.worker);
            return self.worker.close(id, why);
        }
        entry.stage = Stage::Gone;
        entry.cancel(&mut self.ring);
        self.worker.close(id, why);
        self.sweep(index);
    }

    /// A connection that was read on has ended.
    fn forget(&mut self, index: u32) {
        if let Some(Some(entry)) = self.entries.get_mut(index as usize) {
            entry.stage = Stage::Gone;
            entry.cancel(&mut self.ring);
            self.sweep(index);
        }
    }

    /// Closes the socket of a connection that is gone, once none of its operations is in flight.
    fn sweep(&mut self, index: u32) {
        let is_free = |entry: &mut UringConnection| !entry.has_something_in_flight();
        if self.entries[index as usize].take_if(is_free).is_some() {
            self.worker.io.release(index);
        }
    }

    fn connect(&mut self, connect: Connect) {
        let Connect { id, target, token } = connect;
        let timeout_ns = self.worker.options.connect_timeout_ns;
        let by_ns = self.worker.io.now_ns().saturating_add(timeout_ns);
        let begun = socket::begin_connect(&target).and_then(|socket| {
            self.timeouts.connect_by(by_ns, id)?;
            Ok(self.register(socket, id, Some(token))?)
        });
        if let Err(error) = begun {
            self.worker.fail_connect(id, token, error);
        }
    }

    fn on_connected(&mut self, index: u32, result: Result<u32, Errno>) {
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
            return;
        };
        entry.is_connecting = false;
        let ended = match result {
            _ if entry.stage != Stage::Live => return self.sweep(index),
            // A socket that is writable and not broken needs not be asked how its connect ended.
            Ok(ready) if is_broken(ready) => socket::end_connect(&entry.socket),
            Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = ended {
            return self.close(index, Closed::Failed(error));
        }
        if let Some(token) = entry.state.connecting.take() {
            let id = entry.state.id;
            self.open(id, Opened::Connected(token));
        }
    }

    fn open(&mut self, id: ConnectionId, how: Opened) {
        self.worker.open(id, how);
        self.queue(id.index);
        self.apply_status(id.index, ConnectionStatus::Continue(()));
    }

    fn register(
        &mut self,
        socket: OwnedFd,
        id: ConnectionId,
        connecting: Option<u64>,
    ) -> Result<(), Errno> {
        let index = id.index as usize;
        make_room(&mut self.entries, index)?;
        self.ring.make_room(index + 1)?;
        let entry = self.entries[index].insert(UringConnection::new(socket, id, connecting));
        if connecting.is_some() {
            entry.is_connecting = true;
            self.ring.await_connect(id.index, &entry.socket);
        }
        Ok(())
    }

    /// Gives up what has taken too long.
    #[inline]
    fn expire(&mut self) {
        while let Some(due) = self.timeouts.pop_due(&mut self.entries, &self.worker.io) {
            self.expire_one(due);
        }
    }

    #[cold]
    fn expire_one(&mut self, due: Due) {
        match due {
            Due::Connect(index) => {
                self.close(index, Closed::Failed(io::ErrorKind::TimedOut.into()));
            }
            Due::Linger(index) => self.forget(index),
            Due::Accept => self.accept(),
        }
    }

    #[inline]
    fn may_leave(&mut self) -> bool {
        if self.worker.io.stopping() {
            self.stop_accepting();
        }
        let (acceptor, entries) = (&self.acceptor, &self.entries);
        self.worker.may_leave(|io| {
            let mut live = entries.iter().flatten();
            acceptor.is_none() && live.all(|entry| !io.has_output(entry.state.id))
        })
    }

    /// Closes what is still open and gives the shard back.
    fn finish(mut self) -> (S, IoStatistics) {
        for index in 0..self.entries.len() {
            match &self.entries[index] {
                Some(entry) if entry.stage == Stage::Live => self.close(index as u32, Closed::Us),
                _ => {}
            }
        }
        self.ring.quiesce();
        self.worker.finish()
    }
}

impl TimedEntry for UringConnection {
    #[inline]
    fn id(&self) -> ConnectionId {
        self.state.id
    }

    fn awaits_connect(&self) -> bool {
        self.stage == Stage::Live && self.state.connecting.is_some()
    }

    fn lingers(&self) -> bool {
        self.stage == Stage::Lingering
    }
}

/// Whether poll says that a connection was reset, or closed in both directions.
fn is_broken(ready: u32) -> bool {
    let ready = PollFlags::from_bits_truncate(ready as u16);
    ready.intersects(PollFlags::ERR | PollFlags::HUP)
}
