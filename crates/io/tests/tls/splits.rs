//! However the network cuts what it carries, both ends see the same.

use super::ends::{Inner, Setup, echoes, pattern};
use super::peers;
use bookend_io::ConnectionId;
use bookend_io::simulated::Simulated;
use bookend_io::tls::Secured;
use rustls::version::{TLS12, TLS13};

type End = Simulated<Secured<Inner>>;

/// Gives `bytes` in these two parts.
fn give_split(end: &mut End, id: ConnectionId, bytes: &[u8], at: usize) {
    end.give(id, &bytes[..at]);
    end.give(id, &bytes[at..]);
}

/// Gives byte by byte.
fn give_trickling(end: &mut End, id: ConnectionId, bytes: &[u8]) {
    for byte in bytes {
        end.give(id, &[*byte]);
    }
}

/// Makes the handshake with a peer that is rustls.
fn shake_hands(
    end: &mut End,
    id: ConnectionId,
    peer: &mut rustls::Connection,
    give: impl Fn(&mut End, ConnectionId, &[u8]),
) {
    loop {
        let there = peers::outgoing(peer);
        give(end, id, &there);
        let back = end.take(id, usize::MAX);
        peers::incoming(peer, &back);
        if there.is_empty() && back.is_empty() {
            return;
        }
    }
}

/// Both roles of ours and both versions of TLS, each with a peer to talk to.
fn everyone(setup: &Setup) -> Vec<(String, End, ConnectionId, rustls::Connection)> {
    let mut all = Vec::new();
    for version in [&TLS12, &TLS13] {
        let mut server = setup.server(Inner::new(echoes));
        let id = server.accept();
        let peer = peers::client(setup, &[b"h2"], &[version]);
        all.push((format!("server, {:?}", version.version), server, id, peer));
        let mut client = setup.client(Inner::dialling(echoes));
        let id = client.connect_all()[0];
        let peer = peers::server(setup, &[b"h2"], &[version]);
        all.push((format!("client, {:?}", version.version), client, id, peer));
    }
    all
}

#[test]
fn handshake_and_data_may_trickle_in_byte_by_byte() {
    let setup = Setup::new();
    for (who, mut end, id, mut peer) in everyone(&setup) {
        shake_hands(&mut end, id, &mut peer, give_trickling);
        let records = peers::encrypted(&mut peer, 5_000, 1_234);
        give_trickling(&mut end, id, &records);
        assert_eq!(end.shard().inner().received, pattern(5_000), "{who}");
        let back = end.take(id, usize::MAX);
        assert_eq!(peers::incoming(&mut peer, &back), pattern(5_000), "{who}");
    }
}

/// Longer than any flight of a handshake here.
const FLIGHT_BYTES: usize = 1_500;

/// A prime, so that every kind of place is met.
const STRIDE: usize = 23;

#[test]
fn a_handshake_may_be_cut_anywhere() {
    let setup = Setup::new();
    for cut in (0..FLIGHT_BYTES).step_by(STRIDE) {
        for (who, mut end, id, mut peer) in everyone(&setup) {
            shake_hands(&mut end, id, &mut peer, |end, id, bytes| {
                give_split(end, id, bytes, cut.min(bytes.len()));
            });
            assert!(!peer.is_handshaking(), "{who}, cut at {cut}");
            assert!(end.shard().inner().id.is_some(), "{who}, cut at {cut}");
        }
    }
}

#[test]
fn data_may_be_cut_at_every_byte() {
    let setup = Setup::new();
    for (who, mut end, id, mut peer) in everyone(&setup) {
        shake_hands(&mut end, id, &mut peer, End::give);
        let length = peers::encrypted(&mut peer, 60, 25);
        end.give(id, &length);
        for cut in 0..=length.len() {
            let records = peers::encrypted(&mut peer, 60, 25);
            give_split(&mut end, id, &records, cut);
            let received = &end.shard().inner().received;
            assert!(received.ends_with(&pattern(60)), "{who}, cut at {cut}");
            assert_eq!(received.len(), 60 * (cut + 2), "{who}, cut at {cut}");
        }
    }
}
