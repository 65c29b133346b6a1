//! What a schema takes in memory. Alone in its file: every allocation of the process counts.

use bookend_payload::schema::Schema;
use peak_alloc::PeakAlloc;
use prost::encoding::{bytes, int32};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const FILES: usize = 40;
/// Elements of each file.
const ELEMENTS: usize = 250;

fn part(number: u32, parts: &[&[u8]]) -> Vec<u8> {
    let mut encoded = Vec::new();
    bytes::encode(number, &parts.concat(), &mut encoded);
    encoded
}

fn number(field: u32, value: usize) -> Vec<u8> {
    let mut encoded = Vec::new();
    int32::encode(field, &(value as i32), &mut encoded);
    encoded
}

fn name(of: usize) -> Vec<u8> {
    part(1, &[format!("a{of}").as_bytes()])
}

/// Bytes that are taken at most while a set of such files becomes a schema, or an error.
fn peak_bytes(content: impl Fn(usize) -> Vec<u8>) -> (bool, usize) {
    let file = |at: usize| {
        let (file, package) = (format!("f{at}.proto"), format!("p{at}"));
        let parts = [part(1, &[file.as_bytes()]), part(2, &[package.as_bytes()]), content(at)];
        part(1, &[&parts.concat()])
    };
    let set: Vec<u8> = (0..FILES).flat_map(file).collect();
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let schema = Schema::decode(&set, "set.pb".to_owned());
    let peak = MEMORY.peak_usage();
    (schema.is_ok(), peak - before)
}

fn all(make: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    (0..ELEMENTS).flat_map(make).collect()
}

/// As much as the budget takes for them, and what belongs to no element. One test: another would
/// allocate, too.
#[test]
fn elements_take_no_more_than_is_accounted_for() {
    const SHARE_OF_NAMES_BYTES: usize = 100;
    let bool_field = |at| part(2, &[&name(at), &number(3, at + 1), &number(4, 1), &number(5, 8)]);
    let value = |at| part(2, &[&name(at), &number(2, at)]);
    for (kind, bytes, content) in [
        ("messages", 1_120, all(|at| part(4, &[&name(at)]))),
        ("fields", 896, part(4, &[&name(0), &all(bool_field)])),
        ("values", 416, part(5, &[b"\x0a\x01E", &all(value)])),
        ("oneofs", 352, part(4, &[&name(0), &all(|at| part(8, &[&name(at)]))])),
    ] {
        let (is_ok, peak) = peak_bytes(|_| content.clone());
        let each = peak / (FILES * ELEMENTS);
        assert!(is_ok && each <= bytes + SHARE_OF_NAMES_BYTES, "{kind}: {each} bytes each");
    }
    // What is too much is not taken.
    let two_bytes = b"\x22\x00".repeat(1 << 15);
    let (is_ok, peak) = peak_bytes(|_| two_bytes.clone());
    assert!(!is_ok && peak < 8 << 20, "{peak} bytes");
}
