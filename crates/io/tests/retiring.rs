//! Threads of a blocking server after a crowd has gone. Alone in its file: threads and descriptors
//! are the whole process's.

mod support;

use bookend_io::{
    AfterRead, Closed, ConnectionId, Io, IoContext, Opened, Received, ServeOptions, Shard,
    ShutdownHandle, listen, serve,
};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use support::{loopback, peer};

/// Connections at a time: more than threads are kept for.
const CROWD: usize = 150;
/// Threads that wait for a connection, with some to spare.
const KEPT: usize = 40;

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

fn blocking_threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.filter(|name| name.starts_with("blocking-")).count()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn answered(mut client: TcpStream) -> TcpStream {
    client.write_all(b"?").unwrap();
    client.read_exact(&mut [0]).unwrap();
    client
}

#[test]
fn threads_and_descriptors_of_a_crowd_are_given_back() {
    let listener = listen(loopback()).unwrap();
    let address = listener.local_address().tcp().unwrap();
    let shutdown = ShutdownHandle::new();
    let mut options = ServeOptions::new(shutdown.clone());
    options.io = Io::Blocking;
    let server = thread::spawn(move || serve(listener, &options, |_| Echo).unwrap());
    drop(answered(peer(address)));
    let descriptors_before = descriptors();
    for _ in 0..3 {
        let crowd: Vec<_> = (0..CROWD).map(|_| answered(peer(address))).collect();
        assert!(blocking_threads() >= CROWD);
        drop(crowd);
        while blocking_threads() > KEPT || descriptors() > descriptors_before + 4 * KEPT {
            thread::yield_now();
        }
    }
    drop(answered(peer(address)));
    assert!(!shutdown.is_stopped(), "a thread that has nothing to do ends alone");
    shutdown.stop();
    assert_eq!(server.join().unwrap().accepted as usize, 3 * CROWD + 2);
}
