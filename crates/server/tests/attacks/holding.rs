//! Many connections that each hold less than they may, and together too much.

use bookend_server::Limits;
use bookend_wire::ErrorCode;

use crate::MEMORY;
use crate::frames::{data, head, ids, request, stream_window, wide_open};
use crate::stage::{Peer, Stage, but};
use crate::testing::{ECHO, FILL};

const MIB: usize = 1 << 20;
const BUDGET_BYTES: usize = 32 * MIB;

fn with_budget() -> Limits {
    but(|limits| limits.max_held_bytes = Some(BUDGET_BYTES))
}

fn without_budget() -> Limits {
    but(|limits| limits.max_held_bytes = None)
}

/// Asks for `mib` MiB, and reads none of them.
fn ask_for(stage: &mut Stage, mib: usize) -> Peer {
    let mut attacker = stage.attacker_with(&stream_window(0));
    for id in ids().take(mib) {
        stage.send(&mut attacker, &request(id, FILL, &(MIB as u32).to_be_bytes()));
    }
    attacker
}

/// Sends half of each of `messages` messages of four megabytes.
fn send_halves(stage: &mut Stage, messages: usize) -> Peer {
    let mut attacker = stage.attacker();
    for id in ids().take(messages) {
        let part = data(id, &[7; 16_384]).repeat(128);
        let half = [head(id, ECHO), data(id, &[0, 0, 0x3f, 0xff, 0]), part].concat();
        stage.send(&mut attacker, &half);
    }
    attacker
}

/// What is held while ten connections do that, and after they have gone.
fn held_by_ten(stage: &mut Stage, mut attack: impl FnMut(&mut Stage) -> Peer) -> (usize, usize) {
    stage.another_is_answered();
    let before_bytes = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let attackers: Vec<_> = (0..10).map(|_| attack(stage)).collect();
    stage.another_is_answered();
    let peak_bytes = MEMORY.peak_usage() - before_bytes;
    for attacker in &attackers {
        stage.server.hang_up(attacker.connection);
    }
    stage.another_is_answered();
    drop(attackers);
    (peak_bytes, MEMORY.current_usage().saturating_sub(before_bytes))
}

#[test]
fn replies_that_nobody_reads_are_bounded_for_the_server() {
    let mut stage = Stage::new(with_budget());
    let (peak_bytes, kept_bytes) = held_by_ten(&mut stage, |stage| ask_for(stage, 10));
    assert!(peak_bytes < BUDGET_BYTES + 8 * MIB, "{peak_bytes}");
    assert!(kept_bytes < 4 * MIB, "{kept_bytes}");
    assert!(stage.counts().shed_connections > 0);
}

#[test]
fn halves_of_requests_are_bounded_for_the_server() {
    let mut stage = Stage::new(with_budget());
    let (peak_bytes, kept_bytes) = held_by_ten(&mut stage, |stage| send_halves(stage, 7));
    // Messages grow by doubling.
    assert!(peak_bytes < 2 * BUDGET_BYTES + 8 * MIB, "{peak_bytes}");
    assert!(kept_bytes < 4 * MIB, "{kept_bytes}");
    assert!(stage.counts().shed_connections > 0);
}

#[test]
fn control_without_a_budget_they_are_all_kept() {
    for attack in
        [|stage: &mut Stage| ask_for(stage, 10), |stage: &mut Stage| send_halves(stage, 7)]
    {
        let mut stage = Stage::new(without_budget());
        let (peak_bytes, _) = held_by_ten(&mut stage, attack);
        assert!(peak_bytes > 90 * MIB, "{peak_bytes}");
        assert_eq!(stage.counts().shed_connections, 0);
    }
}

#[test]
fn who_holds_most_is_asked_to_wait_first_and_reset_then() {
    let mut stage = Stage::new(with_budget());
    let mut modest = ask_for(&mut stage, 2);
    let mut greedy = ask_for(&mut stage, 21);
    assert_eq!(greedy.heard.resets.len(), 0);
    stage.send(&mut greedy, &request(1_001, FILL, &(MIB as u32).to_be_bytes()));
    stage.send(&mut greedy, &request(1_003, ECHO, b"one more"));
    assert_eq!(greedy.heard.resets_with(ErrorCode::REFUSED_STREAM), 1);
    stage.send(&mut modest, &request(1_001, ECHO, b"one more"));
    assert_eq!(modest.heard.resets.len(), 0, "it holds less than its share");
    assert!(stage.is_open(&greedy));
    // The rest is taken by somebody else, and who holds most of it goes.
    let other = ask_for(&mut stage, 8);
    assert!(stage.is_reset(&greedy));
    assert!(stage.is_open(&modest) && stage.is_open(&other));
    assert_eq!(stage.counts().shed_connections, 1);
}

#[test]
fn who_reads_what_it_asked_for_is_served_again() {
    let mut stage = Stage::new(with_budget());
    let mut client = ask_for(&mut stage, 24);
    stage.send(&mut client, &request(1_001, ECHO, b"now?"));
    assert_eq!(client.heard.resets_with(ErrorCode::REFUSED_STREAM), 1);
    stage.send(&mut client, &wide_open());
    stage.send(&mut client, &request(1_003, ECHO, b"and now?"));
    assert_eq!(client.heard.last_status, Some((1_003, "0".to_owned())));
    assert_eq!(stage.counts().shed_connections, 0);
}

#[test]
fn addresses_have_so_many_connections_and_no_more() {
    let mut stage = Stage::new(but(|limits| limits.max_address_connections = Some(3)));
    let crowded = "192.0.2.1:1".parse().unwrap();
    let mut peers: Vec<_> = (0..4).map(|_| stage.attacker_from(crowded)).collect();
    let last = peers.pop().unwrap();
    assert_eq!(last.heard.goaway.map(|(code, _)| code), Some(ErrorCode::ENHANCE_YOUR_CALM));
    assert!(peers.iter().all(|peer| stage.is_open(peer)));
    let elsewhere = stage.attacker_from("192.0.2.2:1".parse().unwrap());
    assert!(stage.is_open(&elsewhere));
    stage.server.hang_up(peers[0].connection);
    let again = stage.attacker_from(crowded);
    assert!(stage.is_open(&again));
    assert_eq!(stage.counts().refused_connections, 1);
}
