//! Health checking, as load balancers use it.

use bookend_server::prost::Message;
use bookend_server::{Code, HealthReporter, Server, ServingStatus};
use bookend_wire::{ConnectionConfig, StreamKey};

use crate::loopback::Client;
use crate::pair::{Heard, Pair, fields, framed, head};

#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    service: String,
}

#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(int32, tag = "1")]
    status: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Listed {
    #[prost(map = "string, message", tag = "1")]
    statuses: std::collections::HashMap<String, Answer>,
}

const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;
const SERVICE_UNKNOWN: i32 = 3;

fn served() -> (Pair, HealthReporter) {
    let health = HealthReporter::new();
    (Pair::over(health.service()), health)
}

fn ask(pair: &mut Pair, method: &str, service: &str) -> StreamKey {
    let stream = pair.open(&fields(&format!("/grpc.health.v1.Health/{method}")), false);
    let request = Named { service: service.into() }.encode_to_vec();
    pair.client.sender.data(stream, &framed(&request), true);
    pair.pump();
    stream
}

fn answers(heard: &Heard) -> Vec<i32> {
    heard.messages.iter().map(|message| Answer::decode(&**message).unwrap().status).collect()
}

fn check(pair: &mut Pair, service: &str) -> Result<i32, Code> {
    let stream = ask(pair, "Check", service);
    let heard = pair.heard(stream);
    match heard.code() {
        Code::Ok => Ok(answers(heard)[0]),
        code => Err(code),
    }
}

#[test]
fn check_says_what_was_said_last() {
    let (mut pair, health) = served();
    assert_eq!(check(&mut pair, ""), Ok(SERVING));
    assert_eq!(check(&mut pair, "shop.v1.Orders"), Err(Code::NotFound));
    health.set("shop.v1.Orders", ServingStatus::Serving);
    assert_eq!(check(&mut pair, "shop.v1.Orders"), Ok(SERVING));
    health.set("shop.v1.Orders", ServingStatus::NotServing);
    assert_eq!(check(&mut pair, "shop.v1.Orders"), Ok(NOT_SERVING));
    health.remove("shop.v1.Orders");
    assert_eq!(check(&mut pair, "shop.v1.Orders"), Err(Code::NotFound));
}

#[test]
fn list_has_every_service_that_was_named() {
    let (mut pair, health) = served();
    health.set("a.A", ServingStatus::NotServing);
    let stream = ask(&mut pair, "List", "");
    let listed = Listed::decode(&*pair.heard(stream).messages[0]).unwrap().statuses;
    assert_eq!((listed.len(), listed[""].status, listed["a.A"].status), (2, SERVING, NOT_SERVING));
}

#[test]
fn watch_tells_every_change_of_its_service_and_of_no_other() {
    let (mut pair, health) = served();
    let stream = ask(&mut pair, "Watch", "a.A");
    assert_eq!(answers(pair.heard(stream)), [SERVICE_UNKNOWN]);
    for status in [ServingStatus::Serving, ServingStatus::Serving, ServingStatus::NotServing] {
        health.set("a.A", status);
        health.set("b.B", status);
        pair.wake();
    }
    health.remove("a.A");
    pair.wake();
    let told = [SERVICE_UNKNOWN, SERVING, NOT_SERVING, SERVICE_UNKNOWN];
    assert_eq!(answers(pair.heard(stream)), told);
    assert!(!pair.heard(stream).ended);
}

#[test]
fn a_name_that_no_service_can_have_is_not_kept() {
    let (mut pair, _) = served();
    let stream = ask(&mut pair, "Watch", &"x".repeat(100_000));
    assert_eq!(pair.heard(stream).code(), Code::InvalidArgument);
}

#[test]
fn at_the_end_watchers_are_told_and_nothing_changes_any_more() {
    let (mut pair, health) = served();
    let stream = ask(&mut pair, "Watch", "");
    health.shut_down();
    health.set("", ServingStatus::Serving);
    pair.wake();
    assert_eq!(answers(pair.heard(stream)), [SERVING, NOT_SERVING]);
    assert_eq!(pair.heard(stream).code(), Code::Unavailable);
    assert_eq!(check(&mut pair, ""), Ok(NOT_SERVING));
}

#[test]
fn watchers_do_not_keep_a_server_from_stopping() {
    let health = HealthReporter::new();
    let server = Server::builder()
        .add_service(health.service())
        .bind("127.0.0.1:0")
        .unwrap()
        .threads(1)
        .spawn()
        .unwrap();
    let config = ConnectionConfig::trusted();
    let mut client = Client::connect_with(server.local_address(), &config);
    let stream = client.open(head("/grpc.health.v1.Health/Watch"));
    client.send(stream, &framed(b""), true);
    client.wait_until(stream, |heard| !heard.messages.is_empty());
    health.shut_down();
    server.stop();
    assert_eq!(client.wait_for(stream).code(), Code::Unavailable);
    drop(client);
    assert_eq!(server.join().unwrap().calls.cut_off, 0);
}
