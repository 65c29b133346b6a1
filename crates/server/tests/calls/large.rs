//! Requests that are inflated and decoded by other threads, behind real sockets and every driver.

use bookend_server::prost::Message;
use bookend_server::{Code, Io, Server, ServerHandle};
use bookend_wire::{ConnectionConfig, ErrorCode, HeaderBlock, StreamKey};

use crate::loopback::Client;
use crate::pair::{deflated, framed, head};
use crate::shop::{self, Item, Money, Waiting};
use crate::{FOLLOW, PLACE, PRICE};

const DRIVERS: [Io; 4] = [Io::Auto, Io::Blocking, Io::Epoll, Io::Uring];

/// More than is decoded on the spot.
const LARGE_BYTES: usize = 300_000;

fn serve(io: Io) -> (ServerHandle, Client, Waiting) {
    let waiting = Waiting::default();
    let builder = Server::builder().add_service(shop::service(&waiting));
    let server = builder.bind("127.0.0.1:0").unwrap().io(io).spawn().unwrap();
    let client = Client::connect_with(server.local_address(), &ConnectionConfig::trusted());
    (server, client, waiting)
}

fn compressed_head(path: &str) -> HeaderBlock {
    let mut head = head(path);
    head.push(b"grpc-encoding", b"gzip");
    head
}

/// A name that hardly becomes smaller.
fn name(bytes: usize) -> String {
    let mut state = 1_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'0' + (state >> 24) as u8 % 64)
    };
    (0..bytes).map(|_| letter()).collect()
}

fn encoded(bytes: usize) -> Vec<u8> {
    Item { name: name(bytes) }.encode_to_vec()
}

fn send(client: &mut Client, head: HeaderBlock, body: &[u8]) -> StreamKey {
    let stream = client.open(head);
    client.send(stream, body, true);
    stream
}

#[test]
fn large_requests_are_answered_like_small_ones() {
    for io in DRIVERS {
        let (server, mut client, waiting) = serve(io);
        let plain = framed(&encoded(LARGE_BYTES));
        let stream = send(&mut client, head(PRICE), &plain);
        assert_eq!(client.wait_for(stream).cents(), [LARGE_BYTES as i64], "{io:?}");
        let squeezed = deflated(&encoded(LARGE_BYTES));
        assert!(squeezed.len() > 100_000, "{}", squeezed.len());
        let stream = send(&mut client, compressed_head(PRICE), &squeezed);
        assert_eq!(client.wait_for(stream).cents(), [LARGE_BYTES as i64], "{io:?}");
        // Small while it is compressed.
        let swells = deflated(&Item { name: "x".repeat(LARGE_BYTES) }.encode_to_vec());
        assert!(swells.len() < 10_000);
        let stream = send(&mut client, compressed_head(PRICE), &swells);
        assert_eq!(client.wait_for(stream).cents(), [LARGE_BYTES as i64], "{io:?}");
        let stream = send(&mut client, head(PLACE), &plain);
        let mut meanwhile = 0;
        while waiting.lock().unwrap().is_empty() {
            // The windows for the rest of it come with these.
            let small = client.start(PRICE, "small");
            client.wait_for(small);
            meanwhile += 1;
        }
        let (request, responder) = waiting.lock().unwrap().pop().unwrap();
        responder.send(Ok(Money { cents: request.name.len() as i64 }));
        assert_eq!(client.wait_for(stream).cents(), [LARGE_BYTES as i64], "{io:?}");
        drop(client);
        server.stop();
        let counts = server.join().unwrap().calls;
        assert_eq!((counts.answered_ok, counts.late), (4 + meanwhile, 0), "{io:?}");
    }
}

#[test]
fn messages_of_a_stream_keep_their_order() {
    for io in DRIVERS {
        for (path, told) in [(FOLLOW, Some(4)), ("/shop.v1.Orders/Haggle", None)] {
            let (server, mut client, _) = serve(io);
            let (large, small) = (encoded(LARGE_BYTES), encoded(2));
            let body = [deflated(&large), framed(&small), framed(&large), deflated(&small)];
            let stream = send(&mut client, compressed_head(path), &body.concat());
            let large = LARGE_BYTES as i64;
            let expected: Vec<_> = [large, 2, large, 2].into_iter().chain(told).collect();
            assert_eq!(client.wait_for(stream).cents(), expected, "{io:?} {path}");
            drop(client);
            server.stop();
            server.join().unwrap();
        }
    }
}

#[test]
fn a_large_request_that_cannot_be_read_costs_its_call() {
    let (server, mut client, _) = serve(Io::Epoll);
    for path in [PRICE, FOLLOW] {
        let garbage = vec![0xff; LARGE_BYTES];
        let stream = send(&mut client, head(path), &framed(&garbage));
        assert_eq!(client.wait_for(stream).code(), Code::Internal);
        let mut no_gzip = framed(&garbage);
        no_gzip[0] = 1;
        let stream = send(&mut client, compressed_head(path), &no_gzip);
        assert_eq!(client.wait_for(stream).code(), Code::Internal);
    }
    let stream = client.start(PRICE, "good");
    assert_eq!(client.wait_for(stream).cents(), [4]);
    drop(client);
    server.stop();
    server.join().unwrap();
}

#[test]
fn large_requests_of_calls_that_are_over_are_not_waited_for() {
    let (server, mut client, _) = serve(Io::Epoll);
    let plain = framed(&encoded(LARGE_BYTES));
    for _ in 0..20 {
        for path in [PRICE, FOLLOW] {
            let stream = send(&mut client, head(path), &plain);
            client.connection.sender.reset(stream, ErrorCode::CANCEL);
        }
    }
    let stream = client.start(PRICE, "good");
    assert_eq!(client.wait_for(stream).cents(), [4]);
    let _never_read = send(&mut client, head(PRICE), &plain);
    drop(client);
    server.stop();
    server.join().unwrap();
}
