//! Outputs, their buffers, and whom they belong to.

use super::*;

/// The driver's part after a call: writes everything.
fn write_all(io: &mut IoContext) -> Vec<u8> {
    let mut written = Vec::new();
    while let Some((id, _)) = io.next_touched() {
        let bytes = io.unwritten(id).to_vec();
        if bytes.is_empty() {
            io.reclaim(id);
        } else {
            assert!(io.took(id, bytes.len()));
        }
        written.extend(bytes);
    }
    written
}

fn capacity(io: &IoContext) -> usize {
    io.slots.iter().map(|slot| slot.output.capacity()).sum()
}

#[test]
fn idle_connections_keep_no_buffer_and_all_share_a_few() {
    let mut io = IoContext::default();
    let connections: Vec<_> = (0..1000).map(|_| io.reserve()).collect();
    for &id in &connections {
        io.output(id).extend_from_slice(&[1; 5000]);
        assert_eq!(write_all(&mut io).len(), 5000);
    }
    assert_eq!((capacity(&io), io.pool.len()), (0, 1));
    io.output(connections[3]);
    assert_eq!(io.pool.len(), 0);
    assert!(write_all(&mut io).is_empty());
    assert_eq!((capacity(&io), io.pool.len()), (0, 1), "asked for and not used");
}

#[test]
fn a_shard_that_swaps_the_buffer_out_does_not_keep_it() {
    let mut io = IoContext::default();
    let (first, second) = (io.reserve(), io.reserve());
    for id in [first, second] {
        io.output(id).extend_from_slice(&[1; 5000]);
    }
    write_all(&mut io);
    let mut own = Vec::new();
    mem::swap(io.output(first), &mut own);
    own.extend_from_slice(b"swapped");
    mem::swap(io.output(first), &mut own);
    assert_eq!(own.capacity(), 0);
    assert_eq!(write_all(&mut io), b"swapped");
    assert_eq!(io.pool.len(), 2);
}

#[test]
fn a_buffer_that_is_never_quite_empty_stays_small() {
    let mut io = IoContext::default();
    let id = io.reserve();
    io.output(id).extend_from_slice(&[0; 100]);
    for _ in 0..10_000 {
        io.output(id).extend_from_slice(&[1; 100]);
        assert!(!io.took(id, 100));
        assert_eq!(io.backlog(id), 100);
    }
    assert!(io.output(id).capacity() < 1000);
    assert_eq!(io.statistics().sent_bytes, 1_000_000);
}

#[test]
fn what_is_lent_is_backlog_until_the_kernel_has_it() {
    let mut io = IoContext::default();
    let id = io.reserve();
    io.output(id).extend_from_slice(b"hello ");
    let first = io.lend(id);
    assert_eq!(first, b"hello ");
    assert!(io.unwritten(id).is_empty(), "nobody else writes it");
    io.output(id).extend_from_slice(b"world");
    assert_eq!(io.backlog(id), 11);
    assert!(!io.settle_lent(id, 2));
    assert_eq!((io.backlog(id), io.sent_bytes(id)), (9, 2));
    assert!(!io.settle_lent(id, 4), "more was appended meanwhile");
    assert_eq!(io.lend(id), b"world");
    assert!(io.take_writable().is_empty());
    assert!(io.settle_lent(id, 5));
    assert_eq!(io.take_writable(), [id], "the backlog was known");
    assert_eq!((io.backlog(id), io.sent_bytes(id)), (0, 11));
    let counted = io.statistics();
    assert_eq!((counted.writes, counted.sent_bytes), (3, 11));
}

#[test]
fn the_end_of_a_backlog_is_reported_only_where_the_backlog_was_known() {
    let mut io = IoContext::default();
    let id = io.reserve();
    io.output(id).extend_from_slice(b"all");
    let bytes = io.lend(id).len();
    assert!(io.settle_lent(id, bytes));
    assert!(io.take_writable().is_empty());
}

#[test]
fn only_what_is_not_written_is_lent() {
    let mut io = IoContext::default();
    let id = io.reserve();
    io.output(id).extend_from_slice(b"0123456789");
    assert!(!io.took(id, 3));
    assert_eq!(io.lend(id), b"3456789");
    assert_eq!(io.backlog(id), 7);
    io.output(id).extend_from_slice(b"ab");
    assert_eq!(io.unwritten(id), b"ab", "the front is the front again");
}

#[test]
fn a_small_rest_does_not_keep_a_large_buffer() {
    let mut io = IoContext::default();
    let id = io.reserve();
    io.output(id).resize(1 << 20, 1);
    io.took(id, (1 << 20) - 1_000);
    assert_eq!(io.unwritten(id).len(), 1_000);
    assert!(capacity(&io) <= 2_000, "{}", capacity(&io));
}

#[test]
fn a_thread_hoards_no_more_than_a_few_large_buffers() {
    let mut io = IoContext::default();
    let connections: Vec<_> = (0..300).map(|_| io.reserve()).collect();
    for size in [POOLED_CAPACITY_MAX, 5_000] {
        for &id in &connections {
            io.output(id).resize(size, 1);
        }
        write_all(&mut io);
    }
    let pooled_bytes: usize = io.pool.iter().map(Vec::capacity).sum();
    assert!(pooled_bytes <= 24 << 20, "{pooled_bytes}");
}

#[test]
fn a_lent_buffer_is_used_again() {
    let mut io = IoContext::default();
    let id = io.reserve();
    for _ in 0..100 {
        io.output(id).extend_from_slice(&[1; 5000]);
        let lent = io.lend(id);
        io.settle_lent(id, lent.len());
        io.recycle(lent);
        while io.next_touched().is_some() {}
    }
    assert_eq!((capacity(&io), io.pool.len()), (0, 1));
}

#[test]
fn bytes_lent_for_a_connection_that_is_gone_are_ignored() {
    let mut io = IoContext::default();
    let gone = io.reserve();
    io.output(gone).extend_from_slice(b"late");
    let lent = io.lend(gone);
    io.backlog(gone);
    io.retire(gone);
    io.release(gone.index);
    let next = io.reserve();
    assert_eq!((next.index, io.backlog(next)), (gone.index, 0));
    assert!(io.settle_lent(gone, lent.len()));
    assert!(io.lend(gone).is_empty());
    assert_eq!(io.sent_bytes(next), 0);
    assert!(io.take_writable().is_empty());
}

#[test]
fn a_huge_buffer_goes_back_to_the_allocator() {
    let mut io = IoContext::default();
    let id = io.reserve();
    io.output(id).resize(POOLED_CAPACITY_MAX + 1, 0);
    write_all(&mut io);
    assert!(io.pool.is_empty());
}
