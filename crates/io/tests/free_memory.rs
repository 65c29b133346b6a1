//! Memory that the allocator keeps goes back to the kernel. Alone in its process, whose memory it
//! reads.

use bookend_io::return_free_memory;
use std::fs;

const PIECES: usize = 1000;
const PIECE_BYTES: usize = 60 << 10;

/// What the kernel counts as this process's memory, bytes.
fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[test]
#[cfg(target_env = "gnu")]
fn what_small_pieces_keep_in_the_heap_goes_back() {
    let before_bytes = resident_bytes();
    let pieces: Vec<_> = (0..PIECES).map(|_| (vec![1; PIECE_BYTES], Box::new([1; 64]))).collect();
    let (large, _small): (Vec<Vec<u8>>, Vec<_>) = pieces.into_iter().unzip();
    drop(large);
    let kept_bytes = resident_bytes() - before_bytes;
    return_free_memory();
    let left_bytes = resident_bytes() - before_bytes;
    assert!(kept_bytes > PIECES * PIECE_BYTES / 2, "{kept_bytes} bytes were kept");
    assert!(left_bytes < kept_bytes / 4, "{left_bytes} of {kept_bytes} bytes are left");
}
