//! A frame in pieces.

use bookend_wire::frame::{FrameHeader, HEADER_BYTES};
use std::time::Duration;

/// How long the server is left alone with a piece of a frame, so that it has surely read it: a
/// server that shares its processor with others still does.
pub(super) const PAUSE: Duration = Duration::from_millis(60);

/// Bytes of a frame's header that come alone. Its kind is among them, for who reads a trace.
const FIRST_PIECE_BYTES: usize = 5;

/// Where the first frame of a kind is cut, if it is among these whole frames: in its header, and in
/// the middle of its payload. The frames before it go with the first piece.
pub(super) fn first_of(kind: u8, frames: &[u8]) -> Option<[usize; 2]> {
    let mut begin = 0;
    loop {
        let header = FrameHeader::parse(frames.get(begin..)?.first_chunk::<HEADER_BYTES>()?);
        if header.kind == kind {
            let in_payload = begin + HEADER_BYTES + header.length / 2;
            return Some([begin + FIRST_PIECE_BYTES, in_payload]);
        }
        begin += HEADER_BYTES + header.length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::frame::{kind, write_frame};

    #[test]
    fn the_first_frame_of_the_kind_is_cut_in_its_header_and_in_its_payload() {
        let mut frames = Vec::new();
        write_frame(&mut frames, kind::HEADERS, 0, 1, b"head");
        write_frame(&mut frames, kind::DATA, 0, 1, b"eight by");
        write_frame(&mut frames, kind::DATA, 0, 1, b"more");
        assert_eq!(first_of(kind::HEADERS, &frames), Some([5, 11]));
        assert_eq!(first_of(kind::DATA, &frames), Some([18, 26]));
        assert_eq!(first_of(kind::PING, &frames), None);
    }
}
