//! Unix sockets, at both ends and on every driver, and the files that they are.

mod support;

use bookend_io::{
    Address, AfterRead, Closed, ConnectionId, Io, IoContext, IoOptions, IoStatistics, Opened,
    Received, ServeOptions, Shard, ShardPlace, ShutdownHandle, UNIX_PATH_BYTES_MAX, listen, serve,
};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::num::NonZeroUsize;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread::{self, JoinHandle};
use support::{CHOICES, Event, KINDS, Why, connecting, dialling, is_as_chosen, listens};
use tempfile::TempDir;

struct Echo;

impl Shard for Echo {
    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        io.output(id).extend_from_slice(bytes);
        Received { consumed: bytes.len(), after: AfterRead::Continue }
    }
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}
    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}
    fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {}
    fn woken(&mut self, _: &mut IoContext) {}
    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

/// A folder that goes with the test, and a path in it.
struct Place {
    _folder: TempDir,
    path: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("echo");
        Self { _folder: folder, path }
    }

    fn address(&self) -> Address {
        Address::Unix(self.path.clone())
    }

    /// A socket that its server has left behind.
    fn leave_behind(&self) {
        drop(UnixListener::bind(&self.path).unwrap());
        assert!(self.path.exists(), "std removes nothing");
    }
}

fn start(path: &Path, io: Io, threads: usize) -> (ShutdownHandle, JoinHandle<IoStatistics>) {
    let listener = listen(Address::Unix(path.to_owned())).unwrap();
    let shutdown = ShutdownHandle::new();
    let mut options = ServeOptions::new(shutdown.clone());
    options.io = io;
    options.threads = NonZeroUsize::new(threads).unwrap();
    let make = move |place: ShardPlace| {
        assert!(is_as_chosen(io, place.driver), "{io:?} {}", place.driver);
        Echo
    };
    let thread = thread::spawn(move || serve(listener, &options, make).unwrap());
    (shutdown, thread)
}

fn echoes(path: &Path) -> UnixStream {
    let mut client = UnixStream::connect(path).unwrap();
    let mut answer = [0; 5];
    client.write_all(b"hello").unwrap();
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"hello");
    client
}

fn refusal(path: &Path) -> (ErrorKind, String) {
    let error = listen(Address::Unix(path.to_owned())).unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn every_choice_of_drivers_serves_a_unix_socket_and_removes_its_file() {
    for io in CHOICES {
        for threads in [1, 2] {
            let place = Place::new();
            let (shutdown, thread) = start(&place.path, io, threads);
            let clients: Vec<_> = (0..8).map(|_| echoes(&place.path)).collect();
            shutdown.stop();
            let statistics = thread.join().unwrap();
            assert_eq!((statistics.accepted, statistics.sent_bytes), (8, 40));
            assert_eq!(statistics.accept_errors, 0, "{io:?}");
            drop(clients);
            assert!(!place.path.exists(), "{io:?} on {threads}");
        }
    }
}

#[test]
fn every_driver_connects_to_a_unix_socket() {
    for kind in KINDS {
        let place = Place::new();
        let server = UnixListener::bind(&place.path).unwrap();
        let say = |event: &Event, stage: &mut support::Stage| {
            if let Event::Opened(id, _) = event {
                stage.io.output(*id).extend_from_slice(b"hello");
            }
        };
        let client = connecting(kind, IoOptions::default(), dialling(place.address(), say));
        client.opened();
        let (mut peer, _) = server.accept().unwrap();
        let mut heard = [0; 5];
        peer.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"hello", "{kind:?}");
        drop(peer);
        assert_eq!(client.closed(), Why::Peer);
        client.stop();
    }
}

#[test]
fn every_driver_connects_to_a_socket_that_has_a_name_and_no_file() {
    for kind in KINDS {
        let name = format!("bookend test {} {kind:?}", std::process::id());
        let address = net::SocketAddr::from_abstract_name(&name).unwrap();
        let server = UnixListener::bind_addr(&address).unwrap();
        let target = Address::Unix(format!("\0{name}").into());
        let client = connecting(kind, IoOptions::default(), dialling(target.clone(), listens));
        client.opened();
        drop(server.accept().unwrap());
        assert_eq!(client.closed(), Why::Peer);
        client.stop();
        drop(server);
        let client = connecting(kind, IoOptions::default(), dialling(target, listens));
        assert_eq!(client.closed(), Why::NotConnected(7, ErrorKind::ConnectionRefused));
        client.stop();
    }
}

#[test]
fn a_socket_that_is_missing_or_without_a_listener_cannot_be_connected_to() {
    for kind in KINDS {
        let place = Place::new();
        let fails = |kind_of_error| {
            let client = connecting(kind, IoOptions::default(), dialling(place.address(), listens));
            assert_eq!(client.closed(), Why::NotConnected(7, kind_of_error), "{kind:?}");
            client.stop();
        };
        fails(ErrorKind::NotFound);
        place.leave_behind();
        fails(ErrorKind::ConnectionRefused);
    }
}

#[test]
fn a_full_queue_is_not_waited_for_and_the_error_says_so() {
    for kind in KINDS {
        let place = Place::new();
        let server = rustix::net::socket(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
            None,
        )
        .unwrap();
        let address = rustix::net::SocketAddrUnix::new(&place.path).unwrap();
        rustix::net::bind(&server, &address).unwrap();
        rustix::net::listen(&server, 0).unwrap();
        let _first = UnixStream::connect(&place.path).unwrap();
        let client = connecting(kind, IoOptions::default(), dialling(place.address(), listens));
        let full = Why::NotConnected(7, ErrorKind::WouldBlock);
        assert_eq!(client.closed(), full, "{kind:?}");
        client.stop();
    }
}

#[test]
fn a_path_that_is_too_long_is_no_target_either() {
    for kind in KINDS {
        let long = Address::Unix("/".repeat(UNIX_PATH_BYTES_MAX + 1).into());
        let client = connecting(kind, IoOptions::default(), dialling(long, listens));
        let told = Why::NotConnected(7, ErrorKind::InvalidFilename);
        assert_eq!(client.closed(), told, "{kind:?}");
        client.stop();
    }
}

#[test]
fn a_socket_that_was_left_behind_is_replaced() {
    for io in CHOICES {
        let place = Place::new();
        place.leave_behind();
        let (shutdown, thread) = start(&place.path, io, 1);
        echoes(&place.path);
        shutdown.stop();
        assert_eq!(thread.join().unwrap().accepted, 1, "{io:?}");
    }
}

#[test]
fn a_socket_that_is_served_is_left_alone_and_the_error_names_its_server() {
    let who = format!("is taken: process {} (", std::process::id());
    for io in CHOICES {
        let place = Place::new();
        let (shutdown, thread) = start(&place.path, io, 1);
        let (kind, text) = refusal(&place.path);
        assert_eq!(kind, ErrorKind::AddrInUse, "{io:?}");
        assert!(text.contains(&who) && text.ends_with(") listens there"), "{text}");
        echoes(&place.path);
        shutdown.stop();
        thread.join().unwrap();
    }
}

#[test]
fn a_file_that_is_no_socket_stays_and_is_named() {
    let place = Place::new();
    fs::write(&place.path, "precious").unwrap();
    let (kind, text) = refusal(&place.path);
    assert_eq!(kind, ErrorKind::AlreadyExists);
    assert!(text.ends_with("exists and is no socket: remove it, or choose another path"));
    assert_eq!(fs::read_to_string(&place.path).unwrap(), "precious");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let place = Place::new();
    let path = place.path.join("deeper");
    let (kind, text) = refusal(&path);
    assert_eq!(kind, ErrorKind::NotFound);
    assert!(text.starts_with(&path.display().to_string()), "{text}");
}

#[test]
fn a_listener_does_not_remove_the_file_of_the_next_one() {
    let place = Place::new();
    let first = listen(place.address()).unwrap();
    fs::remove_file(&place.path).unwrap();
    let second = listen(place.address()).unwrap();
    drop(first);
    assert!(place.path.exists());
    drop(second);
    assert!(!place.path.exists());
}

#[test]
fn of_many_servers_at_once_one_gets_the_socket_that_was_left_behind() {
    const COMERS: usize = 8;
    for _ in 0..20 {
        let place = Place::new();
        place.leave_behind();
        let barrier = Barrier::new(COMERS);
        let come = || {
            barrier.wait();
            let listener = listen(place.address());
            // Whoever has it keeps it until all have come.
            barrier.wait();
            listener.is_ok()
        };
        let winners = thread::scope(|scope| {
            let comers: Vec<_> = (0..COMERS).map(|_| scope.spawn(come)).collect();
            let came = comers.into_iter().map(|comer| comer.join().unwrap());
            came.filter(|has_it| *has_it).count()
        });
        assert_eq!(winners, 1);
    }
}
