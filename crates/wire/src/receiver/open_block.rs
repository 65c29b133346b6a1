//! A header block that has begun and is not complete.

use alloc::vec::Vec;

/// A header block of which more is to come.
#[derive(Debug)]
pub(super) struct OpenBlock {
    pub stream_id: u32,
    pub end_stream: bool,
    pub bytes: Vec<u8>,
    pub frames: usize,
}
