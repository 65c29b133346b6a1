//! The blocking driver: one thread, one session at a time.
//!
//! Where nothing else can happen the thread sits in a plain read, which costs one system call less
//! a turn than asking first. It asks first (`ppoll` on the socket and the waker) while the shard
//! awaits others, while output waits, while reading is paused, and while a deadline is near.
//!
//! A plain read returns every [`TICK_NS`] so that the shard is woken for a call of its
//! [`Waker`] or for the end.

use crate::address::Target;
use crate::clock::{clock_ns, timespec};
use crate::connection::{Connection, Read, Readiness};
use crate::exchange::{Fate, LINGER_NS};
use crate::kernel;
use crate::mailbox::Mailbox;
use crate::options::{Options, Wait};
use crate::serve::Seats;
use crate::shard::{Closed, Opened, Shard};
use crate::socket;
use crate::statistics::Statistics;
use crate::turn::Connect;
use crate::waker::Waker;
use crate::worker::Worker;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long a plain read waits at most: the delay of a call or a stop that arrives meanwhile. Ten
/// returns a second cost nothing that can be measured.
pub const TICK_NS: u64 = 100_000_000;

/// Runs a client's shard until it stops or is stopped. [`Shard::woken`] is called once first; there
/// it asks for its connection with [`crate::Turn::connect`], one at a time: a second one ends in
/// [`Closed::NotConnected`].
///
/// # Errors
/// The machine's, where the kernel refuses to wait; not for anything a peer can do.
pub fn run<S: Shard>(shard: S, waker: Waker, options: Options) -> io::Result<(S, Statistics)> {
    Driver::new(shard, waker, options, Until::Stopped).run()
}

/// Connects to `target` with token 0 and runs the shard until it stops, is stopped, or its
/// connection is gone (or never came about) and it has asked for no other.
///
/// # Errors
/// The machine's, as of [`run`]. A target that cannot be reached is told to the shard.
pub fn connect_and_run<S: Shard>(
    target: impl Into<Target>,
    shard: S,
    waker: Waker,
    options: Options,
) -> io::Result<(S, Statistics)> {
    let mut driver = Driver::new(shard, waker, options, Until::Alone);
    driver.worker.turn.connect(target, 0);
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
    options: Options,
) -> io::Result<(S, Statistics)> {
    let socket = socket.into();
    socket::send_at_once(&socket)?;
    prepare(&socket)?;
    let mut driver = Driver::new(shard, waker, options, Until::Alone);
    driver.open_accepted(socket);
    driver.run()
}

/// Where a blocking thread of a server gets one connection after another.
#[derive(Debug)]
pub(crate) struct Seat {
    pub number: usize,
    pub arrivals: Mailbox<OwnedFd>,
    pub seats: Arc<Seats>,
}

/// Runs the shard for the connections that come to `seat`, until it stops or is stopped.
pub(crate) fn run_seat<S: Shard>(
    seat: Seat,
    shard: S,
    waker: Waker,
    options: Options,
) -> io::Result<(S, Statistics)> {
    let mut driver = Driver::new(shard, waker, options, Until::Stopped);
    driver.seat = Some(seat);
    driver.run()
}

/// When the loop ends although nobody has stopped it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Never.
    Stopped,
    /// When there is no connection.
    Alone,
}

struct Driver<S> {
    worker: Worker<S>,
    until: Until,
    connection: Option<Connection>,
    connect_by_ns: Option<u64>,
    seat: Option<Seat>,
}

impl<S: Shard> Driver<S> {
    fn new(shard: S, waker: Waker, options: Options, until: Until) -> Self {
        let worker = Worker::start(shard, waker, options);
        Self {
            worker,
            until,
            connection: None,
            connect_by_ns: None,
            seat: None,
        }
    }

    fn open_accepted(&mut self, socket: OwnedFd) {
        let Some(session) = self.worker.admit() else {
            return self.leave_seat();
        };
        self.connection = Some(Connection::new(socket, session, None));
        self.worker.turn.begin();
        self.worker
            .shard
            .opened(session, Opened::Accepted, &mut self.worker.turn);
    }

    fn run(mut self) -> io::Result<(S, Statistics)> {
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
            self.attend();
            self.expire();
            if self.worker.rouse() {
                self.take_arrival();
            }
        }
    }

    /// Takes the connection that the acceptor has sent here. It sends the next one only after
    /// [`Seats::leave`].
    fn take_arrival(&mut self) {
        let Some(seat) = &self.seat else { return };
        let mut arrived = Vec::new();
        seat.arrivals.drain_into(&mut arrived);
        for socket in arrived {
            match prepare(&socket) {
                Ok(()) => self.open_accepted(socket),
                Err(_) => {
                    self.worker.turn.statistics.accept_errors += 1;
                    self.leave_seat();
                }
            }
        }
    }

    fn leave_seat(&self) {
        if let Some(seat) = &self.seat {
            seat.seats.leave(seat.number);
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
            && connection.wants_to_read(&self.worker.turn, self.worker.options.backlog_limit_bytes)
            && !self.worker.shard.awaits_others()
    }

    #[inline]
    fn read_plainly(&mut self) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        let Worker { buffer, turn, .. } = &mut self.worker;
        let read = connection.read(buffer, RecvFlags::empty(), turn);
        self.worker.end_wait(!matches!(read, Read::Nothing));
        let fate = connection.handle(read, &mut self.worker);
        self.conclude(fate);
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
        let mut polled = [
            call,
            PollFd::new(&connection.socket, self.interest(connection)),
        ];
        socket::wait(&mut polled, timeout.as_ref())?;
        Ok((!polled[0].revents().is_empty(), polled[1].revents()))
    }

    fn interest(&self, connection: &Connection) -> PollFlags {
        let Worker { turn, options, .. } = &self.worker;
        let mut interest = PollFlags::empty();
        let reads = connection.wants_to_read(turn, options.backlog_limit_bytes);
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
        if connection.exchange.connecting.is_some() {
            return self.end_connect();
        }
        let fate = connection.advance(readiness(revents), &mut self.worker);
        self.conclude(fate);
    }

    /// Whether attempts are all it takes: without a connection to read from, the kernel is asked.
    #[inline]
    fn spins(&self) -> bool {
        let Worker { turn, options, .. } = &self.worker;
        let reads =
            |connection: &Connection| connection.wants_to_read(turn, options.backlog_limit_bytes);
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
        let ready = Readiness {
            readable: true,
            writable: true,
            broken: false,
            ended: false,
        };
        let fate = connection.advance(ready, &mut self.worker);
        if moves(&self.worker) != before {
            self.worker.has_worked();
        }
        self.conclude(fate);
    }

    /// Does what the shard has asked for since the last wait.
    #[inline]
    fn settle(&mut self) {
        if self.worker.turn.has_work() {
            for connect in self.worker.turn.take_connects() {
                self.connect(connect);
            }
            self.worker.tell_writable();
        }
        self.attend();
    }

    #[inline]
    fn attend(&mut self) {
        while let Some((session, wishes)) = self.worker.turn.next_touched() {
            match &mut self.connection {
                Some(connection) if connection.exchange.session == session => {
                    let fate = connection.grant(wishes, &mut self.worker);
                    self.conclude(fate);
                }
                _ => self.worker.withdraw(session, wishes),
            }
        }
    }

    #[inline]
    fn conclude(&mut self, fate: Fate) {
        if let Fate::Gone(why) = fate {
            self.close(why);
        }
    }

    fn close(&mut self, why: Closed) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        self.connect_by_ns = None;
        let lingers = matches!(why, Closed::Us) && connection.exchange.may_have_unread_bytes();
        let session = connection.exchange.session;
        self.worker.close(session, connection.exchange.told(why));
        if lingers {
            linger(&connection.socket, &mut self.worker.buffer);
        }
        self.worker.turn.release(session.index);
        self.leave_seat();
    }

    fn connect(&mut self, connect: Connect) {
        let Connect {
            session,
            target,
            token,
        } = connect;
        let begun = match &self.connection {
            // The seat's own connections come from its acceptor, at any time.
            None if self.seat.is_none() => socket::begin_connect(&target),
            _ => Err(only_one()),
        };
        match begun {
            Ok(socket) => {
                self.connection = Some(Connection::new(socket, session, Some(token)));
                let timeout_ns = self.worker.options.connect_timeout_ns;
                self.connect_by_ns = Some(clock_ns().saturating_add(timeout_ns));
            }
            Err(error) => self.worker.refuse(session, token, error),
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
        let session = connection.exchange.session;
        let Some(token) = connection.exchange.connecting.take() else {
            return;
        };
        self.connect_by_ns = None;
        self.worker.has_worked();
        self.worker.turn.begin();
        self.worker
            .shard
            .opened(session, Opened::Connected(token), &mut self.worker.turn);
        let fate = connection.write(&mut self.worker);
        self.conclude(fate);
    }

    fn expire(&mut self) {
        let Some(by_ns) = self.connect_by_ns else {
            return;
        };
        if by_ns <= self.worker.turn.now_ns() {
            self.close(Closed::Failed(io::ErrorKind::TimedOut.into()));
        }
    }

    #[inline]
    fn may_leave(&mut self) -> bool {
        let connection = &self.connection;
        let alone = connection.is_none() && self.until == Until::Alone;
        let written = |turn: &crate::Turn| {
            connection
                .as_ref()
                .is_none_or(|connection| turn.unwritten(connection.exchange.session).is_empty())
        };
        self.worker.may_leave(written) || (alone && !self.worker.turn.has_work())
    }

    /// Closes what is still open and gives the shard back.
    fn finish(mut self) -> (S, Statistics) {
        self.close(Closed::Us);
        self.worker.finish()
    }
}

/// Makes a socket wait in plain reads, for a tick at most.
fn prepare(socket: &OwnedFd) -> io::Result<()> {
    Ok(kernel::wait_in_reads(
        socket,
        Duration::from_nanos(TICK_NS),
    )?)
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
    worker.turn.statistics.reads + worker.turn.statistics.writes
}

fn only_one() -> io::Error {
    let text = "the blocking driver has one connection at a time: use the epoll driver for more";
    io::Error::new(io::ErrorKind::Unsupported, text)
}
