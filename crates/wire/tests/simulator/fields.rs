//! The header lists of a call, as they are sent and as they have to be heard.

use crate::speech::{Extra, Speech, Style};
use bookend_wire::grpc::timeout;
use bookend_wire::{ExtraField, HeaderBlock, HeaderList, Indexing, Side};

/// Names and values.
pub type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A tick of virtual time, in nanoseconds: what `grpc-timeout` counts in.
const TICK_NS: u64 = 1_000;

const REQUEST: [(&[u8], &[u8]); 6] = [
    (b":method", b"POST"),
    (b":scheme", b"http"),
    (b":path", b"/simulator.Calls/Call"),
    (b":authority", b"localhost"),
    (b"te", b"trailers"),
    (b"content-type", b"application/grpc"),
];
const RESPONSE: [(&[u8], &[u8]); 2] =
    [(b":status", b"200"), (b"content-type", b"application/grpc")];
const REQUEST_TRAILERS: [(&[u8], &[u8]); 1] = [(b"x-end", b"1")];
const RESPONSE_TRAILERS: [(&[u8], &[u8]); 1] = [(b"grpc-status", b"0")];
const EXPIRED: [(&[u8], &[u8]); 1] = [(b"grpc-status", b"4")];

/// The blocks of one end, sent again and again.
#[derive(Debug)]
pub struct Blocks {
    pub head: HeaderBlock,
    pub trailers: HeaderBlock,
    pub expired: HeaderBlock,
    pub expired_head: HeaderBlock,
}

impl Blocks {
    pub fn new(side: Side) -> Self {
        let mut expired_head = HeaderBlock::new(&RESPONSE);
        expired_head.push(EXPIRED[0].0, EXPIRED[0].1);
        Self {
            head: head_block(side),
            trailers: HeaderBlock::new(common_trailers(side)),
            expired: HeaderBlock::new(&EXPIRED),
            expired_head,
        }
    }
}

pub fn head_block(side: Side) -> HeaderBlock {
    HeaderBlock::new(common_head(side))
}

fn common_head(side: Side) -> &'static [(&'static [u8], &'static [u8])] {
    match side {
        Side::Client => &REQUEST,
        Side::Server => &RESPONSE,
    }
}

fn common_trailers(side: Side) -> &'static [(&'static [u8], &'static [u8])] {
    match side {
        Side::Client => &REQUEST_TRAILERS,
        Side::Server => &RESPONSE_TRAILERS,
    }
}

/// The fields behind the common ones, as the sender takes them.
pub fn extra_fields<'a>(extra: &'a [Extra], timeout: Option<&'a [u8]>) -> Vec<ExtraField<'a>> {
    let timeout =
        timeout.map(|value| ExtraField { name: b"grpc-timeout", value, indexing: Indexing::Never });
    let drawn = extra.iter().map(|extra| ExtraField {
        name: &extra.name,
        value: &extra.value,
        indexing: extra.indexing,
    });
    timeout.into_iter().chain(drawn).collect()
}

/// What has to be heard of the head of that speech.
pub fn head_of(side: Side, speech: &Speech, timeout_ticks: Option<u64>) -> Fields {
    let timeout = timeout_ticks
        .filter(|_| speech.style != Style::Again)
        .map(|ticks| (b"grpc-timeout".to_vec(), timeout_value(ticks)));
    owned(common_head(side)).into_iter().chain(timeout).chain(drawn(speech)).collect()
}

/// What has to be heard of its trailers.
pub fn trailers_of(side: Side, speech: &Speech) -> Fields {
    let drawn = drawn(speech).into_iter().filter(|_| speech.style == Style::Pieces);
    owned(common_trailers(side)).into_iter().chain(drawn).collect()
}

fn drawn(speech: &Speech) -> Fields {
    let own = |extra: &Extra| (extra.name.clone(), extra.value.clone());
    speech.extra.iter().map(own).collect()
}

fn owned(fields: &[(&[u8], &[u8])]) -> Fields {
    fields.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect()
}

pub fn listed(list: &HeaderList) -> Fields {
    list.iter().map(|field| (field.name.to_vec(), field.value.to_vec())).collect()
}

/// Whether a server says by these that the deadline has passed.
pub fn says_expired(fields: &Fields) -> bool {
    fields.iter().any(|(name, value)| name == b"grpc-status" && value == b"4")
}

pub fn timeout_value(ticks: u64) -> Vec<u8> {
    let mut value = Vec::new();
    timeout::write(ticks * TICK_NS, &mut value);
    value
}

/// The `grpc-timeout` among these, in ticks.
pub fn timeout_ticks(fields: &Fields) -> Option<u64> {
    let (_, value) = fields.iter().find(|(name, _)| name == b"grpc-timeout")?;
    Some(timeout::parse(value)? / TICK_NS)
}
