//! Messages under zstd, by the part of the server that reads them.

use crate::bounds::assert_memory;
use crate::zstd::{BLOCK_MAX_BYTES, WINDOW_MAX_BYTES, decompress_within};
use bookend_wire::grpc::gzip::InflateLimits;

/// Tables, the window in a buffer that doubles, and a block.
const MEMORY_BYTES: u64 = 4 * WINDOW_MAX_BYTES as u64;

/// Two bytes for the limit, then what claims to be zstd.
pub fn zstd(input: &[u8]) {
    let Some((limit, bytes)) = input.split_first_chunk() else {
        return;
    };
    let limit_bytes = usize::from(u16::from_be_bytes(*limit));
    let limits = InflateLimits::of_messages(limit_bytes);
    assert_memory(input, MEMORY_BYTES + 4 * limit_bytes as u64, 4, || {
        let (mut output, mut work_bytes) = (Vec::new(), 0);
        let bounds = (limits, WINDOW_MAX_BYTES);
        let result = decompress_within(bytes, bounds, &mut output, &mut work_bytes);
        // What a window holds comes on top, once.
        let most_bytes = limits.work_bytes + WINDOW_MAX_BYTES + 2 * BLOCK_MAX_BYTES;
        assert!(work_bytes <= most_bytes, "{result:?} {work_bytes}");
        assert!(output.len() <= work_bytes + BLOCK_MAX_BYTES + WINDOW_MAX_BYTES, "{result:?}");
        if result.is_ok() {
            assert!(output.len() <= limit_bytes && output.len() <= work_bytes);
        }
    });
}
