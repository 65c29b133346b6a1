//! However the network cuts what it carries, both ends see the same.

use super::ends::{Inner, Setup, echoes, pattern};
use super::peers;
use bookend_io::Session;
use bookend_io::simulated::Simulated;
use bookend_io::tls::Secured;
use rustls::version::{TLS12, TLS13};

type End = Simulated<Secured<Inner>>;

/// Gives `bytes` in these two parts.
fn give_split(end: &mut End, session: Session, bytes: &[u8], at: usize) {
    end.give(session, &bytes[..at]);
    end.give(session, &bytes[at..]);
}

/// Gives octet by octet.
fn give_trickling(end: &mut End, session: Session, bytes: &[u8]) {
    for octet in bytes {
        end.give(session, &[*octet]);
    }
}

/// Makes the handshake with a peer that is rustls.
fn shake_hands(
    end: &mut End,
    session: Session,
    peer: &mut rustls::Connection,
    give: impl Fn(&mut End, Session, &[u8]),
) {
    loop {
        let there = peers::outgoing(peer);
        give(end, session, &there);
        let back = end.take(session, usize::MAX);
        peers::incoming(peer, &back);
        if there.is_empty() && back.is_empty() {
            return;
        }
    }
}

/// Both roles of ours and both versions of TLS, each with a peer to talk to.
fn everyone(setup: &Setup) -> Vec<(String, End, Session, rustls::Connection)> {
    let mut all = Vec::new();
    for version in [&TLS12, &TLS13] {
        let mut server = setup.server(Inner::new(echoes));
        let session = server.accept();
        let peer = peers::client(setup, &[b"h2"], &[version]);
        all.push((
            format!("server, {:?}", version.version),
            server,
            session,
            peer,
        ));
        let mut client = setup.client(Inner::dialling(echoes));
        let session = client.connect_all()[0];
        let peer = peers::server(setup, &[b"h2"], &[version]);
        all.push((
            format!("client, {:?}", version.version),
            client,
            session,
            peer,
        ));
    }
    all
}

#[test]
fn handshake_and_data_may_trickle_in_octet_by_octet() {
    let setup = Setup::new();
    for (who, mut end, session, mut peer) in everyone(&setup) {
        shake_hands(&mut end, session, &mut peer, give_trickling);
        let records = peers::encrypted(&mut peer, 5_000, 1_234);
        give_trickling(&mut end, session, &records);
        assert_eq!(end.shard().inner().received, pattern(5_000), "{who}");
        let back = end.take(session, usize::MAX);
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
        for (who, mut end, session, mut peer) in everyone(&setup) {
            shake_hands(&mut end, session, &mut peer, |end, session, bytes| {
                give_split(end, session, bytes, cut.min(bytes.len()));
            });
            assert!(!peer.is_handshaking(), "{who}, cut at {cut}");
            assert!(end.shard().inner().session.is_some(), "{who}, cut at {cut}");
        }
    }
}

#[test]
fn data_may_be_cut_at_every_octet() {
    let setup = Setup::new();
    for (who, mut end, session, mut peer) in everyone(&setup) {
        shake_hands(&mut end, session, &mut peer, End::give);
        let length = peers::encrypted(&mut peer, 60, 25);
        end.give(session, &length);
        for cut in 0..=length.len() {
            let records = peers::encrypted(&mut peer, 60, 25);
            give_split(&mut end, session, &records, cut);
            let received = &end.shard().inner().received;
            assert!(received.ends_with(&pattern(60)), "{who}, cut at {cut}");
            assert_eq!(received.len(), 60 * (cut + 2), "{who}, cut at {cut}");
        }
    }
}
