//! Halves of streamed messages that nothing follows: they have a time, and when memory is tight
//! they go before those who make progress.

use bookend_testing::message;
use bookend_wire::ErrorCode;

use crate::frames::{body, data, head, ids, ping, request, stream_window};
use crate::stage::{Peer, Stage, but};
use crate::testing::{CHAT, ECHO, FILL};

const KIB: usize = 1 << 10;
const BUDGET_BYTES: usize = 32 << 20;
const DEADLINE_EXCEEDED: &str = "4";

fn stage() -> Stage {
    Stage::new(but(|limits| limits.max_held_bytes = Some(BUDGET_BYTES)))
}

/// The first bytes of a message of 4 MiB.
fn begun(bytes: usize) -> Vec<u8> {
    let mut all = vec![0, 0, 0x40, 0, 0];
    all.resize(bytes, 7);
    all
}

/// `kib` KiB in halves of 60 KB, each in a stream of its own.
fn halves(kib: usize) -> Vec<u8> {
    let half = |id| {
        let parts = begun(60_000).chunks(16_384).flat_map(|part| data(id, part)).collect();
        [head(id, CHAT), parts].concat()
    };
    ids().take(kib * KIB / 60_000).flat_map(half).collect()
}

/// Each holds `kib` KiB in halves of 60 KB, each in a stream of its own.
fn silent(stage: &mut Stage, connections: usize, kib: usize) -> Vec<Peer> {
    let halves = halves(kib);
    let open = |_| {
        let mut attacker = stage.attacker();
        stage.send(&mut attacker, &halves);
        attacker
    };
    (0..connections).map(open).collect()
}

/// Uploads a message of 2 MiB, which the server echoes.
fn upload(stage: &mut Stage, id: u32) -> Option<(u32, String)> {
    let mut client = stage.attacker();
    let large = message(&[5; 2 << 20]);
    stage.send(&mut client, &head(id, ECHO));
    for part in large.chunks(16_384) {
        stage.send(&mut client, &data(id, part));
    }
    stage.send(&mut client, &bookend_testing::frame(0, 1, id, &[]));
    stage.waits_for_threads = true;
    stage.attack(&mut client, std::iter::once(ping()));
    stage.send(&mut client, &crate::frames::wide_open());
    client.heard.last_status
}

#[test]
fn uploads_succeed_while_others_hold_all_memory_and_are_silent() {
    let mut stage = stage();
    // 64 of them with 520 KiB each are more than the budget; each is just about at its share.
    let attackers = silent(&mut stage, 61, 520);
    stage.pass_seconds(3);
    assert_eq!(upload(&mut stage, 1), Some((1, "0".to_owned())));
    let gone = attackers.iter().filter(|attacker| stage.is_reset(attacker)).count();
    assert!((1..20).contains(&gone), "{gone} had to go");
    assert_eq!(stage.counts().shed_connections as usize, gone, "and nobody else");
}

#[test]
fn uploads_succeed_while_others_take_all_memory_at_that_moment() {
    let mut stage = stage();
    let mut attackers = Vec::new();
    for id in ids().take(4) {
        // The budget is full once they have come, and none of them is known to stand still.
        for _ in 0..61 {
            attackers.extend(silent(&mut stage, 1, 520));
            stage.server.pass_ns(1_000_000);
        }
        assert_eq!(upload(&mut stage, id), Some((id, "0".to_owned())));
    }
    let gone = attackers.iter().filter(|attacker| stage.is_reset(attacker)).count();
    assert_eq!(stage.counts().shed_connections as usize, gone, "and nobody else");
}

#[test]
fn who_uploads_on_one_thread_does_not_go_for_those_who_are_idle_on_another() {
    let mut stage = stage();
    let mut elsewhere = stage.other_shard();
    let halves = halves(520);
    let attackers: Vec<_> = (0..62).map(|_| Peer::with_preface(&mut elsewhere)).collect();
    for attacker in &attackers {
        elsewhere.give(attacker.connection, &halves);
    }
    let mut client = stage.attacker();
    stage.send(&mut client, &head(1, ECHO));
    let large = message(&[5; 2 << 20]);
    let mut parts = large.chunks(16_384);
    for part in parts.by_ref().take(100) {
        stage.send(&mut client, &data(1, part));
    }
    assert!(stage.is_open(&client) && stage.counts().shed_connections == 0);
    elsewhere.pass_ns(20_000_000);
    elsewhere.wake();
    let is_gone = |attacker: &&Peer| elsewhere.end(attacker.connection).is_some();
    assert!((1..20).contains(&attackers.iter().filter(is_gone).count()));
    for part in parts {
        stage.send(&mut client, &data(1, part));
    }
    assert!(stage.is_open(&client) && stage.counts().shed_connections == 0);
}

#[test]
fn who_trickles_goes_before_who_uploads() {
    let mut stage = stage();
    let mut attackers = silent(&mut stage, 61, 520);
    for _ in 0..4 {
        stage.pass_seconds(1);
        attackers.iter_mut().for_each(|attacker| stage.send(attacker, &data(1, &[7])));
    }
    assert_eq!(upload(&mut stage, 1), Some((1, "0".to_owned())));
    let gone = attackers.iter().filter(|attacker| stage.is_reset(attacker)).count();
    assert!((1..20).contains(&gone), "{gone} had to go");
    assert_eq!(stage.counts().shed_connections as usize, gone, "and nobody else");
}

#[test]
fn halves_end_after_their_time_and_sooner_when_memory_is_tight() {
    let mut stage = stage();
    let mut attackers = silent(&mut stage, 10, 520);
    stage.pass_seconds(59);
    attackers[0].read(&mut stage.server);
    assert_eq!(attackers[0].heard.statuses_of(DEADLINE_EXCEEDED), 0);
    stage.pass_seconds(12);
    attackers[0].read(&mut stage.server);
    assert_eq!(attackers[0].heard.statuses_of(DEADLINE_EXCEEDED), 8);
    assert_eq!(attackers[0].heard.resets_with(ErrorCode::NO_ERROR), 8);
    let mut attackers = silent(&mut stage, 50, 520);
    stage.pass_seconds(8);
    attackers[0].read(&mut stage.server);
    assert_eq!(attackers[0].heard.statuses_of(DEADLINE_EXCEEDED), 8, "much is held");
    assert_eq!(stage.counts().shed_connections, 0);
}

#[test]
fn a_chat_goes_on_while_memory_is_tight() {
    let mut stage = stage();
    let mut hoarder = stage.attacker_with(&stream_window(0));
    for id in ids().take(26) {
        stage.send(&mut hoarder, &request(id, FILL, &(1_u32 << 20).to_be_bytes()));
    }
    let mut client = stage.attacker();
    stage.send(&mut client, &head(1, CHAT));
    let small = message(b"small");
    for _ in 0..15 {
        stage.send(&mut client, &data(1, &small[..7]));
        stage.pass_seconds(2);
        stage.send(&mut client, &data(1, &small[7..]));
        stage.pass_seconds(10);
    }
    assert_eq!(client.heard.last_status, None);
    stage.send(&mut client, &data(1, &small[..7]));
    stage.pass_seconds(8);
    client.read(&mut stage.server);
    let ended = Some((1, DEADLINE_EXCEEDED.to_owned()));
    assert_eq!(client.heard.last_status, ended, "memory is tight");
    assert!(stage.is_open(&hoarder) && stage.is_open(&client));
}

#[test]
fn streams_may_be_silent_between_messages_and_slow_within_one() {
    let mut stage = stage();
    let mut client = stage.attacker();
    stage.send(&mut client, &head(1, CHAT));
    stage.send(&mut client, &data(1, &message(b"one")));
    stage.pass_seconds(600);
    for part in message(&[7; 100]).chunks(10) {
        stage.send(&mut client, &data(1, part));
        stage.pass_seconds(50);
    }
    // Equal halves at each look are not the same half.
    for _ in 0..30 {
        let large = message(&[7; 100]);
        stage.send(&mut client, &data(1, &large[..50]));
        stage.pass_seconds(10);
        stage.send(&mut client, &data(1, &large[50..]));
    }
    stage.send(&mut client, &body(1, b"last"));
    assert_eq!(client.heard.last_status, Some((1, "0".to_owned())));
}
