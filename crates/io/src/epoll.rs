//! The epoll driver: one thread, any number of connections.

mod connecting;
mod timer;

use crate::clock::timespec;
use crate::connection_state::{ConnectionStatus, LINGER_NS};
use crate::driver_timeouts::{DriverTimeouts, Due, TimedEntry, entry_of, make_room};
use crate::kernel;
use crate::listener::{ACCEPT_BACK_OFF_NS, Accept, Listener};
use crate::mailbox::Mailbox;
use crate::options::IoOptions;
use crate::polled_connection::{PolledConnection, Readiness};
use crate::shard::{Closed, ConnectionId, Opened, Shard};
use crate::statistics::IoStatistics;
use crate::waker::Waker;
use crate::worker::{NextWake, Worker};
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::io;
use std::mem;
use timer::EpollTimer;

/// Sockets that one wait reports; the next wait reports the others, in their order.
const EVENTS_MAX: usize = 256;

/// Connections accepted in one turn, before the open ones are read again.
const ACCEPTS_A_TURN: usize = 64;

/// The assumed readiness of a connection that epoll has not reported.
const MAY_READ: Readiness =
    Readiness { readable: true, writable: false, broken: false, ended: false };

/// Interest of a socket that is read: bytes, and the end of the stream.
const TO_READ: EventFlags = EventFlags::IN.union(EventFlags::RDHUP);

const LISTENER_KEY: u64 = u64::MAX;
const WAKER_KEY: u64 = u64::MAX - 1;
const TIMER_KEY: u64 = u64::MAX - 2;

/// The epoll driver, ready to run a shard on the calling thread. Before Linux 5.11 its timers count
/// milliseconds.
#[derive(Debug)]
pub struct Epoll {
    poll: OwnedFd,
    timer: EpollTimer,
    waker: Waker,
    options: IoOptions,
    listener: Option<Listener>,
    arrivals: Option<Mailbox<OwnedFd>>,
}

impl Epoll {
    /// A driver that `waker` calls.
    ///
    /// # Errors
    /// The machine's, where no descriptor or memory is left.
    pub fn new(waker: Waker, options: IoOptions) -> io::Result<Self> {
        let poll = kernel::epoll_create()?;
        kernel::epoll_add(&poll, waker.event(), WAKER_KEY, EventFlags::IN)?;
        let timer = EpollTimer::new(&poll, TIMER_KEY);
        match kernel::epoll_wait(&poll, &mut Vec::with_capacity(1), Some(&timespec(0))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self { poll, timer, waker, options, listener: None, arrivals: None })
    }

    /// Accepts connections from `listener`.
    ///
    /// # Errors
    /// The machine's, where the kernel has no memory for it.
    pub fn accept_from(mut self, listener: Listener) -> io::Result<Self> {
        kernel::epoll_add(&self.poll, &listener, LISTENER_KEY, EventFlags::IN)?;
        self.listener = Some(listener);
        Ok(self)
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
    pub fn run<S: Shard>(self, shard: S) -> io::Result<(S, IoStatistics)> {
        let mut driver = EpollDriver {
            worker: Worker::start(shard, self.waker, self.options),
            timer: self.timer,
            poll: self.poll,
            entries: Vec::new(),
            timeouts: DriverTimeouts::default(),
            listener: self.listener,
            arrivals: self.arrivals,
            arrived: Vec::new(),
        };
        driver.run()?;
        Ok(driver.finish())
    }
}

struct EpollDriver<S> {
    worker: Worker<S>,
    poll: OwnedFd,
    timer: EpollTimer,
    /// By [`ConnectionId::index`].
    entries: Vec<Option<EpollConnection>>,
    timeouts: DriverTimeouts,
    listener: Option<Listener>,
    arrivals: Option<Mailbox<OwnedFd>>,
    arrived: Vec<OwnedFd>,
}

struct EpollConnection {
    connection: PolledConnection,
    interest: EventFlags,
    /// Closed for the shard; read on so that the peer gets our last bytes.
    lingering: bool,
}

impl EpollConnection {
    /// Whether nothing is unusual about it, and it is watched accordingly: its interest stands.
    #[inline]
    fn is_watched_as_plain(&self) -> bool {
        self.interest == TO_READ && self.connection.is_plain()
    }
}

impl<S: Shard> EpollDriver<S> {
    fn run(&mut self) -> io::Result<()> {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        // What the shard has said, if it was not called since.
        let mut deadline_ns = None;
        loop {
            if self.worker.io.has_work() || self.worker.io.stopping() {
                self.settle();
                if self.may_leave() {
                    return Ok(());
                }
                deadline_ns = None;
            }
            self.wait(&mut events, deadline_ns)?;
            for event in &events {
                self.on_event(event.data.u64(), event.flags);
                if self.worker.io.has_requests() {
                    self.apply_requests();
                }
            }
            self.expire();
            let next_ns = self.worker.shard_deadline_ns();
            deadline_ns = Some(next_ns);
            if self.worker.is_shard_due(next_ns) {
                self.wake_shard();
                deadline_ns = None;
            }
        }
    }

    fn wake_shard(&mut self) {
        if self.worker.wake_shard() {
            self.take_arrivals();
        }
    }

    #[inline]
    fn wait(&mut self, events: &mut Vec<Event>, shard_ns: Option<u64>) -> io::Result<()> {
        let own_deadline_ns = self.timeouts.next_ns(&mut self.entries);
        let shard_ns = shard_ns.unwrap_or_else(|| self.worker.shard_deadline_ns());
        let mut timeout_ns = match self.worker.next_wake(shard_ns, own_deadline_ns) {
            NextWake::AtOnce => Some(0),
            NextWake::Never => None,
            NextWake::Until { until_ns, now_ns } => self.timer.timeout_ns(until_ns, now_ns),
        };
        if timeout_ns != Some(0) && !self.worker.waker.fall_asleep() {
            timeout_ns = Some(0);
        }
        let timeout: Option<Timespec> = timeout_ns.map(timespec);
        match kernel::epoll_wait(&self.poll, events, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.worker.end_wait(!events.is_empty());
        Ok(())
    }

    #[inline]
    fn on_event(&mut self, key: u64, flags: EventFlags) {
        match key {
            WAKER_KEY => self.worker.waker.clear(),
            TIMER_KEY => self.timer.rang(),
            LISTENER_KEY => self.accept(),
            key => self.on_socket(key, flags),
        }
    }

    #[inline]
    fn on_socket(&mut self, key: u64, flags: EventFlags) {
        let index = key as u32;
        let Some(entry) = entry_of(&mut self.entries, key) else {
            return;
        };
        if entry.lingering {
            return self.drop_input(index);
        }
        if entry.connection.state.connecting.is_some() {
            return self.end_connect(index, readiness(flags));
        }
        let status = entry.connection.advance(readiness(flags), &mut self.worker);
        self.apply_status_before_output(index, status);
    }

    /// Like `apply_status`, but where the shard has asked for something the interest is updated
    /// only after that: a write that blocks would change it again.
    #[inline(always)]
    fn apply_status_before_output(&mut self, index: u32, status: ConnectionStatus) {
        match status {
            ConnectionStatus::Continue(()) if self.worker.io.is_touched(index) => {}
            status => self.apply_status(index, status),
        }
    }

    /// Applies what the shard has asked for since the last wait.
    fn settle(&mut self) {
        self.worker.notify_writable();
        self.apply_requests();
    }

    /// Applies what the shard has asked for right after its call: a connection that replaces
    /// another does not wait for the remaining events. Connects that are requested during these
    /// connects wait for the next turn, so that no shard keeps the thread to itself.
    #[inline]
    fn apply_requests(&mut self) {
        self.apply_pending();
        if self.worker.io.has_connects() {
            self.begin_connects();
        }
    }

    fn begin_connects(&mut self) {
        for connect in self.worker.io.take_connects() {
            self.connect(connect);
        }
        self.apply_pending();
    }

    /// Applies what the shard asked of its connections.
    fn apply_pending(&mut self) {
        while let Some((id, pending)) = self.worker.io.next_touched() {
            let Some(entry) = entry_of(&mut self.entries, id.key()) else {
                self.worker.withdraw(id, pending);
                continue;
            };
            match entry.connection.apply(pending, &mut self.worker) {
                ConnectionStatus::Continue(()) if entry.is_watched_as_plain() => {}
                status => self.apply_status(id.index, status),
            }
        }
    }

    #[inline]
    fn apply_status(&mut self, index: u32, status: ConnectionStatus) {
        match status {
            ConnectionStatus::Continue(()) => self.update_interest(index),
            ConnectionStatus::Break(why) => self.close(index, why),
        }
    }

    #[inline]
    fn update_interest(&mut self, index: u32) {
        let Some(Some(entry)) = self.entries.get_mut(index as usize) else {
            return;
        };
        let Worker { io, options, .. } = &self.worker;
        let mut interest = EventFlags::empty();
        interest.set(
            TO_READ,
            entry.lingering || entry.connection.wants_to_read(io, options.backlog_limit_bytes),
        );
        interest.set(EventFlags::OUT, entry.connection.wants_to_write());
        if interest != entry.interest {
            entry.interest = interest;
            let key = entry.connection.state.id.key();
            let socket = &entry.connection.socket;
            if let Err(error) = kernel::epoll_modify(&self.poll, socket, key, interest) {
                self.lose(index, error);
            }
        }
    }

    /// Closes a connection whose interest could not be changed: it would wait for ever.
    #[cold]
    fn lose(&mut self, index: u32, error: Errno) {
        match &self.entries[index as usize] {
            Some(entry) if entry.lingering => self.forget(index),
            _ => self.close(index, Closed::Failed(error.into())),
        }
    }

    fn close(&mut self, index: u32, why: Closed) {
        let Some(mut entry) = self.entries[index as usize].take() else {
            return;
        };
        let id = entry.connection.state.id;
        let lingers = matches!(why, Closed::Us)
            && entry.connection.state.may_have_unread_bytes()
            && self.may_linger(id);
        let why = entry.connection.state.reason_for_shard(why);
        if lingers {
            let _ = kernel::shut_down(&entry.connection.socket);
            entry.lingering = true;
            entry.connection.blocked = false;
            self.entries[index as usize] = Some(entry);
            self.update_interest(index);
            self.worker.close(id, why);
            return;
        }
        drop(entry);
        self.worker.close(id, why);
        self.worker.io.release(index);
    }

    /// Sets the timeout of a lingering connection.
    fn may_linger(&mut self, id: ConnectionId) -> bool {
        let until_ns = self.worker.io.now_ns() + LINGER_NS;
        self.timeouts.linger_until(until_ns, id).is_ok()
    }

    /// Drops what arrives on a connection that we have closed, until the peer has closed it too.
    fn drop_input(&mut self, index: u32) {
        let Some(entry) = &self.entries[index as usize] else {
            return;
        };
        let buffer = &mut self.worker.buffer;
        match kernel::receive(&entry.connection.socket, buffer, RecvFlags::DONTWAIT) {
            Ok(1..) | Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(0) | Err(_) => self.forget(index),
        }
    }

    fn forget(&mut self, index: u32) {
        self.entries[index as usize] = None;
        self.worker.io.release(index);
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS_A_TURN {
            let Some(listener) = &self.listener else {
                return;
            };
            if self.timeouts.accept_at_ns.is_some() {
                return;
            }
            match listener.accept() {
                Accept::Connection(socket) => self.open_accepted(socket),
                Accept::Lost => {}
                Accept::Nobody => return,
                Accept::Exhausted => return self.back_off(),
            }
        }
    }

    /// Pauses accepting for a while.
    fn back_off(&mut self) {
        self.worker.io.statistics.accept_errors += 1;
        self.pause_accepting();
        // Where this fails, events of the listener still arrive and are ignored.
        let _ = self.watch_listener(EventFlags::empty());
    }

    fn pause_accepting(&mut self) {
        self.timeouts.accept_at_ns = Some(self.worker.io.now_ns() + ACCEPT_BACK_OFF_NS);
    }

    /// Accepts again after a pause.
    fn resume_accepting(&mut self) {
        if self.watch_listener(EventFlags::IN).is_err() {
            self.pause_accepting();
        }
    }

    fn watch_listener(&self, interest: EventFlags) -> Result<(), Errno> {
        match &self.listener {
            Some(listener) => kernel::epoll_modify(&self.poll, listener, LISTENER_KEY, interest),
            None => Ok(()),
        }
    }

    fn open_accepted(&mut self, socket: OwnedFd) {
        let Some(id) = self.worker.admit(&socket) else {
            return;
        };
        if self.register(socket, id, None, TO_READ).is_err() {
            return self.worker.reject_accepted(id);
        }
        self.worker.io.begin();
        self.worker.open(id, Opened::Accepted);
        self.read_first(id.index);
    }

    /// Reads what arrived with a new connection: a client that does not wait for our preface gets
    /// its first answer in the same write.
    fn read_first(&mut self, index: u32) {
        let Some(entry) = &mut self.entries[index as usize] else {
            return;
        };
        let Worker { io, options, .. } = &self.worker;
        let unwritten = io.unwritten(entry.connection.state.id);
        if unwritten.len() > options.backlog_limit_bytes {
            return;
        }
        let status = entry.connection.advance(MAY_READ, &mut self.worker);
        self.apply_status_before_output(index, status);
    }

    fn take_arrivals(&mut self) {
        let Some(arrivals) = &self.arrivals else {
            return;
        };
        let mut arrived = mem::take(&mut self.arrived);
        arrivals.drain_into(&mut arrived);
        for socket in arrived.drain(..) {
            self.open_accepted(socket);
        }
        self.arrived = arrived;
    }

    fn register(
        &mut self,
        socket: OwnedFd,
        id: ConnectionId,
        connecting: Option<u64>,
        interest: EventFlags,
    ) -> io::Result<()> {
        let index = id.index as usize;
        make_room(&mut self.entries, index)?;
        kernel::epoll_add(&self.poll, &socket, id.key(), interest)?;
        let connection = PolledConnection::new(socket, id, connecting);
        self.entries[index] = Some(EpollConnection { connection, interest, lingering: false });
        Ok(())
    }

    /// Ends what has taken too long.
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
            Due::Accept => self.resume_accepting(),
        }
    }

    #[inline]
    fn may_leave(&mut self) -> bool {
        self.worker.io.stopping() && self.has_drained()
    }

    #[cold]
    fn has_drained(&mut self) -> bool {
        self.stop_accepting();
        let entries = &self.entries;
        self.worker.may_leave(|io| {
            entries
                .iter()
                .flatten()
                .filter(|entry| !entry.lingering)
                .all(|entry| io.unwritten(entry.connection.state.id).is_empty())
        })
    }

    /// Accepts the connections in the queue, then closes the listener.
    #[cold]
    fn stop_accepting(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        self.timeouts.accept_at_ns = None;
        let _ = epoll::delete(&self.poll, &listener);
        let errors = listener.accept_waiting(|socket| {
            self.open_accepted(socket);
            self.apply_requests();
        });
        self.worker.io.statistics.accept_errors += errors;
    }

    /// Closes what is still open and gives the shard back.
    fn finish(mut self) -> (S, IoStatistics) {
        for index in 0..self.entries.len() {
            match &self.entries[index] {
                Some(entry) if !entry.lingering => self.close(index as u32, Closed::Us),
                _ => {}
            }
        }
        self.worker.finish()
    }
}

impl TimedEntry for EpollConnection {
    #[inline]
    fn id(&self) -> ConnectionId {
        self.connection.state.id
    }

    fn awaits_connect(&self) -> bool {
        self.connection.state.connecting.is_some()
    }

    fn lingers(&self) -> bool {
        self.lingering
    }
}

fn readiness(flags: EventFlags) -> Readiness {
    Readiness {
        readable: flags.contains(EventFlags::IN),
        writable: flags.contains(EventFlags::OUT),
        broken: flags.intersects(EventFlags::ERR | EventFlags::HUP),
        // A connection that was reset has ended too, and is reported as reset.
        ended: flags.contains(EventFlags::RDHUP)
            && !flags.intersects(EventFlags::ERR | EventFlags::HUP),
    }
}
