//! Shards that do what a test says and record their calls, and the peers they talk to.

// Each test file uses a part of it.
#![allow(dead_code)]

use bookend_io::{
    AfterRead, Closed, ConnectionId, Driver, Epoll, Io, IoContext, IoOptions, IoStatistics,
    Listener, Opened, Received, Shard, Target, Uring, Waker, blocking, listen,
};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Ends a test that would hang; no test comes near it.
const GUARD: Duration = Duration::from_secs(30);

/// The drivers; most stories run on each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Epoll,
    Uring,
    Blocking,
}

pub const KINDS: [Kind; 3] = [Kind::Epoll, Kind::Uring, Kind::Blocking];

/// Every choice of drivers for a server.
pub const CHOICES: [Io; 4] = [Io::Auto, Io::Blocking, Io::Epoll, Io::Uring];

/// Whether a server's shard runs on what was chosen. Where io_uring cannot be used it does not, and
/// a story of io_uring that ran on epoll would be no story: the test fails.
pub fn is_as_chosen(io: Io, driver: Driver) -> bool {
    match io {
        Io::Auto => driver != Driver::Uring,
        Io::Blocking => driver == Driver::Blocking,
        Io::Epoll => driver == Driver::Epoll,
        Io::Uring => driver == Driver::Uring,
    }
}

/// Runs a shard that makes its connections itself until it stops.
pub fn drive<S: Shard>(
    kind: Kind,
    shard: S,
    waker: Waker,
    options: IoOptions,
) -> (S, IoStatistics) {
    match kind {
        Kind::Epoll => Epoll::new(waker, options).unwrap().run(shard),
        Kind::Uring => Uring::new(waker, options).unwrap().run(shard),
        Kind::Blocking => blocking::run(shard, waker, options),
    }
    .unwrap()
}

/// A call that a shard got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Opened(ConnectionId, Opened),
    Received(ConnectionId, Vec<u8>),
    Writable(ConnectionId),
    Closed(ConnectionId, Why),
    Woken { stopping: bool },
}

/// [`Closed`], comparable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Peer,
    Us,
    Failed(io::ErrorKind),
    NotConnected(u64, io::ErrorKind),
}

/// What a test has its shard do. The closure is called after the event was noted.
pub struct Scripted<F> {
    pub act: F,
    pub events: Sender<Event>,
    pub deadline_ns: Option<u64>,
    pub has_outstanding: bool,
}

/// What the closure may change besides the turn.
pub struct Stage<'a> {
    pub io: &'a mut IoContext,
    pub deadline_ns: &'a mut Option<u64>,
    pub has_outstanding: &'a mut bool,
    /// The answer to `received`; the default is everything, and to go on.
    pub consumed: Option<usize>,
    pub after: AfterRead,
}

impl<F: FnMut(&Event, &mut Stage)> Scripted<F> {
    fn play(&mut self, event: Event, io: &mut IoContext) -> (Option<usize>, AfterRead) {
        let mut stage = Stage {
            io,
            deadline_ns: &mut self.deadline_ns,
            has_outstanding: &mut self.has_outstanding,
            consumed: None,
            after: AfterRead::Continue,
        };
        (self.act)(&event, &mut stage);
        let answer = (stage.consumed, stage.after);
        // A test that has seen enough no longer listens.
        let _ = self.events.send(event);
        answer
    }
}

impl<F: FnMut(&Event, &mut Stage)> Shard for Scripted<F> {
    fn opened(&mut self, id: ConnectionId, how: Opened, io: &mut IoContext) {
        self.play(Event::Opened(id, how), io);
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let (consumed, after) = self.play(Event::Received(id, bytes.to_vec()), io);
        Received { consumed: consumed.unwrap_or(bytes.len()), after }
    }

    fn writable(&mut self, id: ConnectionId, io: &mut IoContext) {
        self.play(Event::Writable(id), io);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed, io: &mut IoContext) {
        let why = match why {
            Closed::Peer => Why::Peer,
            Closed::Us => Why::Us,
            Closed::Failed(error) => Why::Failed(error.kind()),
            Closed::NotConnected(token, error) => Why::NotConnected(token, error.kind()),
        };
        self.play(Event::Closed(id, why), io);
    }

    fn woken(&mut self, io: &mut IoContext) {
        let stopping = io.stopping();
        self.play(Event::Woken { stopping }, io);
    }

    fn next_deadline(&self) -> Option<u64> {
        self.deadline_ns
    }

    fn has_outstanding(&self) -> bool {
        self.has_outstanding
    }
}

/// A driver at work on a thread of its own.
pub struct Running {
    pub address: SocketAddr,
    pub waker: Waker,
    pub events: Receiver<Event>,
    thread: JoinHandle<IoStatistics>,
}

impl Running {
    /// The next call of the shard, wake-ups left out.
    pub fn next(&self) -> Event {
        self.find(|event| !matches!(event, Event::Woken { .. }))
    }

    /// The next call of the shard of that kind.
    pub fn find(&self, wanted: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.events.recv_timeout(GUARD).expect("the shard is called");
            if wanted(&event) {
                return event;
            }
        }
    }

    pub fn opened(&self) -> ConnectionId {
        match self.find(|event| matches!(event, Event::Opened(..))) {
            Event::Opened(id, _) => id,
            other => unreachable!("{other:?}"),
        }
    }

    pub fn closed(&self) -> Why {
        match self.find(|event| matches!(event, Event::Closed(..))) {
            Event::Closed(_, why) => why,
            other => unreachable!("{other:?}"),
        }
    }

    /// Bytes received until there are `count` of them.
    pub fn received(&self, count: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < count {
            if let Event::Received(_, bytes) = self.next() {
                all.extend(bytes);
            }
        }
        all
    }

    pub fn stop(self) -> IoStatistics {
        self.waker.stop();
        self.join()
    }

    /// Waits for a driver that ends of itself.
    pub fn join(self) -> IoStatistics {
        self.thread.join().expect("the shard's assertions hold")
    }
}

pub fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

/// A blocking peer that fails rather than hang.
pub fn peer(address: SocketAddr) -> TcpStream {
    guard(TcpStream::connect(address).unwrap())
}

pub fn guard(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(GUARD)).unwrap();
    stream.set_write_timeout(Some(GUARD)).unwrap();
    stream
}

/// Has the other end see a reset.
pub fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}

fn scripted<F: FnMut(&Event, &mut Stage)>(act: F) -> (Scripted<F>, Receiver<Event>) {
    let (sender, events) = channel();
    (Scripted { act, events: sender, deadline_ns: None, has_outstanding: false }, events)
}

/// A shard that connections are accepted for. The blocking one ends with its connection.
pub fn accepting(
    kind: Kind,
    options: IoOptions,
    act: impl FnMut(&Event, &mut Stage) + Send + 'static,
) -> Running {
    accepting_as(kind, Waker::new().unwrap(), options, act)
}

/// The same, with a waker that somebody else has already.
pub fn accepting_with(
    kind: Kind,
    waker: Waker,
    act: impl FnMut(&Event, &mut Stage) + Send + 'static,
) -> Running {
    accepting_as(kind, waker, IoOptions::default(), act)
}

fn accepting_as(
    kind: Kind,
    waker: Waker,
    options: IoOptions,
    act: impl FnMut(&Event, &mut Stage) + Send + 'static,
) -> Running {
    let (shard, events) = scripted(act);
    let called = waker.clone();
    let (address, thread) = match kind {
        Kind::Epoll => {
            let (listener, address) = listener();
            let driver = Epoll::new(called, options).unwrap().accept_from(listener).unwrap();
            (address, thread::spawn(move || driver.run(shard).unwrap().1))
        }
        Kind::Uring => {
            let (listener, address) = listener();
            let driver = Uring::new(called, options).unwrap().accept_from(listener);
            (address, thread::spawn(move || driver.run(shard).unwrap().1))
        }
        Kind::Blocking => {
            let listener = TcpListener::bind(loopback()).unwrap();
            let address = listener.local_addr().unwrap();
            let thread = thread::spawn(move || {
                let (accepted, _) = listener.accept().unwrap();
                blocking::run_accepted(accepted, shard, called, options).unwrap().1
            });
            (address, thread)
        }
    };
    Running { address, waker, events, thread }
}

fn listener() -> (Listener, SocketAddr) {
    let listener = listen(loopback()).unwrap();
    let address = listener.local_address().tcp().unwrap();
    (listener, address)
}

/// A shard that makes its connections itself; all drivers run until it is stopped.
pub fn connecting(
    kind: Kind,
    options: IoOptions,
    act: impl FnMut(&Event, &mut Stage) + Send + 'static,
) -> Running {
    connecting_as(kind, Waker::new().unwrap(), options, act)
}

/// The same, with a waker that somebody else has already.
pub fn connecting_with(
    kind: Kind,
    waker: Waker,
    act: impl FnMut(&Event, &mut Stage) + Send + 'static,
) -> Running {
    connecting_as(kind, waker, IoOptions::default(), act)
}

fn connecting_as(
    kind: Kind,
    waker: Waker,
    options: IoOptions,
    act: impl FnMut(&Event, &mut Stage) + Send + 'static,
) -> Running {
    let (shard, events) = scripted(act);
    let called = waker.clone();
    let thread = thread::spawn(move || drive(kind, shard, called, options).1);
    Running { address: loopback(), waker, events, thread }
}

/// Connects to `target` with token 7 when it is woken for the first time.
pub fn dialling(
    target: impl Into<Target>,
    mut act: impl FnMut(&Event, &mut Stage) + Send + 'static,
) -> impl FnMut(&Event, &mut Stage) + Send + 'static {
    let mut target = Some(target.into());
    move |event, stage| {
        if let Some(target) = target.take() {
            stage.io.connect(target, 7);
        }
        act(event, stage);
    }
}

/// Gives back what it is given.
pub fn echo(event: &Event, stage: &mut Stage) {
    if let Event::Received(id, bytes) = event {
        stage.io.output(*id).extend_from_slice(bytes);
    }
}

/// Does nothing.
pub fn listens(_: &Event, _: &mut Stage) {}

/// Bytes of which each says where it stands.
pub fn pattern(count: usize) -> Vec<u8> {
    let block: Vec<u8> = (0..251).collect();
    let mut bytes = block.repeat(count / block.len() + 1);
    bytes.truncate(count);
    bytes
}
