//! Faults that are planted have to be found: each check is shown to fail.

use crate::planted::Planted;
use crate::run::run;
use crate::world::World;

/// Runs in which every call has to end well, and a planted fault has most to spoil.
fn calm_seeds() -> impl Iterator<Item = u64> {
    (1..160).filter(|seed| World::new(*seed, Planted::Nothing).plan.is_calm())
}

/// How many of the calm runs the fault had an occasion in, and what was found in them.
fn found(planted: Planted) -> (usize, Vec<String>) {
    let mut occasions = 0;
    let mut found = Vec::new();
    for seed in calm_seeds() {
        match run(seed, planted) {
            Ok(ran) => occasions += usize::from(ran.was_sabotaged),
            Err(violation) => {
                occasions += 1;
                found.push(violation.what);
            }
        }
    }
    (occasions, found)
}

/// A fault that is always found where it had an occasion.
fn assert_always_found(planted: Planted) {
    let (occasions, found) = found(planted);
    assert!(occasions >= 30, "only {occasions} occasions");
    assert_eq!(found.len(), occasions, "{planted:?} was missed");
}

/// A fault that does no harm in some runs, and is found in the others by what it does.
fn assert_found_by(planted: Planted, words: &[&str]) {
    let (_, found) = found(planted);
    assert!(found.len() >= 10, "{planted:?} was found {} times", found.len());
    for word in words {
        assert!(found.iter().any(|what| what.contains(word)), "none says {word}: {found:#?}");
    }
}

#[test]
fn a_byte_that_the_wire_loses_is_found() {
    assert_always_found(Planted::ByteLost);
}

#[test]
fn a_byte_that_the_wire_changes_is_found() {
    assert_always_found(Planted::ByteChanged);
}

#[test]
fn a_peer_that_overruns_a_window_is_found() {
    assert_found_by(Planted::WindowInflated, &["more than the"]);
}

#[test]
fn data_that_waits_for_credit_for_ever_is_found() {
    assert_found_by(Planted::UpdatesLost, &["all is quiet, and stream"]);
}

#[test]
fn an_owner_that_gives_nothing_back_is_found() {
    assert_found_by(Planted::NothingReleased, &["all is quiet, and stream"]);
}

#[test]
fn an_answer_that_is_said_twice_is_found() {
    assert_found_by(Planted::SaidTwice, &["bytes said"]);
}

#[test]
fn an_event_that_is_told_twice_is_found() {
    assert_found_by(Planted::ToldTwice, &["were not said"]);
}

#[test]
fn a_stream_that_is_not_told_of_its_room_is_found() {
    assert_found_by(Planted::DrainedForgotten, &["all is quiet, and stream"]);
}

#[test]
fn a_split_that_changes_what_is_heard_is_found() {
    assert_found_by(Planted::ReplayChanged, &["cut in another way"]);
}
