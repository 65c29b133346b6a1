//! No descriptors left. Alone in its file: the limit is the whole process's.

mod support;

use bookend_io::{
    AfterRead, Closed, ConnectionId, Io, IoContext, IoStatistics, Opened, Received, ServeOptions,
    Shard, ShutdownHandle, listen, serve,
};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketType, connect, socket};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::thread::{self, JoinHandle};
use support::{guard, loopback, peer};

/// Answers each byte with the number of accepts that have failed so far.
struct CountsErrors;

impl Shard for CountsErrors {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let errors = io.statistics().accept_errors.min(9) as u8;
        io.output(id).resize(bytes.len(), errors);
        Received { consumed: bytes.len(), after: AfterRead::Continue }
    }

    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}

    fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {}

    fn woken(&mut self, _: &mut IoContext) {}

    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

#[test]
fn a_server_without_descriptors_backs_off_and_then_goes_on() {
    for io in [Io::Epoll, Io::Uring] {
        backs_off(io);
    }
}

fn backs_off(io: Io) {
    let (alone, together) = (NonZeroUsize::MIN, NonZeroUsize::new(2).unwrap());

    let (address, shutdown, server) = start(io, alone);
    let mut first = peer(address);
    assert_eq!(failed_accepts(&mut first), 0);
    let (second, taken) = connect_without_descriptors(address);
    while failed_accepts(&mut first) == 0 {}
    drop(taken);
    failed_accepts(&mut guard(second.into()));
    shutdown.stop();
    let statistics = server.join().unwrap();
    assert_eq!(statistics.accepted, 2);
    assert!((1..100).contains(&statistics.accept_errors), "it did not spin");

    // The thread that accepts for others is not heard of before the end.
    let (address, shutdown, server) = start(io, together);
    failed_accepts(&mut peer(address));
    let (second, taken) = connect_without_descriptors(address);
    drop(taken);
    failed_accepts(&mut guard(second.into()));
    shutdown.stop();
    assert_eq!(server.join().unwrap().accepted, 2);
}

fn start(io: Io, threads: NonZeroUsize) -> (SocketAddr, ShutdownHandle, JoinHandle<IoStatistics>) {
    let listener = listen(loopback()).unwrap();
    let address = listener.local_address().tcp().unwrap();
    let shutdown = ShutdownHandle::new();
    let mut options = ServeOptions::new(shutdown.clone());
    options.io = io;
    options.threads = threads;
    let server = thread::spawn(move || serve(listener, &options, |_| CountsErrors).unwrap());
    (address, shutdown, server)
}

fn failed_accepts(client: &mut TcpStream) -> u8 {
    let mut answer = [0];
    client.write_all(b"?").unwrap();
    client.read_exact(&mut answer).unwrap();
    answer[0]
}

/// A connection that nobody can accept while the files are open.
fn connect_without_descriptors(address: SocketAddr) -> (OwnedFd, Vec<File>) {
    let client = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(128);
    setrlimit(Resource::Nofile, limit).unwrap();
    let taken = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    connect(&client, &address).unwrap();
    (client, taken)
}
