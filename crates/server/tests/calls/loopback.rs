//! The same service behind real sockets and every driver.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use bookend_server::prost::Message;
use bookend_server::{BindError, Code, Io, Limits, Server, ServerHandle};
use bookend_wire::{Connection, ConnectionConfig, HeaderBlock, Side, StreamKey};

use crate::pair::{Heard, Listener, head};
use crate::shop::{self, Item, Money, Waiting};
use crate::streams::{Streams, ask};
use crate::{PLACE, PRICE};

/// Longer than any answer takes on the slowest machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    socket: TcpStream,
    pub connection: Connection,
    pub listener: Listener,
    unread: Vec<u8>,
}

impl Client {
    fn connect(address: impl ToSocketAddrs) -> Self {
        Self::connect_with(address, &ConnectionConfig::trusted())
    }

    pub fn connect_with(address: impl ToSocketAddrs, config: &ConnectionConfig) -> Self {
        Self::over(TcpStream::connect(address).unwrap(), config)
    }

    pub fn over(socket: TcpStream, config: &ConnectionConfig) -> Self {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let connection = Connection::new(Side::Client, config);
        Client { socket, connection, listener: Listener::default(), unread: Vec::new() }
    }

    pub fn start(&mut self, path: &str, item: &str) -> StreamKey {
        self.start_with(head(path), item)
    }

    pub fn start_with(&mut self, mut head: HeaderBlock, item: &str) -> StreamKey {
        let message = Item { name: item.into() }.encode_to_vec();
        self.connection.sender.request(&mut head, &[], &message).unwrap()
    }

    pub fn flush(&mut self) {
        let output = std::mem::take(&mut self.connection.sender.output);
        self.socket.write_all(&output).unwrap();
    }

    /// Reads once. False at the end.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 65_536];
        let length = self.socket.read(&mut buffer).expect("the server answers");
        self.unread.extend_from_slice(&buffer[..length]);
        let used = self.connection.receive(&self.unread, &mut self.listener).unwrap();
        self.unread.drain(..used);
        length > 0
    }

    pub fn wait_for(&mut self, stream: StreamKey) -> &Heard {
        self.wait_until(stream, |heard| heard.ended)
    }

    /// Reads until that is true of what was heard about the call.
    pub fn wait_until(&mut self, stream: StreamKey, met: impl Fn(&Heard) -> bool) -> &Heard {
        self.flush();
        while !self.listener.calls.get(&stream.id).is_some_and(&met) {
            assert!(self.read(), "the server closed before it answered");
            self.flush();
        }
        &self.listener.calls[&stream.id]
    }

    pub fn has_heard(&self, stream: StreamKey) -> bool {
        self.listener.calls.contains_key(&stream.id)
    }

    /// Opens a stream with this head and no body yet.
    pub fn open(&mut self, mut head: HeaderBlock) -> StreamKey {
        let sender = &mut self.connection.sender;
        let stream = sender.open().unwrap();
        sender.headers(stream, &mut head, false);
        stream
    }

    pub fn send(&mut self, stream: StreamKey, body: &[u8], end_stream: bool) {
        self.connection.sender.data(stream, body, end_stream);
        self.flush();
    }
}

fn serve(io: Io) -> (ServerHandle, Waiting) {
    let waiting = Waiting::default();
    let server = Server::builder()
        .add_service(shop::service(&waiting))
        .bind("127.0.0.1:0")
        .unwrap()
        .io(io)
        .threads(2)
        .spawn()
        .unwrap();
    (server, waiting)
}

#[test]
fn every_driver_answers_and_says_how_often() {
    for io in [Io::Auto, Io::Blocking, Io::Epoll, Io::Uring] {
        let (server, _) = serve(io);
        let mut clients: Vec<_> = (0..5).map(|_| Client::connect(server.local_address())).collect();
        for length in 0..10 {
            for client in &mut clients {
                let stream = client.start(PRICE, &"x".repeat(length));
                assert_eq!(client.wait_for(stream).cents(), [length as i64]);
            }
        }
        drop(clients);
        server.stop();
        let statistics = server.join().unwrap();
        assert_eq!((statistics.calls.answered_ok, statistics.io.accepted), (50, 5), "{io:?}");
    }
}

#[test]
fn a_batch_of_requests_is_answered_by_few_writes() {
    let (server, _) = serve(Io::Epoll);
    let mut client = Client::connect(server.local_address());
    let streams: Vec<_> = (0..100).map(|_| client.start(PRICE, "x")).collect();
    for stream in streams {
        client.wait_for(stream);
    }
    drop(client);
    server.stop();
    let statistics = server.join().unwrap();
    assert_eq!(statistics.calls.answered_ok, 100);
    // One for the preface, and one for the goodbye if that is first.
    assert!(statistics.io.writes <= statistics.io.reads + 2, "{statistics:?}");
}

#[test]
fn answers_from_other_threads_wake_every_driver() {
    for io in [Io::Auto, Io::Blocking, Io::Epoll, Io::Uring] {
        let (server, waiting) = serve(io);
        let mut client = Client::connect(server.local_address());
        for _ in 0..3 {
            let placed = client.start(PLACE, "wait");
            let priced = client.start(PRICE, "passes by");
            assert_eq!(client.wait_for(priced).cents(), [9]);
            // It came after the call that waits, which is known by now.
            let (_, responder) = waiting.lock().unwrap().pop().unwrap();
            std::thread::spawn(move || responder.send(Ok(Money { cents: 5 })));
            assert_eq!(client.wait_for(placed).cents(), [5]);
        }
        drop(client);
        server.stop();
        assert_eq!(server.join().unwrap().calls.answered_ok, 6);
    }
}

#[test]
fn every_driver_looks_at_the_clock_for_calls_that_have_a_deadline() {
    for io in [Io::Auto, Io::Blocking, Io::Epoll, Io::Uring] {
        let (server, waiting) = serve(io);
        let mut client = Client::connect(server.local_address());
        let mut head = head(PLACE);
        head.push(b"grpc-timeout", b"20m");
        let placed = client.start_with(head, "wait");
        assert_eq!(client.wait_for(placed).code(), Code::DeadlineExceeded);
        waiting.lock().unwrap().clear();
        drop(client);
        server.stop();
        let counts = server.join().unwrap().calls;
        assert_eq!((counts.answered_error, counts.late), (1, 1), "{io:?}");
    }
}

#[test]
fn a_server_that_stops_answers_what_waits_and_then_hangs_up() {
    for io in [Io::Auto, Io::Blocking, Io::Epoll, Io::Uring] {
        let (server, waiting) = serve(io);
        let mut client = Client::connect(server.local_address());
        let placed = client.start(PLACE, "wait");
        let priced = client.start(PRICE, "");
        client.wait_for(priced);
        server.stop();
        while client.listener.goaway.is_none() {
            assert!(client.read(), "a goodbye comes before the end");
        }
        let (_, responder) = waiting.lock().unwrap().pop().unwrap();
        responder.send(Ok(Money { cents: 5 }));
        assert_eq!(client.wait_for(placed).cents(), [5]);
        while client.read() {}
        assert_eq!(server.join().unwrap().calls.answered_ok, 2);
    }
}

#[test]
fn a_client_that_reads_slowly_does_not_keep_the_server_busy() {
    for io in [Io::Blocking, Io::Epoll, Io::Uring] {
        let builder = Server::builder().add_service(Streams::default()).limits(Limits::trusted());
        let bound = builder.bind("127.0.0.1:0").unwrap().io(io).threads(1);
        let server = bound.spawn().unwrap();
        let mut client = Client::connect(server.local_address());
        let streams: Vec<_> = (0..8)
            .map(|_| {
                let stream = client.open(head("/test.Streams/List"));
                client.send(stream, &ask(4_000, 1_000), true);
                stream
            })
            .collect();
        for stream in streams {
            assert_eq!(client.wait_for(stream).messages.len(), 4_000);
        }
        drop(client);
        server.stop();
        let io_statistics = server.join().unwrap().io;
        // Each turn of the driver reads, writes, or hands a connection its turn before a write.
        let moves = io_statistics.reads + io_statistics.writes;
        assert!(io_statistics.turns <= 3 * moves, "{io_statistics:?}");
    }
}

#[test]
fn an_address_that_is_taken_is_told() {
    let (server, waiting) = serve(Io::Epoll);
    let second = Server::builder().add_service(shop::service(&waiting));
    let result = second.bind(server.local_address());
    assert!(matches!(result, Err(BindError::Address(_))));
    let shop = || shop::service(&waiting);
    let twice = Server::builder().add_service(shop()).add_service(shop()).bind("127.0.0.1:0");
    assert!(matches!(twice, Err(BindError::DuplicateService(_))));
    server.stop();
    server.join().unwrap();
}
