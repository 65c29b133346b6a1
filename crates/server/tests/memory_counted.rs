//! Whatever a client has a server allocate is counted: each buffer that docs/internals/memory.md
//! has in the budget is grown by a hostile client, and what is allocated is compared with what is
//! counted. Alone in its process, because it counts what is allocated. Time is virtual.

#[path = "support/chat.rs"]
mod chat;
#[path = "attacks/frames.rs"]
#[allow(dead_code)]
mod frames;
#[path = "attacks/testing.rs"]
#[allow(dead_code)]
mod testing;

use std::collections::BTreeSet;
use std::iter::repeat_n;

use bookend_server::io::simulated::{SOCKET_BYTES, Simulated};
use bookend_server::io::{ConnectionId, Waker};
use bookend_server::{HealthReporter, Limits, Server, ServerShard, Services};
use bookend_testing::{frame, message, take_frames};
use bookend_wire::frame::{PREFACE, kind};
use bookend_wire::hpack::{Encoder, Indexing};
use frames::{
    block, data, fields, frame_header, head, head_of, ids, request, reset, stream_window, update,
};
use peak_alloc::PeakAlloc;
use testing::{CHAT, ECHO, FILL, Testing};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const KIB: usize = 1 << 10;
const SECOND_NS: u64 = 1_000_000_000;
const CONNECTIONS: usize = 50;

/// What a connection may have that is not counted: less than a step of the budget is not counted at
/// once, and here what the simulated driver keeps of it.
const UNCOUNTED_BYTES: usize = 20 * KIB;

/// What a connection may keep once its streams have ended: the table of HPACK, which lasts as long,
/// and what the next calls need.
const KEPT_BYTES: usize = 28 * KIB;

/// Of the buffers that a thread keeps, those that are used here.
const THREAD_BYTES: usize = 2_048 * KIB;

const WATCH: &str = "/grpc.health.v1.Health/Watch";

struct Stage {
    server: Simulated<ServerShard>,
    services: Services,
    allocated_bytes: usize,
    counted_bytes: usize,
}

impl Stage {
    fn new() -> Self {
        let health = HealthReporter::new();
        let builder = Server::builder().add_service(Testing::default());
        let limits = Limits { max_held_bytes: Some(8 << 30), ..Limits::internet() };
        let services = builder.add_service(health.service()).limits(limits).build().unwrap();
        let shard = services.shard(Waker::new().unwrap());
        let mut server = Simulated::new(shard, SECOND_NS);
        // What is there once, whatever the number of connections, is there after the first: the
        // thread's buffers among it.
        let first = server.accept();
        let long = request(1, FILL, &400_000_u32.to_be_bytes());
        server.give(first, &[hello(&stream_window(0)), long, reset(1)].concat());
        server.take(first, usize::MAX);
        let allocated_bytes = MEMORY.current_usage();
        Self { server, counted_bytes: services.held_bytes(), services, allocated_bytes }
    }

    fn attack(&mut self, settings: &[u8], frames: &[Vec<u8>]) -> ConnectionId {
        self.attack_by(true, settings, frames)
    }

    fn attack_by(&mut self, reads: bool, settings: &[u8], frames: &[Vec<u8>]) -> ConnectionId {
        let id = self.server.accept();
        self.server.give(id, &hello(settings));
        for frame in frames {
            self.server.give(id, frame);
            if reads {
                self.server.take(id, usize::MAX);
            }
        }
        id
    }

    /// What was allocated and what was counted since it began.
    fn grown(&self) -> (usize, usize) {
        let allocated_bytes = MEMORY.current_usage().saturating_sub(self.allocated_bytes);
        (allocated_bytes, self.services.held_bytes() - self.counted_bytes)
    }

    fn pass_seconds(&mut self, seconds: u64) {
        self.server.pass_ns(seconds * SECOND_NS);
    }
}

fn hello(settings: &[u8]) -> Vec<u8> {
    [&PREFACE[..], &frame(kind::SETTINGS, 0, 0, &[]), settings].concat()
}

/// Has each connection send these frames, and looks at what they have allocated and what is
/// counted; then ends the streams, and looks at what is kept.
fn is_counted(what: &str, settings: &[u8], frames: &[Vec<u8>]) {
    is_counted_by(what, true, settings, frames);
}

/// As [`is_counted`], by clients who read or do not.
fn is_counted_by(what: &str, reads: bool, settings: &[u8], frames: &[Vec<u8>]) {
    let network_bytes = if reads { 0 } else { SOCKET_BYTES };
    let mut stage = Stage::new();
    let opened: BTreeSet<u32> = take_frames(&mut frames.concat())
        .into_iter()
        .filter(|frame| frame.kind == kind::HEADERS)
        .map(|frame| frame.stream_id)
        .collect();
    let attackers: Vec<_> =
        (0..CONNECTIONS).map(|_| stage.attack_by(reads, settings, frames)).collect();
    let (allocated_bytes, counted_bytes) = stage.grown();
    let uncounted_bytes = allocated_bytes.saturating_sub(counted_bytes) / CONNECTIONS;
    let grown_bytes = allocated_bytes / CONNECTIONS;
    println!("{what}: {grown_bytes} a connection, {uncounted_bytes} of them uncounted at once");
    // A buffer of output may have grown to twice its length.
    let spare_bytes = if reads { 0 } else { counted_bytes / CONNECTIONS };
    let bound_bytes = UNCOUNTED_BYTES + network_bytes + spare_bytes;
    assert!(uncounted_bytes < bound_bytes, "{what}: {uncounted_bytes} of {grown_bytes}");
    stage.pass_seconds(5);
    let (allocated_bytes, counted_bytes) = stage.grown();
    let uncounted_bytes = allocated_bytes.saturating_sub(counted_bytes) / CONNECTIONS;
    assert!(
        uncounted_bytes < UNCOUNTED_BYTES / 2 + network_bytes,
        "{what}: {uncounted_bytes} of {grown_bytes}"
    );
    for id in attackers {
        opened.iter().for_each(|stream| stage.server.give(id, &reset(*stream)));
        stage.server.take(id, usize::MAX);
        assert!(stage.server.end(id).is_none(), "{what}");
    }
    stage.pass_seconds(10);
    let kept_bytes = stage.grown().0 / CONNECTIONS;
    println!("{what}: {kept_bytes} a connection are kept");
    // The thread keeps some buffers of output.
    let bound_bytes = KEPT_BYTES + if reads { 0 } else { THREAD_BYTES / CONNECTIONS };
    assert!(kept_bytes < bound_bytes, "{what}: {kept_bytes} are kept");
}

/// Heads of 12 KiB out of one entry of HPACK's table.
fn large_heads(path: &str, same: bool) -> Vec<Vec<u8>> {
    let mut encoder = Encoder::new(4_096);
    let mut large = |id: u32| {
        let mut all = fields(path);
        let number = if same { id % 16 / 2 } else { id };
        all.push(("x-number".into(), number.to_string()));
        let mut bytes = block(&all);
        encoder.field(b"x", &[b'v'; 4_000], Indexing::Incremental, &mut bytes);
        bytes.extend(repeat_n(0x80 | 62, 2));
        head_of(id, &bytes)
    };
    ids().take(250).map(&mut large).collect()
}

#[test]
fn what_clients_have_a_server_allocate_is_counted_and_given_back() {
    heads_and_tables();
    input();
    requests();
    replies();
    streaming_calls();
}

fn heads_and_tables() {
    is_counted("heads, HPACK's table, fields", &[], &large_heads(ECHO, false));
    is_counted("heads that come again", &[], &large_heads(ECHO, true));
    let crumbs: Vec<_> = (0..120).map(|_| ("c".to_owned(), "v".to_owned())).collect();
    let crumbed = |id: u32| {
        let number = vec![("x-number".to_owned(), id.to_string())];
        head_of(id, &block(&[fields(ECHO), number, crumbs.clone()].concat()))
    };
    is_counted("fields", &[], &ids().take(250).map(crumbed).collect::<Vec<_>>());
    is_counted("streams", &[], &ids().take(250).map(|id| head(id, ECHO)).collect::<Vec<_>>());
    let skipping = |id: u32| [head(3 * id, ECHO), reset(3 * id)].concat();
    is_counted("ids", &[], &ids().take(900).map(skipping).collect::<Vec<_>>());
}

fn input() {
    let part = frame(kind::CONTINUATION, 0, 1, &[0; 15 * KIB]);
    let begin = frame(kind::HEADERS, 0, 1, &[0; 15 * KIB]);
    let mut open = Stage::new();
    for _ in 0..CONNECTIONS {
        open.attack(&[], &[begin.clone(), part.clone(), part.clone(), part.clone()]);
    }
    let (allocated_bytes, counted_bytes) = open.grown();
    assert!(allocated_bytes > CONNECTIONS * 60 * KIB, "{allocated_bytes}");
    let uncounted_bytes = allocated_bytes.saturating_sub(counted_bytes) / CONNECTIONS;
    assert!(uncounted_bytes < UNCOUNTED_BYTES, "open header blocks: {uncounted_bytes}");
    drop(open);

    let half = [head(1, ECHO), frame_header(kind::DATA, 1, 16_384), vec![0; 16_383]].concat();
    let mut half_frames = Stage::new();
    for _ in 0..CONNECTIONS {
        half_frames.attack(&[], std::slice::from_ref(&half));
    }
    half_frames.pass_seconds(5);
    let (allocated_bytes, counted_bytes) = half_frames.grown();
    assert!(allocated_bytes > CONNECTIONS * 16_000, "{allocated_bytes}");
    let uncounted_bytes = allocated_bytes.saturating_sub(counted_bytes) / CONNECTIONS;
    assert!(uncounted_bytes < UNCOUNTED_BYTES / 2, "half frames: {uncounted_bytes}");
}

/// Halves of `count` messages of 4 MiB.
fn halves(path: &str, count: usize, bytes: usize) -> Vec<Vec<u8>> {
    let mut half = vec![0, 0, 0x40, 0, 0];
    half.resize(bytes, 7);
    let frames = |id| {
        let parts = half.chunks(16_384).map(move |part| data(id, part));
        std::iter::once(head(id, path)).chain(parts).collect::<Vec<_>>()
    };
    ids().take(count).flat_map(frames).collect()
}

fn requests() {
    is_counted("halves of requests", &[], &halves(ECHO, 5, 600_000));
    is_counted("halves of messages", &[], &halves(CHAT, 5, 600_000));
    // Kept until it is known to be the only one; decoded by another thread.
    let long = message(&[&[10, 0x80, 0x80, 8][..], &[b'n'; 128 * KIB]].concat());
    let parts = long.chunks(16_384).map(|part| data(1, part));
    let only: Vec<_> = std::iter::once(head(1, WATCH)).chain(parts).collect();
    let mut stage = Stage::new();
    for _ in 0..CONNECTIONS {
        stage.attack(&[], &only);
    }
    while stage.server.shard().counts().answered_ok < 1 || !stage.server.may_leave() {
        stage.server.wake();
        std::thread::yield_now();
    }
    let (allocated_bytes, counted_bytes) = stage.grown();
    assert!(allocated_bytes > CONNECTIONS * 128 * KIB, "{allocated_bytes}");
    let uncounted_bytes = allocated_bytes.saturating_sub(counted_bytes) / CONNECTIONS;
    assert!(uncounted_bytes < UNCOUNTED_BYTES, "large decoded requests: {uncounted_bytes}");
}

fn replies() {
    let asks = |bytes: u32, count: usize| -> Vec<Vec<u8>> {
        ids().take(count).map(|id| request(id, FILL, &bytes.to_be_bytes())).collect()
    };
    let none = stream_window(0);
    is_counted("replies behind windows", &none, &asks(300_000, 5));
    let mut partly = asks(300_000, 5);
    partly.extend(ids().take(5).map(|id| update(id, 200_000)));
    let wide = update(0, 1 << 24);
    is_counted("replies that are partly read", &[none, wide.clone()].concat(), &partly);
    let wide = [stream_window(1 << 24), wide].concat();
    is_counted_by("output that is not read", false, &wide, &asks(60_000, 9));
}

fn streaming_calls() {
    let watch = |id: u32| {
        let name = format!("{id:01000}");
        let text = [&[10, 0xe8, 7][..], name.as_bytes()].concat();
        request(id, WATCH, &text)
    };
    is_counted("watchers", &[], &ids().take(250).map(watch).collect::<Vec<_>>());
    is_counted("chats", &[], &ids().take(250).map(|id| head(id, CHAT)).collect::<Vec<_>>());
}
