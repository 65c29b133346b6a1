//! Streams in both directions: whose turn it is, what is kept meanwhile, and how they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bookend_server::io::{Closed, Shard};
use bookend_server::prost::{self, Message};
use bookend_server::{
    CONNECTION_OUTPUT_BYTES, CONNECTION_SEND_BUFFER_BYTES, Code, Context, HandlerKind,
    InlineStream, Limits, MethodDescriptor, Replies, Reply, STREAM_SEND_BUFFER_BYTES,
    STREAM_TURN_BYTES, Service, Status, StreamHandler, codec,
};
use bookend_wire::{ConnectionConfig, ErrorCode, StreamKey};

use crate::pair::{Pair, fields, framed, without_timeout_checks};

/// What a method is to send back for one request.
#[derive(Clone, PartialEq, Message)]
struct Ask {
    #[prost(uint64, tag = "1")]
    replies: u64,
    #[prost(uint64, tag = "2")]
    bytes: u64,
}

#[derive(Clone, PartialEq, Message)]
struct Payload {
    #[prost(bytes = "vec", tag = "1")]
    bytes: Vec<u8>,
}

/// Methods of every cardinality, and what their handlers have seen.
#[derive(Clone, Default)]
pub struct Streams {
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: AtomicU64,
    replies: AtomicU64,
    dropped: AtomicU64,
}

impl Streams {
    fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::Relaxed)
    }

    fn replies(&self) -> u64 {
        self.seen.replies.load(Ordering::Relaxed)
    }

    pub fn dropped(&self) -> u64 {
        self.seen.dropped.load(Ordering::Relaxed)
    }
}

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Chat", kind: HandlerKind::Stream },
    MethodDescriptor { name: "List", kind: HandlerKind::Stream },
    MethodDescriptor { name: "Sum", kind: HandlerKind::Stream },
];

impl Service for Streams {
    fn name(&self) -> &'static str {
        "test.Streams"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, _: usize, _: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.no_such_method();
    }

    fn open(&self, method: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        let sender = Sender { seen: Arc::clone(&self.seen), ask: Ask::default() };
        Some(match METHODS[method].name {
            "Chat" => codec::stream(Box::new(sender)),
            "List" => codec::server_stream(Box::new(sender)),
            _ => codec::client_stream(Box::new(sender)),
        })
    }
}

/// Sends what it is asked for, as far as there is room.
struct Sender {
    seen: Arc<Seen>,
    ask: Ask,
}

impl StreamHandler<Ask, Payload> for Sender {
    fn on_message(
        &mut self,
        ask: Ask,
        replies: &mut Replies<'_, '_, Payload>,
    ) -> Result<(), Status> {
        assert_eq!(self.ask.replies, 0, "one thing at a time");
        self.seen.requests.fetch_add(1, Ordering::Relaxed);
        self.ask = ask;
        self.send(replies);
        Ok(())
    }

    fn on_end(&mut self, _: &mut Replies<'_, '_, Payload>) -> Result<(), Status> {
        assert_eq!(self.ask.replies, 0, "the end comes last");
        Ok(())
    }

    fn on_ready(&mut self, replies: &mut Replies<'_, '_, Payload>) -> Result<(), Status> {
        assert!(!replies.is_full());
        self.send(replies);
        Ok(())
    }
}

impl Sender {
    fn send(&mut self, replies: &mut Replies<'_, '_, Payload>) {
        let bytes = vec![7; self.ask.bytes as usize];
        while self.ask.replies > 0 && !replies.is_full() {
            replies.send(&Payload { bytes: bytes.clone() });
            self.seen.replies.fetch_add(1, Ordering::Relaxed);
            self.ask.replies -= 1;
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.seen.dropped.fetch_add(1, Ordering::Relaxed);
        assert!(self.ask.bytes != 13, "a handler that panics even when dropped");
    }
}

pub fn ask(replies: u64, bytes: u64) -> Vec<u8> {
    framed(&Ask { replies, bytes }.encode_to_vec())
}

fn open(pair: &mut Pair, method: &str) -> StreamKey {
    pair.open(&fields(&format!("/test.Streams/{method}")), false)
}

fn send(pair: &mut Pair, stream: StreamKey, body: &[u8], end_stream: bool) {
    pair.client.sender.data(stream, body, end_stream);
}

/// Begins a call with one request, after which the client has ended.
fn list(pair: &mut Pair, replies: u64, bytes: u64) -> StreamKey {
    let stream = open(pair, "List");
    send(pair, stream, &ask(replies, bytes), true);
    stream
}

/// Replies of that call that have come.
fn received(pair: &Pair, stream: StreamKey) -> usize {
    match pair.heard_nothing(stream) {
        true => 0,
        false => pair.heard(stream).messages.len(),
    }
}

#[test]
fn a_long_answer_goes_out_turn_by_turn() {
    let mut pair = Pair::with(Limits::trusted(), &ConnectionConfig::trusted());
    let stream = list(&mut pair, 1_000, 1_000);
    pair.pump();
    assert_eq!(pair.heard(stream).code(), Code::Ok);
    assert_eq!(received(&pair, stream), 1_000);
    assert!(pair.longest_write < STREAM_TURN_BYTES + 2_000);
    assert_eq!(pair.turns, 1_000_000 / STREAM_TURN_BYTES);
}

#[test]
fn streams_of_one_connection_go_on_in_turn() {
    let mut pair = Pair::with(Limits::trusted(), &ConnectionConfig::trusted());
    let long: Vec<_> = (0..3).map(|_| list(&mut pair, 10_000, 100)).collect();
    pair.exchange();
    while pair.wants_a_turn() {
        let counts: Vec<_> = long.iter().map(|&long| received(&pair, long)).collect();
        let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
        assert!(spread <= STREAM_TURN_BYTES / 100, "{counts:?}");
        pair.shard.woken(&mut pair.io);
        pair.exchange();
    }
    let short = list(&mut pair, 1, 1);
    pair.pump();
    for stream in [long[0], long[1], long[2], short] {
        assert_eq!(pair.heard(stream).code(), Code::Ok);
    }
}

#[test]
fn a_short_call_is_answered_while_a_long_one_goes_on() {
    let mut pair = Pair::with(Limits::trusted(), &ConnectionConfig::trusted());
    let long = list(&mut pair, 10_000, 1_000);
    pair.exchange();
    let short = list(&mut pair, 1, 1);
    pair.exchange();
    assert_eq!(pair.heard(short).code(), Code::Ok);
    assert!(received(&pair, long) < 200);
}

#[test]
fn a_client_that_does_not_read_stops_the_handler() {
    let mut pair = Pair::with(Limits::internet(), &ConnectionConfig::internet());
    pair.listener.idles = true;
    let stream = list(&mut pair, 1_000, 1_000);
    pair.pump();
    let window_bytes = 65_535;
    let most = (window_bytes + STREAM_SEND_BUFFER_BYTES) as u64 / 1_000 + 1;
    assert!(pair.streams.replies() <= most, "{}", pair.streams.replies());
    assert!(!pair.wants_a_turn(), "it waits for its client, not for a turn");
    pair.read_on();
    assert_eq!(received(&pair, stream), 1_000);
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}

#[test]
fn a_client_that_does_not_read_may_not_send_either() {
    let mut pair = Pair::with(Limits::internet(), &ConnectionConfig::internet());
    pair.listener.idles = true;
    let stream = open(&mut pair, "Chat");
    let requests = 100_000;
    for _ in 0..requests {
        send(&mut pair, stream, &ask(1, 1_000), false);
    }
    pair.pump();
    let handed_over = pair.streams.requests();
    let most = (65_535 + STREAM_SEND_BUFFER_BYTES) as u64 / 1_000 + 1;
    assert!(handed_over <= most, "{handed_over}");
    let unsent_bytes = pair.client.sender.blocked_bytes(stream);
    let taken_bytes = requests * ask(1, 1_000).len() - unsent_bytes;
    assert!(taken_bytes <= 2 * 65_535, "{taken_bytes}");
    let other = list(&mut pair, 1, 1);
    pair.pump();
    assert_eq!(pair.heard(other).code(), Code::Ok, "others are served");
    pair.read_on();
    send(&mut pair, stream, b"", true);
    pair.pump();
    assert_eq!(received(&pair, stream), requests);
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}

#[test]
fn a_request_larger_than_the_window_still_comes_whole() {
    let mut pair = Pair::with(Limits::internet(), &ConnectionConfig::internet());
    let stream = open(&mut pair, "Chat");
    let mut large = Ask { replies: 2, bytes: 5 }.encode_to_vec();
    let unknown = Payload { bytes: vec![1; 1_000_000] };
    // Field 3: of another version of the message, and ignored.
    prost::encoding::message::encode(3, &unknown, &mut large);
    send(&mut pair, stream, &framed(&large), true);
    pair.pump_with_threads();
    assert_eq!(received(&pair, stream), 2);
    assert_eq!(pair.heard(stream).code(), Code::Ok);
}

#[test]
fn all_send_buffers_of_a_connection_are_bounded_together() {
    // The first call takes the connection's window; what the others send is kept.
    let mut client = ConnectionConfig::trusted();
    client.connection_window_bytes = 65_535;
    let mut pair = Pair::with(Limits::trusted(), &client);
    pair.listener.idles = true;
    let streams: Vec<_> = (0..600).map(|_| list(&mut pair, 70, 1_000)).collect();
    pair.pump();
    let kept_bytes = pair.streams.replies() as usize * 1_000 - 65_535;
    // Without what frames a message of a thousand bytes.
    let least_bytes = CONNECTION_SEND_BUFFER_BYTES / 100 * 98;
    assert!(kept_bytes >= least_bytes, "{kept_bytes}");
    assert!(kept_bytes <= CONNECTION_SEND_BUFFER_BYTES, "{kept_bytes}");
    assert!(!pair.wants_a_turn());
    for &stream in &streams[..300] {
        pair.client.sender.reset(stream, ErrorCode::CANCEL);
    }
    pair.read_on();
    for &stream in &streams[300..] {
        assert_eq!(received(&pair, stream), 70);
    }
}

#[test]
fn a_connection_whose_output_is_not_written_waits_without_spinning() {
    let mut pair = Pair::with(Limits::trusted(), &ConnectionConfig::trusted());
    let streams: Vec<_> = (0..20).map(|_| list(&mut pair, 1_000, 1_000)).collect();
    let sent = std::mem::take(&mut pair.client.sender.output);
    pair.shard.received(pair.connection, &sent, &mut pair.io);
    let mut turns = 0;
    while pair.wants_a_turn() {
        pair.shard.woken(&mut pair.io);
        turns += 1;
    }
    assert!(turns <= 3, "{turns}");
    let output_bytes = pair.io.output(pair.connection).len();
    assert!(output_bytes < CONNECTION_OUTPUT_BYTES + 2_000, "{output_bytes}");
    pair.exchange();
    pair.shard.writable(pair.connection, &mut pair.io);
    assert!(pair.wants_a_turn());
    while pair.wants_a_turn() {
        pair.pump();
        pair.shard.writable(pair.connection, &mut pair.io);
    }
    for stream in streams {
        assert_eq!(received(&pair, stream), 1_000);
    }
}

#[test]
fn a_handler_hears_of_its_end_by_being_dropped() {
    let mut pair = Pair::with(Limits::internet(), &ConnectionConfig::internet());
    pair.listener.idles = true;
    let streams: Vec<_> = (0..3).map(|_| list(&mut pair, 1_000, 1_000)).collect();
    pair.pump();
    assert_eq!(pair.streams.dropped(), 0);
    pair.client.sender.reset(streams[0], ErrorCode::CANCEL);
    pair.pump();
    assert_eq!(pair.streams.dropped(), 1);
    let short = list(&mut pair, 0, 0);
    pair.pump();
    assert_eq!(pair.heard(short).code(), Code::Ok);
    assert_eq!(pair.streams.dropped(), 2);
    pair.shard.closed(pair.connection, Closed::Peer, &mut pair.io);
    assert_eq!(pair.streams.dropped(), 4);
}

#[test]
fn a_handler_that_panics_while_it_is_dropped_does_no_harm() {
    let mut pair = Pair::new();
    let ended = list(&mut pair, 1, 13);
    let given_up = open(&mut pair, "Chat");
    send(&mut pair, given_up, &ask(1, 13), false);
    pair.pump();
    pair.client.sender.reset(given_up, ErrorCode::CANCEL);
    pair.pump();
    assert_eq!(pair.heard(ended).code(), Code::Ok);
    assert_eq!(pair.streams.dropped(), 2);
    let next = list(&mut pair, 1, 1);
    pair.pump();
    assert_eq!(pair.heard(next).code(), Code::Ok);
}

#[test]
fn the_wrong_number_of_requests_is_unimplemented() {
    let mut pair = Pair::new();
    for body in [vec![], [ask(1, 1), ask(1, 1)].concat()] {
        let stream = open(&mut pair, "List");
        send(&mut pair, stream, &body, true);
        pair.pump();
        assert_eq!(pair.heard(stream).code(), Code::Unimplemented);
        assert_eq!(received(&pair, stream), 0, "no handler was asked");
    }
    assert_eq!(pair.streams.requests(), 0);
}

#[test]
fn a_method_of_one_reply_gives_exactly_one() {
    let mut pair = Pair::new();
    for (replies, code) in [(0, Code::Internal), (1, Code::Ok), (2, Code::Internal)] {
        let stream = open(&mut pair, "Sum");
        send(&mut pair, stream, &ask(replies, 1), true);
        pair.pump();
        assert_eq!(pair.heard(stream).code(), code, "{replies} replies");
        assert!(received(&pair, stream) <= 1);
    }
}

/// A byte string that methods do not know, and leave out.
#[derive(Clone, PartialEq, Message)]
struct Ballast {
    #[prost(bytes = "vec", tag = "15")]
    bytes: Vec<u8>,
}

#[test]
fn a_request_that_is_kept_until_it_is_the_only_one_counts_as_unfinished() {
    let limits = Limits { max_unfinished_bytes: 100_000, ..without_timeout_checks() };
    let mut pair = Pair::with(limits, &ConnectionConfig::trusted());
    let ask = Ask { replies: 1, bytes: 1 };
    let bytes = vec![7; 30_000];
    let request = [ask.encode_to_vec(), Ballast { bytes }.encode_to_vec()].concat();
    let begin = |pair: &mut Pair| {
        let stream = pair.open(&fields("/test.Streams/List"), false);
        pair.client.sender.data(stream, &framed(&request), false);
        pair.pump();
        stream
    };
    let kept = [(); 3].map(|()| begin(&mut pair));
    let refused = begin(&mut pair);
    assert_eq!(pair.heard(refused).code(), Code::ResourceExhausted);
    for stream in kept {
        assert!(pair.heard_nothing(stream));
        pair.client.sender.data(stream, b"", true);
        pair.pump();
        assert_eq!(pair.heard(stream).code(), Code::Ok);
    }
    let next = [(); 3].map(|()| begin(&mut pair));
    assert!(next.iter().all(|stream| pair.heard_nothing(*stream)));
}
