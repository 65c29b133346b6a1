//! On one thread, `auto` reads a connection without asking epoll while it is alone and busy.

use bookend_io::faults::{Armed, FailPoint, InjectedFault, SystemCall};
use bookend_io::{
    Address, AfterRead, Closed, ConnectionId, Io, IoContext, IoStatistics, Opened, Received,
    ServeOptions, Shard, ShutdownHandle, listen, serve,
};
use rustix::io::Errno;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const THREAD: &str = "lone";

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_secs(30);

struct Echo;

impl Shard for Echo {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}
    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        io.output(id).extend_from_slice(bytes);
        Received { consumed: bytes.len(), after: AfterRead::Continue }
    }
    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}
    fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {}
    fn woken(&mut self, _: &mut IoContext) {}
    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

struct Serving {
    address: SocketAddr,
    shutdown: ShutdownHandle,
    thread: JoinHandle<IoStatistics>,
}

impl Serving {
    fn with(io: Io) -> Self {
        let listener = listen(Address::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)))).unwrap();
        let address = listener.local_address().tcp().unwrap();
        let shutdown = ShutdownHandle::new();
        let mut options = ServeOptions::new(shutdown.clone());
        options.io = io;
        options.threads = NonZeroUsize::MIN;
        let thread = thread::Builder::new().name(THREAD.to_owned());
        let thread = thread.spawn(move || serve(listener, &options, |_| Echo).unwrap()).unwrap();
        Self { address, shutdown, thread }
    }

    fn client(&self) -> TcpStream {
        let client = TcpStream::connect(self.address).unwrap();
        client.set_nodelay(true).unwrap();
        client.set_read_timeout(Some(GUARD)).unwrap();
        client
    }

    fn stop(self) -> IoStatistics {
        self.shutdown.stop();
        self.thread.join().unwrap()
    }
}

/// Counts what the server calls, and has one kind of call fail, so often.
fn watch(call: SystemCall, times: u64) -> Armed {
    let fault = InjectedFault::Error(Errno::NOMEM);
    Armed::new(&[FailPoint { threads: &[THREAD], call, first: 1, times, fault }])
}

fn ask(client: &mut TcpStream, times: usize) {
    for _ in 0..times {
        let mut answer = [0; 2];
        client.write_all(b"hi").unwrap();
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"hi");
    }
}

/// How many more reads there were than waits of epoll, in so many questions.
fn reads_without_waits(armed: &Armed, client: &mut TcpStream, questions: usize) -> u64 {
    let count = || (armed.calls(SystemCall::Receive), armed.calls(SystemCall::EpollWait));
    let before = count();
    ask(client, questions);
    let after = count();
    (after.0 - before.0).saturating_sub(after.1 - before.1)
}

/// Asks until most reads come without a wait: how soon depends on the machine.
fn is_read_alone(armed: &Armed, client: &mut TcpStream) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < GUARD {
        if reads_without_waits(armed, client, 100) >= 50 {
            return true;
        }
    }
    false
}

#[test]
fn a_connection_that_is_alone_and_busy_is_read_without_epoll_until_another_comes() {
    let armed = watch(SystemCall::Receive, 0);
    let server = Serving::with(Io::Auto);
    let mut first = server.client();
    assert!(is_read_alone(&armed, &mut first));

    // The other one is served while the first goes on, and both by epoll.
    let mut other = server.client();
    let asking = thread::spawn(move || {
        ask(&mut other, 100);
        other
    });
    ask(&mut first, 100);
    let mut other = asking.join().unwrap();
    ask(&mut other, 1);
    assert!(reads_without_waits(&armed, &mut first, 200) <= 20);

    // Once it is gone, the first is alone again.
    drop(other);
    assert!(is_read_alone(&armed, &mut first));
    assert_eq!(server.stop().accepted, 2);
    assert_eq!(first.read(&mut [0]).unwrap(), 0, "closed cleanly");
}

#[test]
fn another_connection_is_accepted_while_the_first_is_silent_or_never_silent() {
    for is_silent in [true, false] {
        let armed = watch(SystemCall::Receive, 0);
        let server = Serving::with(Io::Auto);
        let mut first = server.client();
        assert!(is_read_alone(&armed, &mut first));
        thread::scope(|scope| {
            let other = scope.spawn(|| ask(&mut server.client(), 3));
            while !is_silent && !other.is_finished() {
                ask(&mut first, 10);
            }
            other.join().unwrap();
        });
        server.stop();
    }
}

#[test]
fn a_stop_is_heard_and_an_end_is_told_in_the_middle_of_a_read() {
    let armed = watch(SystemCall::Receive, 0);
    let server = Serving::with(Io::Auto);
    let mut client = server.client();
    assert!(is_read_alone(&armed, &mut client));
    drop(client);
    let mut next = server.client();
    assert!(is_read_alone(&armed, &mut next));
    server.stop();
    assert_eq!(next.read(&mut [0]).unwrap(), 0, "closed cleanly");
}

#[test]
fn epoll_is_asked_before_each_read_where_that_was_chosen_or_the_socket_cannot_wait() {
    for (io, failures) in [(Io::Epoll, 0), (Io::Auto, u64::MAX)] {
        let armed = watch(SystemCall::Option, failures);
        let server = Serving::with(io);
        let mut client = server.client();
        ask(&mut client, 600);
        assert!(reads_without_waits(&armed, &mut client, 600) <= 20, "{io:?}");
        assert_eq!(armed.hits() > 0, io == Io::Auto);
        server.stop();
    }
}
