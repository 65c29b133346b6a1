//! Records that carry no data cost as much as others: a few are what handshakes and changes of keys
//! need, and who sends many together is ended.

use super::ends::{Inner, Setup, listens};
use super::peers;
use bookend_io::ConnectionId;
use bookend_io::simulated::Simulated;
use bookend_io::tls::Secured;
use rustls::version::TLS13;
use std::io::Write;

type Server = Simulated<Secured<Inner>>;

/// What a server of ours bears together.
const BORNE: usize = 64;

/// A server, and a client of rustls that has said nothing yet.
fn met(setup: &Setup) -> (Server, ConnectionId, rustls::Connection) {
    let mut server = setup.server(Inner::new(listens));
    let id = server.accept();
    (server, id, peers::client(setup, &[b"h2"], &[&TLS13]))
}

/// The same with the handshake behind them.
fn known(setup: &Setup) -> (Server, ConnectionId, rustls::Connection) {
    let (mut server, id, mut client) = met(setup);
    while client.is_handshaking() || client.wants_write() {
        server.give(id, &peers::outgoing(&mut client));
        peers::incoming(&mut client, &server.take(id, usize::MAX));
    }
    (server, id, client)
}

/// Bytes with new keys before each.
fn bytes_under_new_keys(client: &mut rustls::Connection, bytes: usize) -> Vec<u8> {
    let mut records = Vec::new();
    for _ in 0..bytes {
        client.refresh_traffic_keys().unwrap();
        client.writer().write_all(b"x").unwrap();
        records.extend(peers::outgoing(client));
    }
    records
}

/// The content of a record, in records of one byte of it.
fn in_bytes(record: &[u8]) -> Vec<u8> {
    record[5..].iter().flat_map(|byte| [22, 3, 1, 0, 1, *byte]).collect()
}

#[test]
fn keys_that_are_changed_before_each_byte_end_the_connection() {
    let setup = Setup::new();
    let (mut server, id, mut client) = known(&setup);
    server.give(id, &bytes_under_new_keys(&mut client, BORNE));
    assert!(server.end(id).is_none(), "as many are borne");
    server.give(id, &bytes_under_new_keys(&mut client, BORNE + 1));
    assert!(server.end(id).is_some());
    let log = server.shard().inner().log.join(", ");
    assert!(log.contains("too many records without data"), "{log}");
}

#[test]
fn keys_may_be_changed_again_and_again() {
    let setup = Setup::new();
    let (mut server, id, mut client) = known(&setup);
    for _ in 0..100 {
        server.give(id, &bytes_under_new_keys(&mut client, 10));
        peers::incoming(&mut client, &server.take(id, usize::MAX));
    }
    assert!(server.end(id).is_none());
    assert_eq!(server.shard().inner().received, vec![b'x'; 1_000]);
}

#[test]
fn data_may_come_in_records_of_one_byte() {
    let setup = Setup::new();
    let (mut server, id, mut client) = known(&setup);
    server.give(id, &peers::encrypted(&mut client, 2_000, 1));
    assert_eq!(server.shard().inner().received.len(), 2_000);
}

#[test]
fn a_client_hello_in_many_records_ends_the_connection_and_in_some_does_not() {
    let setup = Setup::new();
    let (mut server, id, _) = met(&setup);
    let endless = [&[0; 5][..], &[1, 0, 0xfd, 0xe8], &[0; 1_000]].concat();
    server.give(id, &in_bytes(&endless));
    assert!(server.end(id).is_some());
    assert_eq!(setup.server.handshakes().failed, 1);

    let (mut server, id, mut client) = met(&setup);
    let hello = peers::outgoing(&mut client);
    let (first, rest) = hello.split_at(5 + BORNE - 1);
    server.give(id, &in_bytes(first));
    server.give(id, &[&[22, 3, 1][..], &(rest.len() as u16).to_be_bytes(), rest].concat());
    peers::incoming(&mut client, &server.take(id, usize::MAX));
    assert!(!client.is_handshaking());
}
