//! Servers that stop under load, over real sockets and every driver: both ends count.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bookend_client::{Channel, ChannelOptions, Code, UnaryCall};
use bookend_server::{
    BoundServer, ConnectionAge, Io, Limits, Server, ServerHandle, ServerStatistics,
};
use bookend_wire::{Connection, ConnectionConfig, HeaderBlock, Side};

use crate::client::Heard;
use crate::service::{DEFERRED, INLINE, PATHS, Testing};

const IOS: [Io; 3] = [Io::Auto, Io::Blocking, Io::Epoll];

/// Longer than anything takes on the slowest machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(30);

fn bind(testing: &Testing, io: Io, threads: usize, limits: Limits) -> BoundServer {
    let server = Server::builder().add_service(testing.clone()).limits(limits);
    let bound = server.bind("127.0.0.1:0").expect("a port");
    bound.io(io).threads(threads).drain(PATIENCE)
}

/// Clients that call and call until the server is gone, one connection each.
#[derive(Default)]
struct Crowd {
    ok: AtomicU64,
    /// Calls that ended otherwise, all with `UNAVAILABLE`.
    refused: AtomicU64,
    is_over: AtomicBool,
}

const CHANNELS: usize = 16;
const THREADS_A_CHANNEL: usize = 3;

impl Crowd {
    /// Runs the crowd, and at the same time `act`, which ends the server or the crowd.
    fn call(&self, testing: &Testing, address: SocketAddr, act: impl FnOnce()) {
        let all_are_told = AtomicBool::new(false);
        thread::scope(|scope| {
            let channels: Vec<_> = (0..CHANNELS).map(|_| connect(address)).collect();
            let callers: Vec<_> = (0..CHANNELS * THREADS_A_CHANNEL)
                .map(|number| {
                    let channel = channels[number % CHANNELS].clone();
                    scope.spawn(move || self.call_on(&channel, number))
                })
                .collect();
            let answering = scope.spawn(|| {
                while !all_are_told.load(Ordering::SeqCst) {
                    testing.answer_all();
                    thread::yield_now();
                }
            });
            act();
            for caller in callers {
                caller.join().expect("a caller");
            }
            all_are_told.store(true, Ordering::SeqCst);
            answering.join().expect("who answers");
        });
    }

    fn call_on(&self, channel: &Channel, first: usize) {
        for number in first.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let path = PATHS[number % PATHS.len()];
            let answer = channel.unary(UnaryCall::new(path, b"hello".to_vec()));
            match answer.status.code {
                Code::Ok => self.ok.fetch_add(1, Ordering::SeqCst),
                Code::Unavailable => {
                    self.refused.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                _ => panic!("{}", answer.status),
            };
        }
    }

    fn wait_for(&self, calls: u64) {
        while self.ok.load(Ordering::SeqCst) < calls {
            thread::yield_now();
        }
    }
}

fn connect(address: SocketAddr) -> Channel {
    Channel::connect(&address.to_string(), ChannelOptions::default()).expect("a channel")
}

#[test]
fn a_server_that_stops_under_load_has_answered_every_call_that_it_took() {
    for io in IOS {
        for threads in [1, 3] {
            let testing = Testing::default();
            let server = bind(&testing, io, threads, Limits::internet()).spawn().expect("a thread");
            let crowd = Crowd::default();
            crowd.call(&testing, server.local_address().tcp().expect("TCP"), || {
                crowd.wait_for(2_000);
                server.stop();
            });
            let ServerStatistics { calls, io: moved, .. } = server.join().expect("a clean end");
            let ok = crowd.ok.into_inner();
            assert_eq!(calls.answered_ok, ok, "{io:?}, {threads} threads");
            assert_eq!(testing.begun(), ok, "what failed was never begun");
            assert_eq!((calls.answered_error, calls.cut_off, calls.late), (0, 0, 0));
            assert!(moved.accepted >= CHANNELS as u64);
            let callers = (CHANNELS * THREADS_A_CHANNEL) as u64;
            assert_eq!(crowd.refused.into_inner(), callers, "each was told once");
        }
    }
}

#[test]
fn connections_that_age_under_load_are_replaced_without_an_error() {
    for io in IOS {
        let testing = Testing::default();
        let limits = Limits {
            connection_age: Some(ConnectionAge::new(Duration::from_millis(150))),
            ..Limits::internet()
        };
        let server = bind(&testing, io, 2, limits).spawn().expect("a thread");
        let crowd = Crowd::default();
        let address = server.local_address().tcp().expect("TCP");
        crowd.call(&testing, address, || {
            crowd.wait_for(10_000);
            crowd.is_over.store(true, Ordering::SeqCst);
        });
        server.stop();
        let ServerStatistics { calls, io: moved, .. } = server.join().expect("a clean end");
        assert_eq!(crowd.refused.into_inner(), 0, "{io:?}");
        assert_eq!((calls.answered_ok, calls.cut_off), (crowd.ok.into_inner(), 0));
        assert!(moved.accepted > CHANNELS as u64, "none was replaced");
        assert!(calls.retired_connections > 0);
    }
}

#[test]
fn who_waits_in_the_listeners_queue_is_answered_although_the_server_stops() {
    for io in IOS {
        for threads in [1, 2] {
            let testing = Testing::default();
            let server = bind(&testing, io, threads, Limits::internet());
            let mut clients: Vec<_> = (0..5)
                .map(|_| Client::calling(server.local_address().tcp().expect("TCP"), INLINE))
                .collect();
            server.shutdown_handle().stop();
            let server = server.spawn().expect("a thread");
            for client in &mut clients {
                client.read_to_the_end();
                assert_eq!(client.heard.ended_with(Code::Ok), 1, "{io:?}");
                assert_eq!(client.heard.goaways.len(), 2, "{io:?}");
            }
            let statistics = server.join().expect("a clean end");
            assert_eq!(statistics.calls.answered_ok, 5, "{io:?}");
        }
    }
}

/// A server with a call that is never answered, and its client.
fn stuck(io: Io, drain: Duration) -> (ServerHandle, Client, Testing) {
    let testing = Testing::default();
    let server = bind(&testing, io, 1, Limits::internet()).drain(drain).spawn().expect("a thread");
    let client = Client::calling(server.local_address().tcp().expect("TCP"), DEFERRED);
    while testing.waiting() == 0 {
        thread::yield_now();
    }
    (server, client, testing)
}

fn is_cut_off(server: ServerHandle, mut client: Client, testing: &Testing) {
    client.read_to_the_end();
    assert_eq!(client.heard.ended_with(Code::Unavailable), 1);
    let counts = server.join().expect("a clean end").calls;
    assert_eq!((counts.cut_off, counts.answered_error), (1, 1));
    // Nobody waits for it any more, and nothing breaks.
    testing.answer_all();
}

#[test]
fn a_call_that_outlasts_the_drain_is_told_so_by_every_driver() {
    for io in IOS {
        let (server, client, testing) = stuck(io, Duration::from_millis(20));
        server.stop();
        is_cut_off(server, client, &testing);
    }
}

#[test]
fn who_is_told_to_stop_twice_stops_at_once() {
    for io in IOS {
        let (server, mut client, testing) = stuck(io, Duration::from_secs(3_600));
        server.stop();
        while client.heard.goaways.is_empty() {
            assert!(client.read(), "a goodbye comes before the end");
        }
        server.stop_now();
        is_cut_off(server, client, &testing);
    }
}

/// A client on a socket that does what HTTP/2 asks of it.
struct Client {
    socket: TcpStream,
    connection: Connection,
    heard: Heard,
    unread: Vec<u8>,
}

impl Client {
    /// Connects and sends a call, without waiting for the server's SETTINGS.
    fn calling(address: SocketAddr, path: &str) -> Self {
        let socket = TcpStream::connect(address).expect("a connection");
        socket.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let mut client = Client {
            socket,
            connection: Connection::new(Side::Client, &ConnectionConfig::trusted()),
            heard: Heard::default(),
            unread: Vec::new(),
        };
        let mut head = HeaderBlock::new(&[
            (b":method", b"POST"),
            (b":scheme", b"http"),
            (b":path", path.as_bytes()),
            (b"te", b"trailers"),
            (b"content-type", b"application/grpc"),
        ]);
        let sender = &mut client.connection.sender;
        sender.request(&mut head, &[], b"hello").expect("it may");
        client.write();
        client
    }

    fn write(&mut self) {
        let output = std::mem::take(&mut self.connection.sender.output);
        // A server that has hung up is no failure of the test.
        let _ = self.socket.write_all(&output);
    }

    /// Reads once, and answers what asks for it. False at the end.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 4_096];
        let count = match self.socket.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}"),
        };
        self.unread.extend(&buffer[..count]);
        let used = self.connection.receive(&self.unread, &mut self.heard);
        self.unread.drain(..used.expect("the server keeps to HTTP/2"));
        self.write();
        count > 0
    }

    fn read_to_the_end(&mut self) {
        while self.read() {}
    }
}
