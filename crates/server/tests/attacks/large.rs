//! One message that takes long: its connection's thread goes on meanwhile.

use bookend_server::Limits;

use crate::bombs::{frames_of, wait_for_threads};
use crate::frames::{ids, request};
use crate::stage::Stage;
use crate::testing::{COUNT, ECHO};

/// A gzip message of `count` empty blocks.
fn blocks_of_nothing(count: usize) -> Vec<u8> {
    let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    for _ in 0..count {
        // Not the last, stored, of no bytes.
        bytes.extend(b"\0\0\0\xff\xff");
    }
    bytes.extend(b"\x03\0");
    bytes.extend([0; 8]);
    bytes
}

/// Sends all of a large request. Whether it was handled when the thread turned to the others.
fn is_handled_at_once(stage: &mut Stage, path: &str, message: &[u8], compressed: bool) -> bool {
    let mut client = stage.attacker();
    let request = frames_of(path, 1, message, compressed).concat();
    let calls_before = stage.testing.calls();
    stage.send(&mut client, &request);
    let is_handled = stage.testing.calls() > calls_before;
    stage.another_is_answered();
    while client.heard.last_status.is_none() {
        stage.server.wake();
        client.read(&mut stage.server);
        std::thread::yield_now();
    }
    assert_eq!(client.heard.last_status, Some((1, "0".to_owned())));
    is_handled
}

#[test]
fn blocks_of_nothing_are_inflated_by_another_thread() {
    let mut stage = Stage::new(Limits::internet());
    assert!(!is_handled_at_once(&mut stage, ECHO, &blocks_of_nothing(20_000), true));
    // What comes compressed in few bytes, and takes long all the same.
    assert!(!is_handled_at_once(&mut stage, ECHO, &blocks_of_nothing(5_000), true));
    assert!(is_handled_at_once(&mut stage, ECHO, &blocks_of_nothing(1_000), true));
}

/// A gzip message of blocks of nothing with the fixed tables: four of them take five bytes.
fn fixed_blocks_of_nothing(count: usize) -> Vec<u8> {
    let header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff";
    let blocks = [0x02, 0x08, 0x20, 0x80, 0x00].repeat(count / 4);
    [&header[..], &blocks, b"\x03\0", &[0; 8]].concat()
}

#[test]
fn more_blocks_than_compressors_write_end_their_call_alone() {
    for message in [blocks_of_nothing(800_000), fixed_blocks_of_nothing(3_000_000)] {
        let mut stage = Stage::new(Limits::internet());
        let mut attacker = stage.attacker();
        for id in ids().take(4) {
            let large = frames_of(ECHO, id, &message, true).concat();
            stage.send(&mut attacker, &large);
            stage.another_is_answered();
        }
        wait_for_threads(&mut stage);
        attacker.read(&mut stage.server);
        assert_eq!(attacker.heard.statuses_of("8"), 4);
        stage.send(&mut attacker, &request(9, ECHO, b"good"));
        assert_eq!(attacker.heard.last_status, Some((9, "0".to_owned())));
    }
}

#[test]
fn messages_of_many_parts_are_decoded_by_another_thread() {
    let mut stage = Stage::new(Limits::internet());
    assert!(!is_handled_at_once(&mut stage, COUNT, &b"\x0a\0".repeat(1_000_000), false));
    assert_eq!(stage.testing.decoded_by(), ["bookend-prepare"]);
    assert!(is_handled_at_once(&mut stage, COUNT, &b"\x0a\0".repeat(1_000), false));
    assert_eq!(stage.testing.decoded_by().len(), 1, "the handler has decoded it");
}

#[test]
fn nobody_has_more_of_them_prepared_than_its_streams_allow() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let message = blocks_of_nothing(20_000);
    for id in ids().take(400) {
        let large = frames_of(ECHO, id, &message, true).concat();
        stage.send(&mut attacker, &[large, crate::frames::reset(id)].concat());
    }
    wait_for_threads(&mut stage);
    stage.send(&mut attacker, &request(2_001, ECHO, b"good"));
    assert_eq!(attacker.heard.last_status, Some((2_001, "0".to_owned())));
}
