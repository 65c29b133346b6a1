//! A client that comes back is known, and no certificate is sent again.

use super::ends::{Inner, Setup, echoes, listens};
use bookend_io::tls::Handshakes;

fn counts(handshakes: &Handshakes) -> (u64, u64, u64) {
    (handshakes.full, handshakes.resumed, handshakes.failed)
}

#[test]
fn later_connections_of_a_client_are_resumed() {
    let setup = Setup::new();
    for _ in 0..10 {
        // Each with a shard of its own, as the threads of a process have.
        let mut pair = setup.pair(Inner::dialling(listens), Inner::new(echoes));
        pair.carry(usize::MAX);
        assert_eq!(pair.client_log().len(), 1);
    }
    assert_eq!(counts(&setup.client.handshakes()), (1, 9, 0));
    assert_eq!(counts(&setup.server.handshakes()), (1, 9, 0));
}

#[test]
fn another_client_is_not_taken_for_the_first() {
    let setup = Setup::new();
    for _ in 0..2 {
        let other = Setup {
            client: bookend_io::tls::ClientConfig::new(super::ends::trust(&setup.authority), None)
                .unwrap(),
            server: setup.server.clone(),
            authority: super::certificates::Authority::new(),
        };
        let mut pair = other.pair(Inner::dialling(listens), Inner::new(echoes));
        pair.carry(usize::MAX);
    }
    assert_eq!(counts(&setup.server.handshakes()), (2, 0, 0));
}
