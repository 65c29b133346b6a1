//! Outputs, their buffers, and whom they belong to.

use super::*;

/// The driver's part after a call: writes everything.
fn write_all(turn: &mut Turn) -> Vec<u8> {
    let mut written = Vec::new();
    while let Some((session, _)) = turn.next_touched() {
        let bytes = turn.unwritten(session).to_vec();
        if bytes.is_empty() {
            turn.reclaim(session);
        } else {
            assert!(turn.took(session, bytes.len()));
        }
        written.extend(bytes);
    }
    written
}

fn capacity(turn: &Turn) -> usize {
    turn.slots.iter().map(|slot| slot.output.capacity()).sum()
}

#[test]
fn idle_sessions_keep_no_buffer_and_all_share_a_few() {
    let mut turn = Turn::default();
    let sessions: Vec<_> = (0..1000).map(|_| turn.reserve()).collect();
    for &session in &sessions {
        turn.output(session).extend_from_slice(&[1; 5000]);
        assert_eq!(write_all(&mut turn).len(), 5000);
    }
    assert_eq!((capacity(&turn), turn.pool.len()), (0, 1));
    turn.output(sessions[3]);
    assert_eq!(turn.pool.len(), 0);
    assert!(write_all(&mut turn).is_empty());
    assert_eq!(
        (capacity(&turn), turn.pool.len()),
        (0, 1),
        "asked for and not used"
    );
}

#[test]
fn a_shard_that_swaps_the_buffer_out_does_not_keep_it() {
    let mut turn = Turn::default();
    let (first, second) = (turn.reserve(), turn.reserve());
    for session in [first, second] {
        turn.output(session).extend_from_slice(&[1; 5000]);
    }
    write_all(&mut turn);
    let mut own = Vec::new();
    mem::swap(turn.output(first), &mut own);
    own.extend_from_slice(b"swapped");
    mem::swap(turn.output(first), &mut own);
    assert_eq!(own.capacity(), 0);
    assert_eq!(write_all(&mut turn), b"swapped");
    assert_eq!(turn.pool.len(), 2);
}

#[test]
fn a_buffer_that_is_never_quite_empty_stays_small() {
    let mut turn = Turn::default();
    let session = turn.reserve();
    turn.output(session).extend_from_slice(&[0; 100]);
    for _ in 0..10_000 {
        turn.output(session).extend_from_slice(&[1; 100]);
        assert!(!turn.took(session, 100));
        assert_eq!(turn.backlog(session), 100);
    }
    assert!(turn.output(session).capacity() < 1000);
    assert_eq!(turn.statistics().sent_bytes, 1_000_000);
}

#[test]
fn what_is_lent_is_backlog_until_the_kernel_has_it() {
    let mut turn = Turn::default();
    let session = turn.reserve();
    turn.output(session).extend_from_slice(b"hello ");
    let first = turn.lend(session);
    assert_eq!(first, b"hello ");
    assert!(turn.unwritten(session).is_empty(), "nobody else writes it");
    turn.output(session).extend_from_slice(b"world");
    assert_eq!(turn.backlog(session), 11);
    assert!(!turn.settle_lent(session, 2));
    assert_eq!((turn.backlog(session), turn.sent_bytes(session)), (9, 2));
    assert!(!turn.settle_lent(session, 4), "more was appended meanwhile");
    assert_eq!(turn.lend(session), b"world");
    assert!(turn.take_writable().is_empty());
    assert!(turn.settle_lent(session, 5));
    assert_eq!(turn.take_writable(), [session], "it was told of a backlog");
    assert_eq!((turn.backlog(session), turn.sent_bytes(session)), (0, 11));
    let counted = turn.statistics();
    assert_eq!((counted.writes, counted.sent_bytes), (3, 11));
}

#[test]
fn who_was_not_told_of_a_backlog_is_not_told_of_its_end() {
    let mut turn = Turn::default();
    let session = turn.reserve();
    turn.output(session).extend_from_slice(b"all");
    let bytes = turn.lend(session).len();
    assert!(turn.settle_lent(session, bytes));
    assert!(turn.take_writable().is_empty());
}

#[test]
fn only_what_is_not_written_is_lent() {
    let mut turn = Turn::default();
    let session = turn.reserve();
    turn.output(session).extend_from_slice(b"0123456789");
    assert!(!turn.took(session, 3));
    assert_eq!(turn.lend(session), b"3456789");
    assert_eq!(turn.backlog(session), 7);
    turn.output(session).extend_from_slice(b"ab");
    assert_eq!(
        turn.unwritten(session),
        b"ab",
        "the front is the front again"
    );
}

#[test]
fn a_lent_buffer_is_used_again() {
    let mut turn = Turn::default();
    let session = turn.reserve();
    for _ in 0..100 {
        turn.output(session).extend_from_slice(&[1; 5000]);
        let lent = turn.lend(session);
        turn.settle_lent(session, lent.len());
        turn.recycle(lent);
        while turn.next_touched().is_some() {}
    }
    assert_eq!((capacity(&turn), turn.pool.len()), (0, 1));
}

#[test]
fn what_was_lent_for_a_session_that_is_gone_concerns_nobody() {
    let mut turn = Turn::default();
    let gone = turn.reserve();
    turn.output(gone).extend_from_slice(b"late");
    let lent = turn.lend(gone);
    turn.backlog(gone);
    turn.retire(gone);
    turn.release(gone.index);
    let next = turn.reserve();
    assert_eq!((next.index, turn.backlog(next)), (gone.index, 0));
    assert!(turn.settle_lent(gone, lent.len()));
    assert!(turn.lend(gone).is_empty());
    assert_eq!(turn.sent_bytes(next), 0);
    assert!(turn.take_writable().is_empty());
}

#[test]
fn a_huge_buffer_goes_back_to_the_allocator() {
    let mut turn = Turn::default();
    let session = turn.reserve();
    turn.output(session).resize(POOLED_CAPACITY_MAX + 1, 0);
    write_all(&mut turn);
    assert!(turn.pool.is_empty());
}
