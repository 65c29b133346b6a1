//! Interceptors, which see every kind of call, and pages for what is not gRPC.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bookend_server::prost::Message;
use bookend_server::{Code, Context, HttpPage, Server, ServerBuilder, ServerHandle, Status};
use bookend_wire::{ConnectionConfig, HeaderBlock, StreamKey};

use crate::loopback::Client;
use crate::pair::{Heard, fields, framed};
use crate::shop::{self, Item, Waiting};

/// One method of each kind of handler.
const PATHS: [&str; 5] = [
    "/shop.v1.Orders/Price",
    "/shop.v1.Orders/Place",
    "/shop.v1.Orders/Follow",
    "/shop.v1.Orders/Appraise",
    "/shop.v1.Orders/Haggle",
];

fn serve(builder: ServerBuilder) -> (ServerHandle, Client, Waiting) {
    let waiting = Waiting::default();
    let server = builder
        .add_service(shop::service(&waiting))
        .bind("127.0.0.1:0")
        .unwrap()
        .threads(1)
        .spawn()
        .unwrap();
    let client = Client::connect_with(server.local_address(), &ConnectionConfig::trusted());
    (server, client, waiting)
}

fn ask(client: &mut Client, path: &str, metadata: &[(&str, &str)]) -> StreamKey {
    let all: Vec<_> = fields(path).into_iter().chain(metadata.iter().copied()).collect();
    let all: Vec<(&[u8], &[u8])> =
        all.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
    let stream = client.open(HeaderBlock::new(&all));
    client.send(stream, &framed(&Item { name: "tea".into() }.encode_to_vec()), true);
    stream
}

fn call<'a>(client: &'a mut Client, path: &str, metadata: &[(&str, &str)]) -> &'a Heard {
    let stream = ask(client, path, metadata);
    client.wait_for(stream)
}

/// Answers what waits; calls of `Place` do.
fn answer(client: &mut Client, stream: StreamKey, waiting: &Waiting) {
    while waiting.lock().unwrap().is_empty() && !client.has_heard(stream) {
        std::thread::yield_now();
    }
    for (_, responder) in waiting.lock().unwrap().drain(..) {
        responder.send(Ok(shop::Money { cents: 3 }));
    }
}

#[test]
fn they_see_calls_of_every_kind_in_order_and_add_to_their_responses() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&seen);
    let builder = Server::builder()
        .intercept(move |context: &Context<'_>| {
            keep.lock().unwrap().push(format!("/{}/{}", context.service(), context.method()));
            context.add_header("x-first", b"1");
            Ok(())
        })
        .intercept(|context: &Context<'_>| {
            context.add_trailer("x-second", b"2");
            Ok(())
        });
    let (server, mut client, waiting) = serve(builder);
    for path in PATHS {
        let stream = ask(&mut client, path, &[]);
        if path.ends_with("Place") {
            answer(&mut client, stream, &waiting);
        }
        let heard = client.wait_for(stream);
        assert_eq!(heard.cents()[0], 3, "{path}");
        let added = (heard.field("x-first"), heard.field("x-second"));
        assert_eq!(added, (Some("1"), Some("2")), "{path}");
    }
    assert_eq!(*seen.lock().unwrap(), PATHS);
    drop(client);
    server.stop();
}

#[test]
fn one_that_objects_ends_the_call_before_its_handler_and_before_the_next_interceptor() {
    let later = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&later);
    let builder = Server::builder()
        .intercept(|context: &Context<'_>| match context.metadata().text("x-token") {
            Some("right") => Ok(()),
            _ => {
                context.add_trailer("x-why", b"no token");
                Err(Status::new(Code::Unauthenticated, "who are you?"))
            }
        })
        .intercept(move |_: &Context<'_>| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
    let (server, mut client, waiting) = serve(builder);
    for path in PATHS {
        let heard = call(&mut client, path, &[]);
        assert_eq!(heard.code(), Code::Unauthenticated, "{path}");
        assert_eq!(heard.field("x-why"), Some("no token"), "{path}");
    }
    assert_eq!((later.load(Ordering::Relaxed), waiting.lock().unwrap().len()), (0, 0));
    // What was added to refused calls does not go with another.
    let heard = call(&mut client, PATHS[0], &[("x-token", "right")]);
    assert_eq!((heard.cents(), heard.field("x-why")), (vec![3], None));
    drop(client);
    server.stop();
}

#[test]
fn one_that_panics_or_objects_with_ok_fails_its_call_and_nothing_else() {
    let builder = Server::builder().intercept(|context: &Context<'_>| {
        match context.metadata().text("x-do") {
            Some("panic") => panic!("as it was asked to"),
            Some("ok") => Err(Status::new(Code::Ok, "a mistake")),
            _ => Ok(()),
        }
    });
    let (server, mut client, _) = serve(builder);
    for path in PATHS {
        for what in ["panic", "ok"] {
            let heard = call(&mut client, path, &[("x-do", what)]);
            assert_eq!(heard.code(), Code::Internal, "{path} {what}");
        }
    }
    assert_eq!(call(&mut client, PATHS[0], &[]).cents(), [3]);
    drop(client);
    server.stop();
    assert_eq!(server.join().unwrap().calls.panics, PATHS.len() as u64);
}

fn get<'a>(client: &'a mut Client, method: &str, path: &str) -> &'a Heard {
    let fields: [(&[u8], &[u8]); 4] = [
        (b":method", method.as_bytes()),
        (b":scheme", b"http"),
        (b":path", path.as_bytes()),
        (b":authority", b"127.0.0.1"),
    ];
    let stream = client.open(HeaderBlock::new(&fields));
    client.send(stream, b"", true);
    client.wait_for(stream)
}

#[test]
fn pages_are_made_for_requests_that_are_not_grpc() {
    let asked = AtomicU64::new(0);
    let builder = Server::builder()
        .page("/healthz", move || {
            let times = asked.fetch_add(1, Ordering::Relaxed);
            HttpPage::text(format!("asked {times} times before")).with_status(503)
        })
        .page("/broken", || panic!("as it was asked to"));
    let (server, mut client, _) = serve(builder);
    for (times, path) in ["/healthz", "/healthz?verbose=1"].into_iter().enumerate() {
        let heard = get(&mut client, "GET", path);
        assert_eq!(heard.field(":status"), Some("503"));
        assert_eq!(heard.field("content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(heard.body, format!("asked {times} times before").as_bytes());
    }
    let head = get(&mut client, "HEAD", "/healthz");
    assert_eq!((head.field(":status"), head.body.len()), (Some("503"), 0));
    assert_eq!(get(&mut client, "GET", "/broken").field(":status"), Some("500"));
    assert_eq!(get(&mut client, "GET", "/other").field(":status"), Some("405"));
    assert_eq!(get(&mut client, "DELETE", "/healthz").field(":status"), Some("405"));
    drop(client);
    server.stop();
}
