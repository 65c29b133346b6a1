//! What handshakes keep is counted while they last, and the oldest are given up where it is too
//! much.

use crate::ends::{Inner, START_NS, Setup, carry, listens};
use bookend_io::simulated::{End, Simulated};
use bookend_io::tls::{Secured, SharedLimits};
use bookend_io::{AfterRead, ConnectionId};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const KIB: usize = 1 << 10;

/// Handshakes that each address may have.
const ADDRESS_HANDSHAKES: usize = 3;

/// A budget of bytes, what is held of it, and the handshakes of each address.
struct Budget {
    limit_bytes: usize,
    held_bytes: AtomicUsize,
    handshakes: Mutex<HashMap<IpAddr, usize>>,
}

impl Budget {
    fn new(limit_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            limit_bytes,
            held_bytes: AtomicUsize::new(0),
            handshakes: Mutex::default(),
        })
    }

    fn held(&self) -> usize {
        self.held_bytes.load(Ordering::Relaxed)
    }
}

impl SharedLimits for Budget {
    fn add(&self, bytes: usize) {
        self.held_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn subtract(&self, bytes: usize) {
        self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn is_tight(&self) -> bool {
        self.held() > self.limit_bytes / 4 * 3
    }

    fn is_exceeded(&self) -> bool {
        self.held() > self.limit_bytes
    }

    fn enter(&self, address: IpAddr) -> bool {
        let mut handshakes = self.handshakes.lock().unwrap();
        let count = handshakes.entry(address).or_default();
        let has_room = *count < ADDRESS_HANDSHAKES;
        *count += usize::from(has_room);
        has_room
    }

    fn leave(&self, address: IpAddr) {
        *self.handshakes.lock().unwrap().get_mut(&address).unwrap() -= 1;
    }
}

type Server = Simulated<Secured<Inner>>;

fn server(setup: &Setup, budget: &Arc<Budget>) -> Server {
    let config = setup.server.clone().limits(budget.clone());
    Simulated::new(Secured::accepting(Inner::new(listens), config), START_NS)
}

/// Records with all but the last byte of a ClientHello of 64 KiB.
fn half_hello() -> Vec<u8> {
    let mut hello = vec![1, 0, 0xfd, 0xe8];
    hello.resize(64_990, 0);
    let record = |part: &[u8]| [&[22, 3, 1][..], &(part.len() as u16).to_be_bytes(), part].concat();
    hello.chunks(16_000).flat_map(record).collect()
}

fn attack(server: &mut Server) -> ConnectionId {
    let id = server.accept();
    server.give(id, &half_hello());
    id
}

#[test]
fn half_hellos_are_counted_until_they_are_gone() {
    let (setup, budget) = (Setup::new(), Budget::new(usize::MAX / 4));
    let mut server = server(&setup, &budget);
    let attackers: Vec<_> = (0..10).map(|_| attack(&mut server)).collect();
    let held_bytes = budget.held();
    assert!(held_bytes > 10 * 64_990, "{held_bytes}");
    let (left, stay) = attackers.split_at(5);
    left.iter().for_each(|id| server.hang_up(*id));
    assert_eq!(budget.held(), held_bytes / 2);
    server.pass_ns(11_000_000_000);
    assert!(stay.iter().all(|id| server.end(*id).is_some()), "they had ten seconds");
    assert_eq!(budget.held(), 0);
}

#[test]
fn the_oldest_are_given_up_while_too_much_is_held_and_others_are_served() {
    let (setup, budget) = (Setup::new(), Budget::new(1_000 * KIB));
    let mut server = server(&setup, &budget);
    let mut attackers = Vec::new();
    for _ in 0..50 {
        attackers.push(attack(&mut server));
        server.pass_ns(1_000_000);
        assert!(budget.held() <= 1_000 * KIB, "{}", budget.held());
    }
    let is_gone = |id: &ConnectionId| server.end(*id) == Some(End::Reset);
    let gone = attackers.iter().position(|id| !is_gone(id)).unwrap();
    assert!(gone > 30 && attackers[gone..].iter().all(|id| !is_gone(id)), "{gone}");
    let first = server.shard().inner().log.clone();
    assert_eq!(first, Vec::<String>::new(), "the shard inside has heard of none");
    talk(&setup, &mut server);
    assert!(budget.held() <= 1_000 * KIB);
    drop(server);
    assert_eq!(budget.held(), 0);
    let counted = setup.server.handshakes();
    assert_eq!((counted.failed as usize, counted.full), (gone, 1));
    assert!(counted.first_failure.unwrap().contains("memory"));
}

#[test]
fn while_little_is_left_a_handshake_has_a_second() {
    let (setup, budget) = (Setup::new(), Budget::new(1_000 * KIB));
    let mut server = server(&setup, &budget);
    let attackers: Vec<_> = (0..12).map(|_| attack(&mut server)).collect();
    assert!(budget.is_tight() && !budget.is_exceeded());
    server.pass_ns(2_000_000_000);
    server.wake();
    let gone = attackers.iter().filter(|id| server.end(**id).is_some()).count();
    assert!((1..12).contains(&gone) && !budget.is_tight(), "{gone}");
}

#[test]
fn half_records_and_sessions_are_counted_too() {
    let (setup, budget) = (Setup::new(), Budget::new(usize::MAX / 4));
    let mut server = server(&setup, &budget);
    let id = server.accept();
    server.give(id, &half_hello()[..16_000]);
    assert!(budget.held() > 16_000, "{}", budget.held());
    server.hang_up(id);
    talk(&setup, &mut server);
    assert!((4 * KIB..12 * KIB).contains(&budget.held()), "{}", budget.held());
}

#[test]
fn handshakes_are_counted_for_their_address_until_they_are_over() {
    let (setup, budget) = (Setup::new(), Budget::new(usize::MAX / 4));
    let mut server = server(&setup, &budget);
    let from = |host: u8| (IpAddr::from([192, 0, 2, host]), 1_000).into();
    let first: Vec<_> = (0..5).map(|_| server.accept_from(from(1))).collect();
    let ends: Vec<_> = first.iter().map(|id| server.end(*id)).collect();
    assert_eq!(ends, [None, None, None, Some(End::Reset), Some(End::Reset)]);
    let other = server.accept_from(from(2));
    assert_eq!(server.end(other), None, "others have not been counted there");
    server.hang_up(first[0]);
    let at_server = server.accept_from(from(1));
    talk_at(at_server, &setup, &mut server);
    let after = server.accept_from(from(1));
    assert_eq!(server.end(after), None, "the shard inside counts who is through");
    let counted = setup.server.handshakes();
    assert!(counted.first_failure.unwrap().contains("too many connections"));
    drop(server);
    assert!(budget.handshakes.lock().unwrap().values().all(|count| *count == 0));
}

/// A client makes its handshake, is heard, and stays.
fn talk(setup: &Setup, server: &mut Server) {
    let at_server = server.accept();
    talk_at(at_server, setup, server);
}

fn talk_at(at_server: ConnectionId, setup: &Setup, server: &mut Server) {
    let mut client = setup.client(Inner::dialling(|event, io| {
        if let crate::ends::Event::Opened(id) = event {
            io.output(*id).extend_from_slice(b"hello");
        }
        (None, AfterRead::Continue)
    }));
    let at_client = client.connect_all()[0];
    carry((&mut client, at_client), (server, at_server));
    assert_eq!(server.shard().inner().received, b"hello");
}
