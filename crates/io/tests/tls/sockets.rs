//! TLS over real sockets, with every driver at either end.

use super::ends::{Event, Inner, Setup, pattern};
use super::support::{CHOICES, KINDS, Kind, drive, is_as_chosen};
use bookend_io::tls::{Secured, TlsStream};
use bookend_io::{
    AfterRead, ConnectionId, Io, IoContext, IoOptions, ServeOptions, ShardPlace, ShutdownHandle,
    Waker, listen, serve,
};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

/// Ends a test that would hang; no test comes near it.
const GUARD: Duration = Duration::from_secs(30);

const TALK_BYTES: usize = 3_000_000;

/// A server that gives back what it is given, while `visit` is there.
fn with_server(setup: &Setup, io: Io, threads: usize, visit: impl FnOnce(SocketAddr)) {
    let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = listener.local_address().tcp().unwrap();
    let shutdown = ShutdownHandle::new();
    let mut options = ServeOptions::new(shutdown.clone());
    options.io = io;
    options.threads = NonZeroUsize::new(threads).unwrap();
    let config = setup.server.clone();
    let make = move |place: ShardPlace| {
        assert!(is_as_chosen(io, place.driver), "{io:?} {}", place.driver);
        Secured::accepting(Echo, config.clone())
    };
    let server = thread::spawn(move || serve(listener, &options, make));
    visit(address);
    shutdown.stop();
    server.join().unwrap().unwrap();
}

/// A shard that can be sent to other threads.
struct Echo;

impl bookend_io::Shard for Echo {
    fn opened(&mut self, _: ConnectionId, _: bookend_io::Opened, _: &mut IoContext) {}
    fn received(
        &mut self,
        id: ConnectionId,
        bytes: &[u8],
        io: &mut IoContext,
    ) -> bookend_io::Received {
        io.output(id).extend_from_slice(bytes);
        bookend_io::Received { consumed: bytes.len(), after: AfterRead::Continue }
    }
    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}
    fn closed(&mut self, _: ConnectionId, _: bookend_io::Closed, _: &mut IoContext) {}
    fn woken(&mut self, _: &mut IoContext) {}
    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

/// A client that sends a pattern, takes it back and stops. What it has received.
fn talk(setup: &Setup, address: SocketAddr, kind: Kind) -> Vec<u8> {
    let mut asked = false;
    let mut missing = TALK_BYTES;
    let inner = Inner::new(move |event, io| {
        match event {
            Event::Woken if !asked => {
                asked = true;
                io.connect(address, 7);
            }
            Event::Opened(id) => io.output(*id).extend(pattern(TALK_BYTES)),
            Event::Received(_, bytes) => {
                missing -= bytes.len();
                if missing == 0 {
                    io.stop();
                }
            }
            _ => {}
        }
        (None, AfterRead::Continue)
    });
    let shard = Secured::connecting(inner, setup.client.connector("localhost").unwrap());
    let (shard, _) = drive(kind, shard, Waker::new().unwrap(), IoOptions::default());
    shard.into_inner().received
}

#[test]
fn every_driver_carries_it_at_either_end() {
    let setup = Setup::new();
    for io in CHOICES {
        for threads in [1, 2] {
            with_server(&setup, io, threads, |address| {
                for kind in KINDS {
                    let back = talk(&setup, address, kind);
                    assert!(back == pattern(TALK_BYTES), "{io:?} on {threads}, {kind:?}");
                }
            });
        }
    }
}

#[test]
fn a_thread_without_a_driver_can_talk_too() {
    for io in CHOICES {
        let setup = Setup::new();
        with_server(&setup, io, 1, |address| {
            for _ in 0..2 {
                let transport = TcpStream::connect(address).unwrap();
                transport.set_read_timeout(Some(GUARD)).unwrap();
                let connector = setup.client.connector("localhost").unwrap();
                let mut stream = TlsStream::connect(transport, &connector, || false).unwrap();
                stream.write_all(b"hello").unwrap();
                let mut back = [0; 5];
                stream.read_exact(&mut back).unwrap();
                assert_eq!(&back, b"hello");
            }
        });
        let handshakes = setup.client.handshakes();
        assert_eq!((handshakes.full, handshakes.resumed), (1, 1), "{io:?}");
    }
}

#[test]
fn a_stream_without_a_driver_says_what_goes_wrong() {
    let setup = Setup::new();
    for io in CHOICES {
        with_server(&setup, io, 1, |address| {
            let transport = TcpStream::connect(address).unwrap();
            let connector = setup.client.connector("other.example").unwrap();
            let error = TlsStream::connect(transport, &connector, || false).unwrap_err();
            assert!(error.to_string().contains("it is for localhost"), "{error}");
        });
    }
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let transport = TcpStream::connect(plain.local_addr().unwrap()).unwrap();
    let (mut accepted, _) = plain.accept().unwrap();
    accepted.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    let connector = setup.client.connector("localhost").unwrap();
    let error = TlsStream::connect(transport, &connector, || false).unwrap_err();
    assert_eq!(error.to_string(), "the server speaks no TLS: add --insecure");
}
