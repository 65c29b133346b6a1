//! Tests write HTTP/2 by hand through `bookend-testing`: a frame is written in one place.

use crate::offence::{Offence, by_line};

/// Whether a path is that of tests which may have a peer of their own.
pub fn is_test(path: &str) -> bool {
    let is_ours = path.starts_with("crates/") && !path.starts_with("crates/testing/");
    is_ours && (path.contains("/tests/") || path.contains("/stories"))
}

/// Functions that make a frame of its parts.
pub fn own_frames(path: &str, text: &str) -> Vec<Offence> {
    by_line(path, text, |line| {
        let writes = line.trim_start_matches("pub ").starts_with("fn frame(kind: u8, ");
        writes.then(|| "`bookend_testing::frame` does that".to_owned())
    })
}

#[test]
fn a_second_writer_of_frames_is_found() {
    let own = "pub fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {";
    assert!(is_test("crates/load/tests/peer.rs") && !is_test("crates/testing/src/frame.rs"));
    assert_eq!(own_frames("a", own).len(), 1);
    assert_eq!(own_frames("a", "let head = frame(kind::HEADERS, 4, 1, b\"\");"), []);
}
