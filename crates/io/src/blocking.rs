//! The blocking driver: one thread, one connection at a time.
//!
//! Where nothing else can happen the thread blocks in a plain read, which saves a system call a
//! turn. It polls first (`ppoll` on the socket and the waker) while answers from other threads are
//! outstanding, while output waits, while reading is paused, and while a deadline is near.
//!
//! A plain read returns every [`TICK_NS`] so that the shard is woken for a call of its
//! [`Waker`] or for the end.

use crate::address::Target;
use crate::clock::{clock_ns, timespec};
use crate::connection_state::{ConnectionStatus, LINGER_NS};
use crate::context::Connect;
use crate::kernel;
use crate::options::{IoOptions, Wait};
use crate::polled_connection::{PolledConnection, Read, Readiness};
use crate::shard::{Closed, Opened, Shard};
use crate::socket;
use crate::statistics::IoStatistics;
use crate::waker::Waker;
use crate::worker::Worker;
use crate::worker_slots::WorkerSlot;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::io;
use std::time::Duration;

/// How long a plain read waits at most: the delay of a call or a stop that arrives meanwhile. Ten
/// returns a second cost nothing that can be measured.
pub const TICK_NS: u64 = 100_000_000;

/// Runs a client's shard until it stops or is stopped. [`Shard::woken`] is called once first; there
/// it asks for its connection with [`crate::IoContext::connect`], one at a time: a second one ends
/// in [`Closed::NotConnected`].
///
/// # Errors
/// The machine's, where the kernel refuses to wait; not for anything a peer can do.
pub fn run<S: Shard>(shard: S, waker: Waker, options: IoOptions) -> io::Result<(S, IoStatistics)> {
    BlockingDriver::new(shard, waker, options, Until::Stopped).run()
}

/// Connects to `target` with token 0 and runs the shard until it stops, is stopped, or its
/// connection is gone (or never came about) and it has asked for no other.
///
/// # Errors
/// The machine's, as of [`run`]. A connect that fails is the shard's to hear of
/// ([`Shard::closed`]).
pub fn connect_and_run<S: Shard>(
    target: impl Into<Target>,
    shard: S,
    waker: Waker,
    options: IoOptions,
) -> io::Result<(S, IoStatistics)> {
    let mut driver = BlockingDriver::new(shard, waker, options, Until::Alone);
    driver.worker.io.connect(target, 0);
    driver.run()
}

/// Runs the shard for one accepted connection, until that is gone or the shard is stopped.
///
/// # Errors
/// The machine's, as of [`run`].
pub fn run_accepted<S: Shard>(
    socket: impl Into<OwnedFd>,
    shard: S,
    waker: Waker,
    options: IoOptions,
) -> io::Result<(S, IoStatistics)> {
    let socket = socket.into();
    socket::send_at_once(&socket)?;
    prepare(&socket)?;
    let mut driver = BlockingDriver::new(shard, waker, options, Until::Alone);
    driver.open_accepted(socket);
    driver.run()
}

/// Runs the shard for the connections that come to `slot`, until it stops or is stopped, or enough
/// other slots are free.
pub(crate) fn run_slot<S: Shard>(
    slot: WorkerSlot,
    shard: S,
    waker: Waker,
    options: IoOptions,
) -> io::Result<(S, IoStatistics)> {
    let mut driver = BlockingDriver::new(shard, waker, options, Until::Stopped);
    driver.slot = Some(slot);
    driver.run()
}

/// When the loop ends without being stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Never.
    Stopped,
    /// When there is no connection.
    Alone,
}

struct BlockingDriver<S> {
    worker: Worker<S>,
    until: Until,
    connection: Option<PolledConnection>,
    connect_by_ns: Option<u64>,
    slot: Option<WorkerSlot>,
}

impl<S: Shard> BlockingDriver<S> {
    fn new(shard: S, waker: Waker, options: IoOptions, until: Until) -> Self {
        let worker = Worker::start(shard, waker, options);
        Self { worker, until, connection: None, connect_by_ns: None, slot: None }
    }

    fn open_accepted(&mut self, socket: OwnedFd) {
        let Some(id) = self.worker.admit(&socket) else {
            return self.leave_slot();
        };
        self.connection = Some(PolledConnection::new(socket, id, None));
        self.worker.io.begin();
        self.worker.open(id, Opened::Accepted);
    }

    fn run(mut self) -> io::Result<(S, IoStatistics)> {
        loop {
            self.settle();
            if self.may_leave() {
                return Ok(self.finish());
            }
            let timeout_ns = self.worker.begin_wait(self.connect_by_ns);
            if self.reads_plainly(timeout_ns) {
                self.read_plainly();
            } else if self.spins() {
                self.try_everything();
            } else {
                self.wait(timeout_ns)?;
            }
            self.apply_requests();
            self.expire();
            if self.worker.wake_shard() {
                self.take_arrival();
            }
        }
    }

    /// Takes the connection that the acceptor has sent here. It sends the next one only after
    /// [`WorkerSlots::leave`](crate::worker_slots::WorkerSlots::leave).
    fn take_arrival(&mut self) {
        let Some(slot) = &self.slot else { return };
        let mut arrived = Vec::new();
        slot.arrivals.drain_into(&mut arrived);
        for socket in arrived {
            match prepare(&socket) {
                Ok(()) => self.open_accepted(socket),
                Err(_) => {
                    self.worker.io.statistics.accept_errors += 1;
                    self.leave_slot();
                }
            }
        }
    }

    fn leave_slot(&mut self) {
        if let Some(slot) = &self.slot
            && !slot.slots.leave(slot.number)
        {
            self.until = Until::Alone;
        }
    }

    /// Whether bytes of the peer are all that can come before the next tick.
    #[inline]
    fn reads_plainly(&self, timeout_ns: Option<u64>) -> bool {
        let Some(connection) = &self.connection else {
            return false;
        };
        timeout_ns.is_none_or(|timeout_ns| timeout_ns >= TICK_NS)
            && !connection.blocked
            && connection.wants_to_read(&self.worker.io, self.worker.options.backlog_limit_bytes)
            && !self.worker.shard.has_outstanding()
    }

    #[inline]
    fn read_plainly(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let Worker { buffer, io, .. } = &mut self.worker;
        let read = connection.read(buffer, RecvFlags::empty(), io);
        self.worker.end_wait(!matches!(read, Read::Nothing));
        let status = connection.handle(read, &mut self.worker);
        self.apply_status(status);
    }

    /// Waits until the socket, the waker or the time says something.
    #[inline]
    fn wait(&mut self, timeout_ns: Option<u64>) -> io::Result<()> {
        let at_once = timeout_ns == Some(0) || !self.worker.waker.fall_asleep();
        let (called, revents) = self.ask(if at_once { Some(0) } else { timeout_ns })?;
        self.worker.end_wait(called || !revents.is_empty());
        if called {
            self.worker.waker.clear();
        }
        self.on_socket(revents);
        Ok(())
    }

    /// Asks whether the waker was called, and what can be done with the socket.
    fn ask(&self, timeout_ns: Option<u64>) -> io::Result<(bool, PollFlags)> {
        let timeout = timeout_ns.map(timespec);
        let event = self.worker.waker.event();
        let call = PollFd::new(&event, PollFlags::IN);
        let Some(connection) = &self.connection else {
            let mut polled = [call];
            socket::wait(&mut polled, timeout.as_ref())?;
            return Ok((!polled[0].revents().is_empty(), PollFlags::empty()));
        };
        let mut polled = [call, PollFd::new(&connection.socket, self.interest(connection))];
        socket::wait(&mut polled, timeout.as_ref())?;
        Ok((!polled[0].revents().is_empty(), polled[1].revents()))
    }

    fn interest(&self, connection: &PolledConnection) -> PollFlags {
        let Worker { io, options, .. } = &self.worker;
        let mut interest = PollFlags::empty();
        let reads = connection.wants_to_read(io, options.backlog_limit_bytes);
        interest.set(PollFlags::IN, reads);
        interest.set(PollFlags::OUT, connection.wants_to_write());
        interest
    }

    #[inline]
    fn on_socket(&mut self, revents: PollFlags) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        if revents.is_empty() {
            return;
        }
        if connection.state.connecting.is_some() {
            return self.end_connect();
        }
        let status = connection.advance(readiness(revents), &mut self.worker);
        self.apply_status(status);
    }

    /// Whether attempts are all it takes: without a connection to read from, the kernel is asked.
    #[inline]
    fn spins(&self) -> bool {
        let Worker { io, options, .. } = &self.worker;
        let reads = |connection: &PolledConnection| {
            connection.wants_to_read(io, options.backlog_limit_bytes)
        };
        options.wait == Wait::Spin && self.connection.as_ref().is_some_and(reads)
    }

    /// The spinning way: no question, only attempts.
    #[inline]
    fn try_everything(&mut self) {
        self.worker.end_wait(false);
        let Some(connection) = &mut self.connection else {
            return;
        };
        let before = moves(&self.worker);
        let ready = Readiness { readable: true, writable: true, broken: false, ended: false };
        let status = connection.advance(ready, &mut self.worker);
        if moves(&self.worker) != before {
            self.worker.has_worked();
        }
        self.apply_status(status);
    }

    /// Does what the shard has asked for since the last wait.
    #[inline]
    fn settle(&mut self) {
        if self.worker.io.has_work() {
            for connect in self.worker.io.take_connects() {
                self.connect(connect);
            }
            self.worker.notify_writable();
        }
        self.apply_requests();
    }

    #[inline]
    fn apply_requests(&mut self) {
        while let Some((id, pending)) = self.worker.io.next_touched() {
            match &mut self.connection {
                Some(connection) if connection.state.id == id => {
                    let status = connection.apply(pending, &mut self.worker);
                    self.apply_status(status);
                }
                _ => self.worker.withdraw(id, pending),
            }
        }
    }

    #[inline]
    fn apply_status(&mut self, status: ConnectionStatus) {
        if let ConnectionStatus::Break(why) = status {
            self.close(why);
        }
    }

    fn close(&mut self, why: Closed) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        self.connect_by_ns = None;
        let lingers = matches!(why, Closed::Us) && connection.state.may_have_unread_bytes();
        let id = connection.state.id;
        self.worker.close(id, connection.state.reason_for_shard(why));
        if lingers {
            linger(&connection.socket, &mut self.worker.buffer);
        }
        self.worker.io.release(id.index);
        self.leave_slot();
    }

    fn connect(&mut self, connect: Connect) {
        let Connect { id, target, token } = connect;
        let begun = match &self.connection {
            // The slot's own connections come from its acceptor, at any time.
            None if self.slot.is_none() => socket::begin_connect(&target),
            _ => Err(only_one()),
        };
        match begun {
            Ok(socket) => {
                self.connection = Some(PolledConnection::new(socket, id, Some(token)));
                let timeout_ns = self.worker.options.connect_timeout_ns;
                self.connect_by_ns = Some(clock_ns().saturating_add(timeout_ns));
            }
            Err(error) => self.worker.fail_connect(id, token, error),
        }
    }

    fn end_connect(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let ended =
            socket::end_connect(&connection.socket).and_then(|()| prepare(&connection.socket));
        if let Err(error) = ended {
            return self.close(Closed::Failed(error));
        }
        let id = connection.state.id;
        let Some(token) = connection.state.connecting.take() else {
            return;
        };
        self.connect_by_ns = None;
        self.worker.has_worked();
        self.worker.io.begin();
        self.worker.open(id, Opened::Connected(token));
        let status = connection.write(&mut self.worker);
        self.apply_status(status);
    }

    fn expire(&mut self) {
        let Some(by_ns) = self.connect_by_ns else {
            return;
        };
        if by_ns <= self.worker.io.now_ns() {
            self.close(Closed::Failed(io::ErrorKind::TimedOut.into()));
        }
    }

    #[inline]
    fn may_leave(&mut self) -> bool {
        let connection = &self.connection;
        let alone = connection.is_none() && self.until == Until::Alone;
        let written = |io: &crate::IoContext| {
            connection
                .as_ref()
                .is_none_or(|connection| io.unwritten(connection.state.id).is_empty())
        };
        self.worker.may_leave(written) || (alone && !self.worker.io.has_work())
    }

    /// Closes what is still open and gives the shard back.
    fn finish(mut self) -> (S, IoStatistics) {
        self.close(Closed::Us);
        self.worker.finish()
    }
}

/// Makes a socket wait in plain reads, for a tick at most.
fn prepare(socket: &OwnedFd) -> io::Result<()> {
    Ok(kernel::wait_in_reads(socket, Duration::from_nanos(TICK_NS))?)
}

/// Drops what still comes on a connection that we have closed, until the peer has closed it too.
fn linger(socket: &OwnedFd, buffer: &mut [u8]) {
    if kernel::shut_down(socket).is_err() {
        return;
    }
    let until_ns = clock_ns() + LINGER_NS;
    while clock_ns() < until_ns {
        match kernel::receive(socket, buffer, RecvFlags::empty()) {
            Ok(1..) | Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

fn readiness(flags: PollFlags) -> Readiness {
    Readiness {
        readable: flags.contains(PollFlags::IN),
        writable: flags.contains(PollFlags::OUT),
        broken: flags.intersects(PollFlags::ERR | PollFlags::HUP),
        ended: false,
    }
}

/// Reads and writes so far.
fn moves<S>(worker: &Worker<S>) -> u64 {
    worker.io.statistics.reads + worker.io.statistics.writes
}

fn only_one() -> io::Error {
    let text = "the blocking driver has one connection at a time: use the epoll driver for more";
    io::Error::new(io::ErrorKind::Unsupported, text)
}
