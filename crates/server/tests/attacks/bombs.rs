//! Messages that say that they are huge, that are, or that become so when they are inflated.

use bookend_server::Limits;
use bookend_server::limits::{BROKEN_MESSAGE_GLITCHES, INTERNET_GLITCHES, MAX_MESSAGE_BYTES};
use bookend_testing::frame;
use bookend_wire::ErrorCode;
use bookend_wire::frame::{flag, kind};
use bookend_wire::grpc::gzip;

use crate::figures;
use crate::frames::{block, data, fields, head, head_of, ids, request};
use crate::stage::{Stage, but};
use crate::testing::{CHAT, ECHO, FILL, SHOUT};

const RESOURCE_EXHAUSTED: &str = "8";
const INTERNAL: &str = "13";

#[test]
fn nothing_is_kept_for_a_length_that_is_too_large() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let declared = ids().map(|id| [head(id, ECHO), data(id, &[0, 255, 255, 255, 255])].concat());
    let outcome = stage.attack(&mut attacker, declared.take(200));
    figures::check("messages of 4 GiB", &outcome);
    assert_eq!(attacker.heard.statuses_of(RESOURCE_EXHAUSTED), 200);
}

/// A request in frames; its message is flagged as compressed if `encoding` says so.
pub fn frames_of(path: &str, id: u32, bytes: &[u8], compressed: bool) -> Vec<Vec<u8>> {
    let mut all = fields(path);
    if compressed {
        all.push(("grpc-encoding".into(), "gzip".into()));
    }
    let mut body = vec![u8::from(compressed)];
    body.extend((bytes.len() as u32).to_be_bytes());
    body.extend(bytes);
    let mut frames = vec![head_of(id, &block(&all))];
    frames.extend(body.chunks(16_384).map(|piece| data(id, piece)));
    frames.push(frame(kind::DATA, flag::END_STREAM, id, b""));
    frames
}

fn bomb(inflated_bytes: usize) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    gzip::compress(&vec![0; inflated_bytes], &mut bytes);
    assert!(bytes.len() < inflated_bytes / 500);
    frames_of(ECHO, 1, &bytes, true)
}

#[test]
fn what_is_inflated_is_bounded_while_it_grows() {
    let mut stage = Stage::new(Limits::internet());
    stage.waits_for_threads = true;
    let bomb = bomb(64 << 20);
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, bomb.into_iter());
    figures::check("gzip bomb", &outcome);
    assert_eq!(attacker.heard.statuses_of(RESOURCE_EXHAUSTED), 1);
    assert_eq!(stage.testing.calls(), stage.counts().answered_ok, "no handler saw it");
}

#[test]
fn control_without_the_limit_it_is_inflated() {
    let mut stage = Stage::new(but(|limits| limits.max_message_bytes = 128 << 20));
    stage.waits_for_threads = true;
    let bomb = bomb(64 << 20);
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, bomb.into_iter());
    assert!(outcome.peak_bytes > figures::peak_bytes_of("gzip bomb"));
}

#[test]
fn the_largest_message_is_taken_plain_and_compressed() {
    let mut stage = Stage::new(Limits::internet());
    stage.waits_for_threads = true;
    let mut client = stage.attacker();
    let largest = vec![7; MAX_MESSAGE_BYTES];
    let mut compressed = Vec::new();
    gzip::compress(&largest, &mut compressed);
    for frames in [frames_of(ECHO, 1, &largest, false), frames_of(ECHO, 3, &compressed, true)] {
        stage.attack(&mut client, frames.into_iter());
    }
    // The answers wait for windows; that they are on their way is what counts.
    assert_eq!(client.heard.count(kind::HEADERS), 2);
    assert_eq!(client.heard.statuses_of(RESOURCE_EXHAUSTED), 0);
}

/// A request of which half a message comes, and no more.
fn half(id: u32) -> Vec<u8> {
    let declared = [0, 0, 0x3f, 0xff, 0];
    let part = data(id, &[7; 16_384]).repeat(8);
    [head(id, ECHO), data(id, &declared), part].concat()
}

#[test]
fn halves_of_messages_are_bounded_a_connection() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, ids().map(half).take(250));
    figures::check("halves of messages", &outcome);
    assert!(attacker.heard.statuses_of(RESOURCE_EXHAUSTED) > 100);
}

#[test]
fn control_without_the_bound_they_are_kept() {
    let mut stage = Stage::new(but(|limits| limits.max_unfinished_bytes = usize::MAX));
    let mut attacker = stage.attacker();
    let outcome = stage.attack(&mut attacker, ids().map(half).take(250));
    assert_eq!(attacker.heard.statuses_of(RESOURCE_EXHAUSTED), 0);
    assert!(outcome.peak_bytes > figures::peak_bytes_of("halves of messages"));
}

/// Requests whose messages come to `inflated_bytes` bytes each, a kilobyte on the wire.
fn swelling_requests(inflated_bytes: usize, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    gzip::compress(&vec![0; inflated_bytes], &mut bytes);
    let requests = ids().map(|id| frames_of(ECHO, id, &bytes, true).concat());
    requests.take(count).collect::<Vec<_>>().concat()
}

/// Both send at once; how many requests of the first were handled before that of the second.
pub fn handled_before_another(stage: &mut Stage, first: &[u8]) -> u64 {
    let (first_peer, second_peer) = (stage.attacker(), stage.attacker());
    let calls_before = stage.testing.calls();
    stage.server.give_later(first_peer.connection, first);
    let shout = request(1, ECHO, SHOUT);
    stage.server.give(second_peer.connection, &shout);
    stage.testing.calls_before_last_shout() - calls_before
}

/// Until other threads have done what they were given.
pub fn wait_for_threads(stage: &mut Stage) {
    while stage.outstanding() {
        stage.server.wake();
        std::thread::yield_now();
    }
}

#[test]
fn who_sends_what_swells_waits_for_others_in_between() {
    // What the connection's thread inflates, and what others do.
    for inflated_bytes in [200_000, 1_000_000] {
        let mut stage = Stage::new(Limits::internet());
        let before = handled_before_another(&mut stage, &swelling_requests(inflated_bytes, 30));
        assert!(before < 10, "{before} were handled first");
        wait_for_threads(&mut stage);
        assert_eq!(stage.testing.calls(), stage.counts().answered_ok);
        assert!(stage.testing.calls() >= 31, "all were handled in the end");
    }
}

#[test]
fn who_has_nothing_inflated_at_great_length_waits_for_others_in_between() {
    let mut stage = Stage::new(Limits::internet());
    let mut empty = Vec::new();
    gzip::compress(b"", &mut empty);
    let members = empty.repeat(1_000);
    let requests: Vec<_> =
        ids().take(30).map(|id| frames_of(ECHO, id, &members, true).concat()).collect();
    let before = handled_before_another(&mut stage, &requests.concat());
    assert!(before < 10, "{before} were handled first");
    wait_for_threads(&mut stage);
    assert!(stage.testing.calls() >= 31, "all were handled in the end");
}

/// Bytes that cannot be compressed.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[test]
fn what_messages_of_several_slices_of_a_read_cost_is_added_up() {
    let mut stage = Stage::new(Limits::internet());
    // Inflated and answered, five of them are less than a turn's work, and more do not fit into a
    // slice.
    let mut message = noise(12 << 10);
    message.resize(60 << 10, 0);
    let mut compressed = Vec::new();
    gzip::compress(&message, &mut compressed);
    let requests: Vec<_> =
        ids().take(18).map(|id| frames_of(ECHO, id, &compressed, true).concat()).collect();
    let before = handled_before_another(&mut stage, &requests.concat());
    assert!(before < 12, "{before} were handled first");
    assert!(stage.testing.calls() >= 19, "all were handled in the end");
}

#[test]
fn who_asks_for_long_replies_waits_for_others_in_between() {
    let mut stage = Stage::new(Limits::internet());
    let requests: Vec<_> =
        ids().take(30).map(|id| request(id, FILL, &(2_u32 << 20).to_be_bytes())).collect();
    let before = handled_before_another(&mut stage, &requests.concat());
    assert!(before < 3, "{before} were handled first");
    assert!(stage.testing.calls() >= 31, "all were handled in the end");
}

/// Calls whose message has a wrong checksum, as it comes from the first.
fn broken_calls(path: &str, message: &[u8], count: usize) -> impl Iterator<Item = Vec<u8>> + use<> {
    let mut compressed = Vec::new();
    gzip::compress(message, &mut compressed);
    let at_checksum = compressed.len() - 8;
    compressed[at_checksum] ^= 1;
    let path = path.to_owned();
    ids().take(count).map(move |id| frames_of(&path, id, &compressed, true).concat())
}

/// Until the connection is cut; how many there were.
fn calls_until_cut(stage: &mut Stage, calls: impl Iterator<Item = Vec<u8>>) -> usize {
    let mut attacker = stage.attacker();
    let mut count = 0;
    for call in calls {
        stage.send(&mut attacker, &call);
        wait_for_threads(stage);
        if !stage.is_open(&attacker) {
            break;
        }
        count += 1;
    }
    attacker.read(&mut stage.server);
    let code = attacker.heard.goaway.as_ref().map(|(code, _)| *code);
    assert_eq!(code.unwrap_or(ErrorCode::ENHANCE_YOUR_CALM), ErrorCode::ENHANCE_YOUR_CALM);
    stage.another_is_answered();
    count
}

#[test]
fn who_sends_broken_messages_again_and_again_is_cut() {
    let allowed = (INTERNET_GLITCHES.burst / BROKEN_MESSAGE_GLITCHES) as usize;
    // By the thread of the connection, and by another, which is noticed with the next read.
    for (path, bytes, more) in
        [(ECHO, 100, 0), (ECHO, 40_000, 1), (CHAT, 100, 0), (CHAT, 40_000, 1)]
    {
        let mut stage = Stage::new(Limits::internet());
        let calls = broken_calls(path, &noise(bytes), 1_000);
        let count = calls_until_cut(&mut stage, calls);
        assert_eq!(count, allowed + more, "{path}, {bytes} bytes");
    }
}

#[test]
fn control_without_a_limit_of_glitches_they_go_on() {
    let mut stage = Stage::new(but(|limits| limits.glitches = None));
    assert_eq!(calls_until_cut(&mut stage, broken_calls(ECHO, b"small", 500)), 500);
}

#[test]
fn a_message_that_is_broken_now_and_then_costs_its_call_alone() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    for calls in broken_calls(ECHO, b"small", 600).collect::<Vec<_>>().chunks(3) {
        calls.iter().for_each(|call| stage.send(&mut client, call));
        stage.pass_seconds(1);
    }
    assert!(stage.is_open(&client));
    assert_eq!(client.heard.statuses_of(INTERNAL), 600);
}

#[test]
fn control_what_does_not_swell_is_handled_as_it_comes() {
    let mut stage = Stage::new(Limits::internet());
    let requests =
        ids().map(|id| request(id, ECHO, b"small")).take(100).collect::<Vec<_>>().concat();
    assert_eq!(handled_before_another(&mut stage, &requests), 100);
}
