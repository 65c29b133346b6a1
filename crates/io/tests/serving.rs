//! Whole servers: listeners, threads, hand-out, and the end of it all.

mod support;

use bookend_io::{
    Address, AfterRead, Closed, ConnectionId, Driver, Io, IoContext, IoOptions, IoStatistics,
    Opened, Received, ServeOptions, Shard, ShardPlace, ShutdownHandle, Wait, allowed_cpus, listen,
    serve,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use support::{CHOICES, is_as_chosen, loopback, peer};

/// Echoes, and says on which thread its connections are opened and closed.
struct Desk {
    place: (Driver, usize),
    reports: Sender<Report>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Report {
    Opened(Driver, usize),
    Closed(Driver, usize),
}

impl Shard for Desk {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {
        let _ = self.reports.send(Report::Opened(self.place.0, self.place.1));
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        assert_ne!(bytes, b"panic", "on purpose");
        io.output(id).extend_from_slice(bytes);
        Received { consumed: bytes.len(), after: AfterRead::Continue }
    }

    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}

    fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {
        let _ = self.reports.send(Report::Closed(self.place.0, self.place.1));
    }

    fn woken(&mut self, _: &mut IoContext) {}

    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

struct Serving {
    address: SocketAddr,
    shutdown: ShutdownHandle,
    reports: Receiver<Report>,
    thread: JoinHandle<IoStatistics>,
}

impl Serving {
    fn opened_on(&self) -> (Driver, usize) {
        match self.reports.recv().unwrap() {
            Report::Opened(driver, thread) => (driver, thread),
            Report::Closed(..) => panic!("no connection has ended"),
        }
    }

    fn stop(self) -> IoStatistics {
        self.shutdown.stop();
        self.thread.join().unwrap()
    }
}

fn serving(io: Io, threads: usize) -> Serving {
    serving_with(|options| {
        options.io = io;
        options.threads = NonZeroUsize::new(threads).unwrap();
    })
}

fn serving_with(choose: impl FnOnce(&mut ServeOptions)) -> Serving {
    let listener = listen(loopback()).unwrap();
    let address = listener.local_address().tcp().unwrap();
    let shutdown = ShutdownHandle::new();
    let mut options = ServeOptions::new(shutdown.clone());
    choose(&mut options);
    let (sender, reports) = channel();
    let thread = thread::spawn(move || {
        let make = |place: ShardPlace| {
            let name = format!("{}-{}", place.driver, place.thread);
            let own = thread::current().name() == Some(name.as_str());
            assert!(own || options.threads.get() == 1, "threads say what they are");
            let io = options.io;
            assert!(is_as_chosen(io, place.driver), "{io:?} {}", place.driver);
            Desk { place: (place.driver, place.thread), reports: sender.clone() }
        };
        serve(listener, &options, make).unwrap()
    });
    Serving { address, shutdown, reports, thread }
}

fn ask(client: &mut TcpStream, text: &[u8]) {
    let mut answer = vec![0; text.len()];
    client.write_all(text).unwrap();
    client.read_exact(&mut answer).unwrap();
    assert_eq!(answer, text);
}

#[test]
fn epoll_in_the_place_of_io_uring_is_named_as_epoll() {
    assert!(is_as_chosen(Io::Uring, Driver::Uring));
    assert!(!is_as_chosen(Io::Uring, Driver::Epoll));
}

#[test]
fn two_hundred_connections_are_served_by_every_choice_of_drivers() {
    for io in CHOICES {
        for threads in [1, 3] {
            let server = serving(io, threads);
            let mut clients: Vec<_> = (0..200).map(|_| peer(server.address)).collect();
            for client in &mut clients {
                client.write_all(b"all at once").unwrap();
            }
            for client in &mut clients {
                let mut answer = [0; 11];
                client.read_exact(&mut answer).unwrap();
                ask(client, b"once more");
            }
            let statistics = server.stop();
            assert_eq!(statistics.accepted, 200, "{io:?} on {threads}");
            assert_eq!(statistics.received_bytes, 200 * 20);
            assert_eq!(statistics.sent_bytes, 200 * 20);
            assert_eq!(statistics.accept_errors, 0);
        }
    }
}

#[test]
fn threads_that_serve_any_number_get_equally_many_connections() {
    for (io, driver) in [(Io::Epoll, Driver::Epoll), (Io::Uring, Driver::Uring)] {
        let server = serving(io, 3);
        let _clients: Vec<_> = (0..30).map(|_| peer(server.address)).collect();
        let mut counts = [0; 3];
        for _ in 0..30 {
            let (served_by, thread) = server.opened_on();
            assert_eq!(served_by, driver);
            counts[thread] += 1;
        }
        assert_eq!(counts, [10, 10, 10]);
        server.stop();
    }
}

/// More than it takes by far: both threads listen after some, then each has every second one.
const CONNECTIONS_TO_MEET_BOTH: usize = 800;

/// The address is known before both threads listen, so the first connections may all go to one.
/// From then on each goes to either by chance.
#[test]
fn threads_that_accept_for_themselves_all_get_connections_and_serve_them_all() {
    for (io, served_by) in
        [(Io::Epoll, Driver::Epoll), (Io::Uring, Driver::Uring), (Io::Auto, Driver::Epoll)]
    {
        let server = serving_with(|options| {
            options.io = io;
            options.threads = NonZeroUsize::new(2).unwrap();
            options.reuse_port = true;
        });
        let mut clients = Vec::new();
        let mut counts = [0; 2];
        while counts.contains(&0) {
            assert!(clients.len() < CONNECTIONS_TO_MEET_BOTH, "{counts:?}");
            clients.push(peer(server.address));
            let (driver, thread) = server.opened_on();
            assert_eq!(driver, served_by);
            counts[thread] += 1;
        }
        for client in &mut clients {
            ask(client, b"each of them");
        }
        let statistics = server.stop();
        let accepted = clients.len() as u64;
        assert_eq!((statistics.accepted, statistics.accept_errors), (accepted, 0));
        let gone = TcpStream::connect(clients[0].peer_addr().unwrap()).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::ConnectionRefused, "no queue is left");
    }
}

#[test]
fn no_other_socket_gets_a_port_that_a_server_shares_among_its_threads() {
    let server = serving_with(|options| {
        options.io = Io::Epoll;
        options.threads = NonZeroUsize::new(2).unwrap();
        options.reuse_port = true;
    });
    ask(&mut peer(server.address), b"it serves");
    let taken = listen(server.address).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AddrInUse);
    server.stop();
}

#[test]
fn listeners_of_their_own_are_refused_in_words_where_there_is_no_use_for_them() {
    let refuse = |io, address: Address| {
        let mut options = ServeOptions::new(ShutdownHandle::new());
        options.io = io;
        options.reuse_port = true;
        let make = |_: ShardPlace| -> Desk { unreachable!("nothing is served") };
        let error = serve(listen(address).unwrap(), &options, make).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        error.to_string()
    };
    let blocking = refuse(Io::Blocking, loopback().into());
    assert!(blocking.ends_with("SO_REUSEPORT is for epoll and uring"), "{blocking}");
    let folder = tempfile::tempdir().unwrap();
    let unix = refuse(Io::Epoll, Address::Unix(folder.path().join("echo")));
    assert!(unix.ends_with("SO_REUSEPORT is for TCP"), "{unix}");
}

/// Connections that the kernel has made and no thread has accepted when the server stops: each is
/// still accepted, and gets an orderly end, which a reset would not do.
#[test]
fn connections_in_the_queues_of_a_server_that_stops_are_accepted_and_closed() {
    for io in [Io::Epoll, Io::Uring] {
        let listener = listen(loopback()).unwrap();
        let address = listener.local_address().tcp().unwrap();
        let shutdown = ShutdownHandle::new();
        let mut options = ServeOptions::new(shutdown.clone());
        options.io = io;
        options.threads = NonZeroUsize::new(2).unwrap();
        options.reuse_port = true;
        let mut clients: Vec<_> = (0..64).map(|_| peer(address)).collect();
        shutdown.stop();
        let (sender, _told) = channel();
        let make = |place: ShardPlace| Desk {
            place: (place.driver, place.thread),
            reports: sender.clone(),
        };
        let statistics = serve(listener, &options, make).unwrap();
        assert_eq!((statistics.accepted, statistics.accept_errors), (64, 0));
        for client in &mut clients {
            assert_eq!(client.read_to_end(&mut Vec::new()).unwrap(), 0, "an end, and no reset");
        }
    }
}

#[test]
fn auto_on_one_thread_serves_every_connection_on_it() {
    let server = serving(Io::Auto, 1);
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(peer(server.address));
        assert_eq!(server.opened_on(), (Driver::Epoll, 0));
    }
    ask(&mut clients[2], b"served");
    server.stop();
}

#[test]
fn auto_on_more_threads_gives_the_first_connections_threads_of_their_own() {
    let server = serving(Io::Auto, 2);
    let mut clients = Vec::new();
    let mut places = Vec::new();
    for _ in 0..4 {
        clients.push(peer(server.address));
        places.push(server.opened_on());
    }
    assert_eq!(
        places,
        [(Driver::Blocking, 0), (Driver::Blocking, 1), (Driver::Epoll, 0), (Driver::Epoll, 1)]
    );

    // One of them leaves, and the next connection gets its thread.
    drop(clients.remove(1));
    assert_eq!(server.reports.recv().unwrap(), Report::Closed(Driver::Blocking, 1));
    let mut next = comes_until_blocking(&server);
    ask(&mut next, b"served");
    server.stop();
}

/// The thread says that it is free just after it has said that its connection is closed.
fn comes_until_blocking(server: &Serving) -> TcpStream {
    loop {
        let client = peer(server.address);
        if server.opened_on() == (Driver::Blocking, 1) {
            return client;
        }
        drop(client);
        assert!(matches!(server.reports.recv().unwrap(), Report::Closed(Driver::Epoll, _)));
    }
}

#[test]
fn accepted_connections_send_at_once() {
    // Linux hands TCP_NODELAY on from the listener; the drivers rely on it.
    let listener = listen(loopback()).unwrap();
    let _client = peer(listener.local_address().tcp().unwrap());
    let accepted = loop {
        match rustix::net::accept(&listener) {
            Ok(accepted) => break accepted,
            Err(error) => assert_eq!(error, rustix::io::Errno::AGAIN),
        }
    };
    assert!(rustix::net::sockopt::tcp_nodelay(&accepted).unwrap());
}

#[test]
fn a_server_can_be_stopped_before_it_has_begun() {
    for io in CHOICES {
        for threads in [1, 2] {
            let server = serving_with(|options| {
                options.io = io;
                options.threads = NonZeroUsize::new(threads).unwrap();
                options.shutdown.stop();
            });
            assert_eq!(server.thread.join().unwrap().accepted, 0);
        }
    }
}

#[test]
fn a_stop_closes_every_connection_and_joins_every_thread() {
    for io in CHOICES {
        let server = serving(io, 2);
        let mut clients: Vec<_> = (0..6).map(|_| peer(server.address)).collect();
        clients.iter_mut().for_each(|client| ask(client, b"served"));
        server.shutdown.stop();
        for mut client in clients {
            assert_eq!(client.read_to_end(&mut Vec::new()).unwrap(), 0, "closed cleanly");
        }
        server.thread.join().unwrap();
        let reports: Vec<_> = server.reports.iter().collect();
        let opened = reports.iter().filter(|report| matches!(report, Report::Opened(..))).count();
        assert_eq!((opened, reports.len() - opened), (6, 6), "each closed once");
    }
}

#[test]
fn a_shard_that_panics_takes_the_server_down_and_no_thread_hangs() {
    for io in CHOICES {
        let server = serving(io, 2);
        let mut other = peer(server.address);
        ask(&mut other, b"served");
        let mut client = peer(server.address);
        client.write_all(b"panic").unwrap();
        assert!(server.thread.join().is_err());
        // Reset or closed, but not left hanging.
        let _ = other.read(&mut [0]);
    }
}

#[test]
fn a_server_keeps_to_its_processors() {
    let cpu = allowed_cpus().unwrap()[0];
    for io in CHOICES {
        let server = serving_with(|options| {
            options.io = io;
            options.cpus = vec![cpu];
            options.driver = IoOptions { wait: Wait::Sleep, ..IoOptions::default() };
        });
        let mut client = peer(server.address);
        ask(&mut client, b"served");
        server.stop();
    }
    let listener = listen(loopback()).unwrap();
    let mut options = ServeOptions::new(ShutdownHandle::new());
    options.io = Io::Epoll;
    options.cpus = vec![usize::MAX];
    let (reports, _) = channel();
    let make =
        |place: ShardPlace| Desk { place: (place.driver, place.thread), reports: reports.clone() };
    assert!(serve(listener, &options, make).is_err(), "no such processor");
}
