//! A generated client, against a generated server.

#[allow(dead_code, reason = "the server's own tests use all of it")]
#[path = "../../server/tests/calls/shop.rs"]
mod shop;

use bookend_client::{Channel, ChannelOptions, Code};
use bookend_server::{
    Context, HandlerKind, InlineStream, MethodDescriptor, Reply, Server, ServerHandle, Service,
    StreamReply,
};
use shop::{Item, Money, Waiting};
use std::sync::mpsc;
use std::time::Duration;

/// What `bookend-codegen`'s own test records.
mod generated {
    use crate::shop::{Item, Money};
    include!("../../codegen/tests/snapshots/shop.v1.client.rs");
}
use generated::OrdersClient;

/// Ends a call that would hang; no test comes near it.
const GUARD: Duration = Duration::from_secs(30);

fn client(server: &ServerHandle) -> OrdersClient {
    let target = server.local_address().to_string();
    OrdersClient::new(Channel::connect(&target, ChannelOptions::default()).unwrap())
}

fn start(service: impl Service) -> (ServerHandle, OrdersClient) {
    let server = Server::builder()
        .add_service(service)
        .bind("127.0.0.1:0")
        .unwrap()
        .threads(1)
        .spawn()
        .unwrap();
    let client = client(&server);
    (server, client)
}

fn shop() -> (ServerHandle, OrdersClient, Waiting) {
    let waiting = Waiting::default();
    let (server, client) = start(shop::service(&waiting));
    (server, client, waiting)
}

fn item(name: &str) -> Item {
    Item { name: name.into() }
}

fn cents(replies: impl Iterator<Item = Result<Money, bookend_client::Status>>) -> Vec<i64> {
    replies.map(|reply| reply.unwrap().cents).collect()
}

#[test]
fn a_unary_call_waits_for_its_reply_or_is_called_back() {
    let (server, orders, _) = shop();
    assert_eq!(orders.price(&item("seven c")).timeout(GUARD).wait(), Ok(Money { cents: 7 }));
    assert_eq!(orders.appraise(&item("four")).wait(), Ok(Money { cents: 4 }));
    assert_eq!(orders.price(&item("unknown")).wait().unwrap_err().code, Code::NotFound);
    let (tell, hear) = mpsc::channel();
    orders.price(&item("three")).then(move |reply| tell.send(reply).unwrap());
    assert_eq!(hear.recv().unwrap(), Ok(Money { cents: 5 }));
    server.stop();
}

#[test]
fn metadata_and_deadlines_go_with_a_call() {
    let (server, orders, waiting) = shop();
    let call = orders.price(&item("echo")).metadata("x-echo", "blue").unwrap();
    let response = call.wait_for_response();
    assert_eq!(response.head.text("x-echo"), Some("blue"));
    assert_eq!(response.trailers.text("x-after"), Some("bye"));
    let late = orders.place(&item("tea")).timeout(Duration::from_millis(1)).wait();
    assert_eq!(late.unwrap_err().code, Code::DeadlineExceeded);
    assert!(orders.price(&item("")).metadata("grpc-timeout", "1S").is_err());
    drop(waiting);
    server.stop();
}

#[test]
fn replies_of_a_server_stream_come_one_by_one() {
    let (server, orders, _) = shop();
    assert_eq!(cents(orders.list(&item("tea")).open()), [3, 1]);
    assert_eq!(cents(orders.search(&item("ab")).timeout(GUARD).open()), [97, 98]);
    let mut failing = orders.search(&item("a!")).open();
    assert_eq!(failing.next(), Some(Ok(Money { cents: 97 })));
    assert_eq!(failing.next().unwrap().unwrap_err().code, Code::Aborted);
    assert_eq!((failing.next(), failing.end().status.code), (None, Code::Aborted));
    server.stop();
}

#[test]
fn requests_of_a_client_stream_are_sent_one_by_one() {
    let (server, orders, _) = shop();
    for call in [orders.sum(), orders.import()] {
        let (mut requests, reply) = call.timeout(GUARD).open();
        for name in ["one", "two", "three"] {
            requests.send(&item(name)).unwrap();
        }
        requests.finish();
        assert_eq!(reply.wait(), Ok(Money { cents: 11 }));
    }
    server.stop();
}

#[test]
fn both_sides_talk_in_turn() {
    let (server, orders, _) = shop();
    for call in [orders.follow(), orders.haggle()] {
        let (mut requests, mut replies) = call.timeout(GUARD).open();
        for name in ["a", "bb", "ccc"] {
            requests.send(&item(name)).unwrap();
            assert_eq!(replies.next(), Some(Ok(Money { cents: name.len() as i64 })));
        }
        requests.finish();
        replies.by_ref().for_each(drop);
        assert_eq!(replies.end().status.code, Code::Ok);
    }
    server.stop();
}

/// Answers with the request, which is no reply.
struct Echo;

impl Service for Echo {
    fn name(&self) -> &'static str {
        "shop.v1.Orders"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[
            MethodDescriptor { name: "Price", kind: HandlerKind::Inline },
            MethodDescriptor { name: "List", kind: HandlerKind::Stream },
        ]
    }

    fn call(&self, _: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.message(|output| output.extend_from_slice(request));
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        Some(Box::new(Echo))
    }
}

impl InlineStream for Echo {
    fn on_message(&mut self, message: &[u8], reply: &mut StreamReply<'_>) {
        reply.message(|output| output.extend_from_slice(message));
    }

    fn on_end(&mut self, reply: &mut StreamReply<'_>) {
        reply.end(Ok(()));
    }
}

#[test]
fn a_reply_that_cannot_be_decoded_is_an_error_of_the_call() {
    let (server, orders) = start(Echo);
    assert_eq!(orders.price(&item("tea")).wait().unwrap_err().code, Code::Internal);
    let mut replies = orders.list(&item("tea")).open();
    assert_eq!(replies.next().unwrap().unwrap_err().code, Code::Internal);
    assert_eq!((replies.next(), replies.end().status.code), (None, Code::Internal));
    server.stop();
}
