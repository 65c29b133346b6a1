//! Bytes as hostile clients write them.

use bookend_testing::{flag, frame, kind, message, settings, window_update};
use bookend_wire::frame::FrameHeader;
use bookend_wire::hpack::{Encoder, Indexing};

/// The header of a frame whose payload does not come.
pub fn frame_header(kind: u8, id: u32, length: usize) -> Vec<u8> {
    let header = FrameHeader { length, kind, flags: 0, stream_id: id };
    header.to_bytes().to_vec()
}

/// The fields of a gRPC request for that path.
pub fn fields(path: &str) -> Vec<(String, String)> {
    [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "attacked"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// A header block of these fields that uses no table.
pub fn block(fields: &[(String, String)]) -> Vec<u8> {
    let mut encoder = Encoder::new(0);
    let mut bytes = Vec::new();
    for (name, value) in fields {
        let (name, value) = (name.as_bytes(), value.as_bytes());
        encoder.field(name, value, Indexing::Never, &mut bytes);
    }
    bytes
}

/// A request's head; its body is to come.
pub fn head(id: u32, path: &str) -> Vec<u8> {
    head_of(id, &block(&fields(path)))
}

pub fn head_of(id: u32, block: &[u8]) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS, id, block)
}

/// As [`head`], with further fields.
pub fn head_with(id: u32, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let mut all = fields(path);
    all.extend(more.iter().map(|(name, value)| (name.to_string(), value.to_string())));
    head_of(id, &block(&all))
}

/// Heads of 12 KiB for `count` streams, most of them of 150 bytes: the first puts a field of 4 KB
/// into the table, and each names it three times. No two are alike, and none has a body.
pub fn heads_of_one_entry(path: &str, count: usize) -> Vec<Vec<u8>> {
    let mut encoder = Encoder::new(4_096);
    let head = |id: u32| {
        let mut all = fields(path);
        all.push(("x-number".into(), id.to_string()));
        let mut head = block(&all);
        encoder.field(b"x", &[b'v'; 4_000], Indexing::Incremental, &mut head);
        head.extend([0x80 | 62; 2]);
        head_of(id, &head)
    };
    ids().take(count).map(head).collect()
}

/// A request's whole body: one message.
pub fn body(id: u32, bytes: &[u8]) -> Vec<u8> {
    frame(kind::DATA, flag::END_STREAM, id, &message(bytes))
}

pub fn data(id: u32, bytes: &[u8]) -> Vec<u8> {
    frame(kind::DATA, 0, id, bytes)
}

/// A whole unary request.
pub fn request(id: u32, path: &str, bytes: &[u8]) -> Vec<u8> {
    [head(id, path), body(id, bytes)].concat()
}

pub fn reset(id: u32) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, id, &[0, 0, 0, 8])
}

pub fn update(id: u32, increment_bytes: u32) -> Vec<u8> {
    window_update(id, increment_bytes)
}

pub fn ping() -> Vec<u8> {
    frame(kind::PING, 0, 0, &[7; 8])
}

pub fn setting(id: u16, value: u32) -> Vec<u8> {
    settings(&[(id, value)])
}

/// SETTINGS_INITIAL_WINDOW_SIZE.
pub fn stream_window(bytes: u32) -> Vec<u8> {
    setting(4, bytes)
}

/// What a client sends that promises to take everything.
pub fn wide_open() -> Vec<u8> {
    [stream_window(0x7fff_ffff), update(0, 0x7fff_0000)].concat()
}

/// The ids of a client's streams.
pub fn ids() -> impl Iterator<Item = u32> + Clone {
    (1..).step_by(2)
}
