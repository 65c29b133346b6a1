//! What goes wrong, told in one line to whoever has to do something about it.

use super::certificates::Files;
use super::ends::{Event, Inner, Pair, Setup, client, echoes, listens, trust};
use super::peers;
use bookend_io::AfterRead;
use bookend_io::simulated::End;
use bookend_io::tls::{
    Authorities, ClientConfig, HANDSHAKE_TIMEOUT_NS, Identity, ServerConfig, Trust,
};
use rustls::version::TLS13;

fn identity(files: &Files) -> Identity {
    Identity::read(&files.certificate, &files.key).unwrap()
}

/// The last thing that the client was told.
fn told(pair: &Pair) -> &str {
    pair.client_log().last().map_or("", String::as_str)
}

/// A handshake of this client and this server, to its end.
fn meet(setup: &Setup) -> Pair {
    let mut pair = setup.pair(Inner::dialling(listens), Inner::new(echoes));
    pair.carry(usize::MAX);
    pair
}

#[test]
fn a_certificate_of_an_unknown_authority_names_the_flag() {
    let mut setup = Setup::new();
    setup.client = client(trust(&Setup::new().authority), None);
    let pair = meet(&setup);
    assert_eq!(
        told(&pair),
        "not connected 7: the server's certificate is signed by nobody who is trusted here: name \
         its CA with --cacert FILE, or the certificate itself"
    );
    assert_eq!(pair.server_log(), &[] as &[&str], "the shard inside never hears of it");
    let failed = setup.server.handshakes();
    assert_eq!((failed.full, failed.failed), (0, 1));
    assert_eq!(
        failed.first_failure.unwrap(),
        "the client does not accept our certificate (alert unknown_ca)"
    );
    assert_eq!(setup.client.handshakes().failed, 1);
}

#[test]
fn a_certificate_for_another_name_comes_with_its_names() {
    let mut setup = Setup::new();
    let files = setup.authority.issue(&["a.example", "*.b.example", "10.0.0.1"]);
    setup.server = ServerConfig::new(identity(&files), None).unwrap();
    assert_eq!(
        told(&meet(&setup)),
        "not connected 7: the server's certificate is not for localhost: it is for a.example, \
         *.b.example, 10.0.0.1; give the right name with --cname"
    );
}

#[test]
fn a_certificate_that_has_expired_says_for_how_long() {
    let mut setup = Setup::new();
    let files = setup.authority.issue_expired(&["localhost"]);
    setup.server = ServerConfig::new(identity(&files), None).unwrap();
    let pair = meet(&setup);
    let text = told(&pair);
    assert!(text.contains("the server's certificate has expired") && text.ends_with("days ago"));
}

#[test]
fn a_client_that_verifies_nothing_accepts_all_of_these() {
    let mut setup = Setup::new();
    setup.server = ServerConfig::new(identity_of_another(), None).unwrap();
    setup.client = ClientConfig::new(Trust::Anyone, None).unwrap();
    assert_eq!(told(&meet(&setup)), "opened Connected(7)");
}

/// Expired, for another name, and signed by another authority.
fn identity_of_another() -> Identity {
    let other = Setup::new();
    identity(&other.authority.issue_expired(&["a.example"]))
}

#[test]
fn a_client_with_the_certificate_that_is_demanded_is_let_in() {
    let mut setup = Setup::new();
    let authorities = Authorities::read(&setup.authority.file()).unwrap();
    let own = setup.authority.issue(&["localhost"]);
    setup.server = ServerConfig::new(identity(&own), Some(authorities)).unwrap();
    let client = identity(&setup.authority.issue(&["client"]));
    setup.client = ClientConfig::new(trust(&setup.authority), Some(client)).unwrap();
    let pair = meet(&setup);
    assert_eq!(pair.client_log(), &["opened Connected(7)"]);
    assert_eq!(pair.server_log(), &["opened Accepted"]);
}

#[test]
fn the_error_for_a_missing_client_certificate_names_the_flags() {
    let mut setup = Setup::new();
    let authorities = Authorities::read(&setup.authority.file()).unwrap();
    let own = setup.authority.issue(&["localhost"]);
    setup.server = ServerConfig::new(identity(&own), Some(authorities)).unwrap();
    let pair = meet(&setup);
    assert_eq!(
        told(&pair),
        "failed: the server demands a client certificate: give one with --cert FILE --key FILE"
    );
    assert_eq!(pair.server_log(), &[] as &[&str]);
    let failure = setup.server.handshakes().first_failure.unwrap();
    assert_eq!(failure, "the client sent no certificate");
}

#[test]
fn a_client_with_a_strangers_certificate_is_refused() {
    let mut setup = Setup::new();
    let authorities = Authorities::read(&setup.authority.file()).unwrap();
    let own = setup.authority.issue(&["localhost"]);
    setup.server = ServerConfig::new(identity(&own), Some(authorities)).unwrap();
    setup.client = ClientConfig::new(trust(&setup.authority), Some(identity_of_another())).unwrap();
    let pair = meet(&setup);
    let text = told(&pair);
    assert!(text.starts_with("failed: the server does not accept our certificate"), "{text}");
    let failure = setup.server.handshakes().first_failure.unwrap();
    assert!(failure.contains("the client's certificate"), "{failure}");
}

#[test]
fn a_server_that_speaks_no_tls_is_named_with_the_flag() {
    let setup = Setup::new();
    for (answer, text) in [
        (
            &b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"[..],
            "not connected 7: the server speaks no TLS: add --insecure",
        ),
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "not connected 7: the server speaks no TLS: add --insecure",
        ),
        (
            b"",
            "not connected 7: the server closed the connection in the TLS handshake: if it speaks \
             no TLS, add --insecure",
        ),
    ] {
        let mut client = setup.client(Inner::dialling(listens));
        let id = client.connect_all()[0];
        client.give(id, answer);
        client.take(id, usize::MAX);
        client.hang_up(id);
        assert_eq!(client.shard().inner().log, [text]);
    }
}

#[test]
fn a_client_that_speaks_no_tls_gets_an_alert_and_is_counted() {
    for (said, failure) in [
        (&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], "the client speaks HTTP/2 without TLS"),
        (b"GET / HTTP/1.1\r\n\r\n", "the client speaks no TLS"),
    ] {
        let setup = Setup::new();
        let mut server = setup.server(Inner::new(echoes));
        let id = server.accept();
        server.give(id, said);
        let alert = server.take(id, usize::MAX);
        assert_eq!(alert[..2], [0x15, 0x03], "{alert:?}");
        assert_eq!(server.end(id), Some(End::Closed));
        assert!(server.shard().inner().log.is_empty());
        assert_eq!(setup.server.handshakes().first_failure.unwrap(), failure);
    }
}

#[test]
fn the_error_for_a_peer_without_h2_says_so() {
    let setup = Setup::new();
    // A server of ours and a client that offers something else, or nothing.
    for (protocols, failure) in [
        (&[&b"http/1.1"[..]][..], "the client did not offer h2 by ALPN, which HTTP/2 needs"),
        (&[], "the client did not offer h2 by ALPN, which HTTP/2 needs"),
    ] {
        let setup = Setup::new();
        let mut server = setup.server(Inner::new(echoes));
        let id = server.accept();
        let mut peer = peers::client(&setup, protocols, &[&TLS13]);
        for _ in 0..3 {
            server.give(id, &peers::outgoing(&mut peer));
            let mut back = &server.take(id, usize::MAX)[..];
            while !back.is_empty() && peer.read_tls(&mut back).is_ok() {
                let _ = peer.process_new_packets();
            }
        }
        assert_eq!(setup.server.handshakes().first_failure.unwrap(), failure);
        assert!(server.shard().inner().log.is_empty());
    }
    // A client of ours and a server that chooses nothing.
    let mut client = setup.client(Inner::dialling(listens));
    let id = client.connect_all()[0];
    let mut peer = peers::server(&setup, &[], &[&TLS13]);
    for _ in 0..3 {
        peers::incoming(&mut peer, &client.take(id, usize::MAX));
        client.give(id, &peers::outgoing(&mut peer));
        if client.end(id).is_some() {
            break;
        }
    }
    assert_eq!(
        client.shard().inner().log,
        ["not connected 7: the server did not choose h2 by ALPN: it speaks TLS there, but not \
             HTTP/2"]
    );
}

#[test]
fn a_protocol_without_a_name_in_alpn_needs_no_choice_of_the_server() {
    let mut setup = Setup::new();
    setup.client = setup.client.without_alpn();
    let mut client = setup.client(Inner::dialling(|event, io| {
        if let Event::Opened(id) = event {
            io.output(*id).extend_from_slice(b"hello");
        }
        (None, AfterRead::Continue)
    }));
    let id = client.connect_all()[0];
    let mut peer = peers::server(&setup, &[], &[&TLS13]);
    let mut said = Vec::new();
    for _ in 0..4 {
        said.extend(peers::incoming(&mut peer, &client.take(id, usize::MAX)));
        client.give(id, &peers::outgoing(&mut peer));
    }
    assert_eq!(said, b"hello");
    assert_eq!(client.end(id), None);
}

#[test]
fn a_handshake_that_takes_too_long_is_given_up_at_either_end() {
    let setup = Setup::new();
    let mut server = setup.server(Inner::new(echoes));
    let at_server = server.accept();
    let mut client = setup.client(Inner::dialling(listens));
    let at_client = client.connect_all()[0];
    for (end, id) in [(&mut server, at_server), (&mut client, at_client)] {
        end.pass_ns(HANDSHAKE_TIMEOUT_NS - 1);
        assert_eq!(end.end(id), None);
        end.pass_ns(1);
        assert_eq!(end.end(id), Some(End::Reset));
    }
    assert_eq!(
        client.shard().inner().log,
        ["not connected 7: the server did not finish the TLS handshake within 10s"]
    );
    assert_eq!(
        setup.server.handshakes().first_failure.unwrap(),
        "the client did not finish the TLS handshake within 10s"
    );
}

#[test]
fn the_first_callback_gets_each_failure() {
    let setup = Setup::new();
    let (tell, told) = std::sync::mpsc::channel();
    let server = setup.server.clone();
    server.on_failure(move |why| tell.send(why.to_owned()).unwrap());
    let again = setup.server.clone();
    again.on_failure(|_| panic!("somebody has asked before"));
    drop(meet(&setup));
    assert!(told.try_recv().is_err(), "it went well");
    for _ in 0..3 {
        let mut server = setup.server(Inner::new(echoes));
        let id = server.accept();
        server.give(id, b"GET / HTTP/1.1\r\n\r\n");
    }
    let told: Vec<String> = told.try_iter().collect();
    assert_eq!(told, ["the client speaks no TLS"; 3]);
    assert_eq!(setup.server.handshakes().failed, 3);
}

#[test]
fn a_handshake_in_time_causes_no_later_wake_up() {
    let setup = Setup::new();
    let mut pair = meet(&setup);
    pair.server.pass_ns(2 * HANDSHAKE_TIMEOUT_NS);
    pair.client.pass_ns(2 * HANDSHAKE_TIMEOUT_NS);
    assert_eq!(pair.client_log().len() + pair.server_log().len(), 2);
}

#[test]
fn bytes_that_were_changed_on_the_way_end_the_connection() {
    let setup = Setup::new();
    let mut pair = meet(&setup);
    pair.send(b"hello");
    let mut records = pair.client.take(pair.at_client, usize::MAX);
    let middle = records.len() / 2;
    records[middle] ^= 1;
    pair.server.give(pair.at_server, &records);
    assert!(pair.at_server().received.is_empty());
    let text = pair.server_log().last().unwrap();
    assert_eq!(text, "failed: TLS with the client failed: cannot decrypt peer's message");
}

#[test]
fn a_connect_that_is_given_up_in_its_handshake_never_opened() {
    let setup = Setup::new();
    let mut asked = None;
    let mut first = true;
    let client = Inner::new(move |event, io| {
        if let super::ends::Event::Woken = event {
            match asked {
                None => {
                    asked = Some(io.connect(std::net::SocketAddr::from(([127, 0, 0, 1], 1)), 7))
                }
                Some(id) if first => {
                    first = false;
                    io.close(id);
                }
                Some(_) => {}
            }
        }
        (None, bookend_io::AfterRead::Continue)
    });
    let mut client = setup.client(client);
    let id = client.connect_all()[0];
    client.wake();
    client.take(id, usize::MAX);
    let log = &client.shard().inner().log;
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(log[0].starts_with("not connected 7"), "{log:?}");
    assert_eq!(setup.client.handshakes().failed, 0, "nobody's fault");
}
