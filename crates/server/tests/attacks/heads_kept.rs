//! Heads of calls: those of open streams are in the server's budget, and those of calls that are
//! over are given back.

use bookend_server::Limits;

use crate::MEMORY;
use crate::frames::{heads_of_one_entry, ids, reset};
use crate::stage::{Peer, Stage, but};
use crate::testing::ECHO;

const MIB: usize = 1 << 20;

fn opened(stage: &mut Stage, connections: usize) -> Vec<Peer> {
    let heads = heads_of_one_entry(ECHO, 250);
    let open = |_| {
        let mut attacker = stage.attacker();
        heads.iter().for_each(|head| stage.send(&mut attacker, head));
        attacker
    };
    (0..connections).map(open).collect()
}

#[test]
fn heads_of_calls_that_are_over_are_given_back() {
    let mut stage = Stage::new(Limits::internet());
    stage.another_is_answered();
    let before_bytes = MEMORY.current_usage();
    let mut attackers = opened(&mut stage, 10);
    let held_bytes = MEMORY.current_usage() - before_bytes;
    assert!(held_bytes > 10 * 250 * (12 << 10), "{held_bytes}");
    for attacker in &mut attackers {
        ids().take(250).for_each(|id| stage.send(attacker, &reset(id)));
    }
    stage.pass_seconds(6);
    let kept_bytes = MEMORY.current_usage().saturating_sub(before_bytes) / 10;
    assert!(kept_bytes < 32 << 10, "{kept_bytes} a connection");
    assert!(attackers.iter().all(|attacker| stage.is_open(attacker)));
}

#[test]
fn heads_of_open_streams_are_in_the_budget() {
    let budget_bytes = 16 * MIB;
    let mut stage = Stage::new(but(|limits| limits.max_held_bytes = Some(budget_bytes)));
    stage.another_is_answered();
    let before_bytes = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let attackers = opened(&mut stage, 30);
    let peak_bytes = MEMORY.peak_usage() - before_bytes;
    assert!(peak_bytes < budget_bytes + 4 * MIB, "{peak_bytes}");
    assert!(stage.counts().shed_connections > 20);
    stage.another_is_answered();
    drop(attackers);
}

#[test]
fn control_without_a_budget_they_are_all_kept() {
    let mut stage = Stage::new(but(|limits| limits.max_held_bytes = None));
    let before_bytes = MEMORY.current_usage();
    let attackers = opened(&mut stage, 30);
    let held_bytes = MEMORY.current_usage() - before_bytes;
    assert!(held_bytes > 80 * MIB, "{held_bytes}");
    assert!(attackers.iter().all(|attacker| stage.is_open(attacker)));
}
