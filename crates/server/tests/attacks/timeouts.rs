//! Slowloris, stalls and idleness: clients that begin something and leave it at that.

use bookend_server::Limits;
use bookend_testing::{frame, message};
use bookend_wire::ErrorCode;
use bookend_wire::frame::{PREFACE, flag, kind};

use crate::frames::{
    body, data, frame_header, head, head_with, ids, ping, request, stream_window, update, wide_open,
};
use crate::stage::{Peer, Stage};
use crate::testing::{CHAT, ECHO, FILL, WAIT};

/// How much later than its time a timeout may be noticed.
const PATROL_SECONDS: u64 = 5;

/// Passes time until just before, and then until just after, the peer is to be gone.
fn is_given(stage: &mut Stage, peer: &mut Peer, seconds: u64) {
    stage.pass_seconds(seconds - 1);
    assert!(stage.is_open(peer), "it has {seconds} s");
    stage.another_is_answered();
    stage.pass_seconds(2 + 2 * PATROL_SECONDS);
    peer.read(&mut stage.server);
    assert!(!stage.is_open(peer), "it had {seconds} s");
    stage.another_is_answered();
}

fn calm(peer: &Peer) -> bool {
    let goaway = peer.heard.goaway.as_ref();
    goaway.is_some_and(|(code, _)| *code == ErrorCode::ENHANCE_YOUR_CALM)
}

#[test]
fn who_does_not_say_that_it_speaks_http_2_is_hung_up_on() {
    let settings = frame(kind::SETTINGS, 0, 0, &[]);
    let preface = [&PREFACE[..], &settings].concat();
    for begun in [0, 1, 23, 24, 24 + 8] {
        let mut stage = Stage::new(Limits::internet());
        let mut stranger = stage.stranger();
        stage.send(&mut stranger, &preface[..begun]);
        is_given(&mut stage, &mut stranger, 10);
    }
}

#[test]
fn a_header_block_that_stays_open_ends_the_connection() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    stage.send(&mut attacker, &frame(kind::HEADERS, 0, 1, &[0x83]));
    stage.pass_seconds(10);
    stage.send(&mut attacker, &frame(kind::CONTINUATION, 0, 1, &[0x86]));
    is_given(&mut stage, &mut attacker, 10);
    assert!(calm(&attacker), "{:?}", attacker.heard.goaway);
}

#[test]
fn a_frame_that_stays_half_ends_the_connection_however_it_dribbles() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    stage.send(&mut attacker, &head(1, ECHO));
    stage.send(&mut attacker, &frame_header(kind::DATA, 1, 16_384));
    for _ in 0..18 {
        stage.pass_seconds(1);
        stage.send(&mut attacker, &[0]);
    }
    is_given(&mut stage, &mut attacker, 2);
    assert!(calm(&attacker), "{:?}", attacker.heard.goaway);
}

#[test]
fn a_slow_line_that_completes_its_frames_is_served() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    stage.send(&mut client, &head(1, CHAT));
    for _ in 0..100 {
        let frame = data(1, &[0, 0, 0, 0, 1, 7]);
        let (one, other) = frame.split_at(7);
        stage.send(&mut client, one);
        stage.pass_seconds(14);
        stage.send(&mut client, other);
    }
    assert!(stage.is_open(&client), "{:?}", client.heard.goaway);
}

#[test]
fn who_takes_nothing_is_reset_and_who_takes_little_is_not() {
    let mut stage = Stage::new(Limits::internet());
    let mut deaf = stage.attacker_with(&wide_open());
    let slow = stage.attacker_with(&wide_open());
    let large = request(1, FILL, &(1_u32 << 20).to_be_bytes());
    stage.server.give(slow.connection, &large);
    for _ in 0..30 {
        stage.pass_seconds(50);
        stage.server.take(slow.connection, 1_000);
    }
    assert!(stage.is_open(&slow));
    stage.server.give(deaf.connection, &large);
    stage.pass_seconds(59);
    assert!(stage.is_open(&deaf));
    stage.pass_seconds(12);
    assert!(stage.is_reset(&deaf));
    deaf.read(&mut stage.server);
    stage.another_is_answered();
}

#[test]
fn windows_that_stay_closed_end_the_connection_and_those_that_move_do_not() {
    let mut stage = Stage::new(Limits::internet());
    let mut slow = stage.attacker_with(&stream_window(0));
    let large = request(1, FILL, &100_000_u32.to_be_bytes());
    stage.send(&mut slow, &large);
    for _ in 0..20 {
        stage.pass_seconds(290);
        stage.send(&mut slow, &update(1, 300));
    }
    assert!(stage.is_open(&slow), "{:?}", slow.heard.goaway);
    let mut attacker = stage.attacker_with(&stream_window(0));
    stage.send(&mut attacker, &large);
    for _ in 0..29 {
        stage.pass_seconds(10);
        // That it is alive does not help it.
        stage.send(&mut attacker, &ping());
    }
    is_given(&mut stage, &mut attacker, 10);
    assert!(calm(&attacker), "{:?}", attacker.heard.goaway);
}

#[test]
fn connections_without_a_call_are_kept_for_an_hour_and_with_one_for_ever() {
    let mut stage = Stage::new(Limits::internet());
    let mut idle = stage.attacker();
    let mut waiting = stage.attacker();
    let mut chatting = stage.attacker();
    stage.send(&mut waiting, &request(1, WAIT, b""));
    stage.send(&mut chatting, &head(1, CHAT));
    is_given(&mut stage, &mut idle, 3_600);
    let goaway = idle.heard.goaway.clone().expect("a goodbye");
    assert_eq!(goaway.0, ErrorCode::NO_ERROR);
    for _ in 0..24 * 360 {
        stage.pass_seconds(10);
        waiting.answer_pings(&mut stage.server);
        chatting.answer_pings(&mut stage.server);
    }
    assert!(stage.is_open(&waiting) && stage.is_open(&chatting));
    let end = frame(kind::DATA, flag::END_STREAM, 1, b"");
    stage.send(&mut chatting, &end);
    assert_eq!(chatting.heard.statuses_of("0"), 1);
    assert_eq!(stage.counts().broken_connections, 0);
}

const DEADLINE_EXCEEDED: &str = "4";

#[test]
fn a_request_that_comes_no_further_costs_its_call_and_nothing_else() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let half = &message(b"half")[..7];
    let begun = [
        head(1, ECHO),
        [head(3, ECHO), data(3, half)].concat(),
        head(5, WAIT),
        // Answered at once; its stream is open.
        head(7, "/attack.Testing/Unknown"),
        head(9, CHAT),
        request(11, WAIT, b""),
    ];
    stage.send(&mut client, &begun.concat());
    stage.pass_seconds(59);
    client.read(&mut stage.server);
    assert_eq!(client.heard.statuses_of(DEADLINE_EXCEEDED), 0);
    assert_eq!(client.heard.resets_with(ErrorCode::NO_ERROR), 0);
    stage.pass_seconds(2 + 2 * PATROL_SECONDS);
    client.read(&mut stage.server);
    assert_eq!(client.heard.statuses_of(DEADLINE_EXCEEDED), 3);
    assert_eq!(client.heard.resets_with(ErrorCode::NO_ERROR), 4);
    stage.pass_seconds(3_600);
    let end = frame(kind::DATA, flag::END_STREAM, 9, b"");
    stage.send(&mut client, &end);
    stage.testing.answer_all();
    stage.server.wake();
    client.read(&mut stage.server);
    assert_eq!(client.heard.statuses_of("0"), 2);
    assert_eq!(stage.counts().answered_error, 4);
}

#[test]
fn streams_that_are_opened_and_left_keep_no_connection() {
    let mut stage = Stage::new(Limits::internet());
    let mut attacker = stage.attacker();
    let heads: Vec<_> = ids().take(250).flat_map(|id| head(id, ECHO)).collect();
    stage.send(&mut attacker, &heads);
    stage.pass_seconds(60 + 2 * PATROL_SECONDS);
    attacker.read(&mut stage.server);
    assert_eq!(attacker.heard.statuses_of(DEADLINE_EXCEEDED), 250);
    is_given(&mut stage, &mut attacker, 3_590);
    let goaway = attacker.heard.goaway.expect("a goodbye");
    assert_eq!(goaway.0, ErrorCode::NO_ERROR, "it had no call for an hour");
}

#[test]
fn a_request_that_comes_slowly_is_waited_for() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    stage.send(&mut client, &head(1, ECHO));
    let whole = message(b"byte by byte");
    for byte in whole.chunks(1) {
        stage.pass_seconds(50);
        stage.send(&mut client, &data(1, byte));
    }
    stage.pass_seconds(50);
    stage.send(&mut client, &frame(kind::DATA, flag::END_STREAM, 1, b""));
    assert_eq!(client.heard.last_status, Some((1, "0".to_owned())));
}

#[test]
fn a_deadline_ends_a_call_of_which_only_the_head_came() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    let head = head_with(1, ECHO, &[("grpc-timeout", "9S")]);
    stage.send(&mut client, &head);
    stage.pass_seconds(8);
    client.read(&mut stage.server);
    assert_eq!(client.heard.last_status, None);
    stage.pass_seconds(2 + PATROL_SECONDS);
    client.read(&mut stage.server);
    let exceeded = Some((1, DEADLINE_EXCEEDED.to_owned()));
    assert_eq!(client.heard.last_status, exceeded);
}

/// How somebody goes on who has begun something.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Reads, answers PINGs and sends some: that it is alive does not help it.
    Lively,
    /// Reads, and says nothing.
    Silent,
    /// Does not read either.
    Deaf,
}

/// What can be begun and left: bytes, a manner, and the seconds until the call or the connection
/// ends; `None` for never.
type Unfinished = (&'static str, Vec<u8>, Manner, Option<u64>);

/// Everything of that kind, each on a connection of its own.
fn unfinished() -> Vec<Unfinished> {
    use Manner::{Deaf, Lively, Silent};
    let settings = frame(kind::SETTINGS, 0, 0, &[]);
    let begun = |bytes: &[u8]| [&PREFACE[..], &settings, bytes].concat();
    let with = |settings: Vec<u8>, bytes: &[u8]| [&PREFACE[..], &settings, bytes].concat();
    let fill = |bytes: u32| request(1, FILL, &bytes.to_be_bytes());
    let half =
        |path, bytes: usize| [head(1, path), data(1, &message(b"message")[..bytes])].concat();
    let open_trailers = [head(1, CHAT), frame(kind::HEADERS, flag::END_STREAM, 1, &[])].concat();
    let (hour, keepalive) = (3_600, 2 * 3_600 + 20);
    vec![
        ("nothing", Vec::new(), Silent, Some(10)),
        ("half a preface", PREFACE[..12].to_vec(), Silent, Some(10)),
        ("a preface without SETTINGS", PREFACE.to_vec(), Silent, Some(10)),
        ("half a frame's header", begun(&frame_header(kind::DATA, 1, 9)[..5]), Silent, Some(20)),
        ("half a frame", begun(&half(ECHO, 8)[..60]), Silent, Some(20)),
        ("a header block", begun(&frame(kind::HEADERS, 0, 1, &[0x83])), Silent, Some(20)),
        ("a block of trailers", begun(&open_trailers), Silent, Some(20)),
        ("a call's head", begun(&head(1, ECHO)), Lively, Some(60)),
        ("the head of a call that waits", begun(&head(1, WAIT)), Lively, Some(60)),
        ("half of a call's message", begun(&half(ECHO, 9)), Lively, Some(60)),
        ("a call's message without an end", begun(&half(ECHO, 12)), Lively, Some(60)),
        ("half of a stream's message", begun(&half(CHAT, 9)), Lively, Some(60)),
        ("half of a message's prefix", begun(&half(CHAT, 3)), Lively, Some(60)),
        ("a call of no method", begun(&head(1, "/attack.Testing/No")), Lively, Some(0)),
        ("an answer that nobody reads", with(wide_open(), &fill(2 << 20)), Deaf, Some(60)),
        ("a stream's window", with(stream_window(0), &fill(100_000)), Lively, Some(300)),
        ("the connection's window", begun(&fill(100_000)), Lively, Some(300)),
        ("a connection", begun(b""), Lively, Some(hour)),
        ("a stream", begun(&half(CHAT, 12)), Lively, None),
        ("a stream whose client is gone", begun(&half(CHAT, 12)), Silent, Some(keepalive)),
        ("a call that waits", begun(&request(1, WAIT, b"")), Lively, None),
        ("the same, its client gone", begun(&request(1, WAIT, b"")), Silent, Some(keepalive)),
    ]
}

#[test]
fn whatever_is_left_unfinished_has_its_time_and_after_hours_nothing_of_it_is_left() {
    let mut stage = Stage::new(Limits::internet());
    let all = unfinished();
    let mut peers: Vec<Peer> = all.iter().map(|_| stage.stranger()).collect();
    for ((_, bytes, ..), peer) in all.iter().zip(&peers) {
        stage.server.give(peer.connection, bytes);
    }
    let mut ended = vec![None; all.len()];
    for second in 0..=3 * 3_600 {
        for (((_, _, manner, _), peer), end) in all.iter().zip(&mut peers).zip(&mut ended) {
            if *manner != Manner::Deaf {
                peer.read(&mut stage.server);
            }
            if *manner == Manner::Lively && stage.is_open(peer) && second % 10 == 9 {
                stage.send(peer, &ping());
                peer.answer_pings(&mut stage.server);
            }
            let has_ended = !stage.is_open(peer) || !peer.heard.statuses.is_empty();
            *end = end.or(has_ended.then_some(second));
        }
        stage.pass_seconds(1);
    }
    for ((what, _, _, seconds), (end, peer)) in all.iter().zip(ended.iter().zip(&peers)) {
        let is_in_time = match (seconds, end) {
            (Some(limit), Some(end)) => (*limit..=limit + 1 + 2 * PATROL_SECONDS).contains(end),
            (limit, end) => limit.is_none() && end.is_none(),
        };
        assert!(is_in_time, "{what}: {end:?} s where {seconds:?} are allowed");
        assert_eq!(stage.is_open(peer), seconds.is_none(), "{what}: a connection without a call");
    }
    stage.another_is_answered();
}

#[test]
fn control_trusted_clients_may_take_as_long_as_they_like() {
    let mut stage = Stage::new(Limits::trusted());
    let mut silent = stage.stranger();
    stage.send(&mut silent, &PREFACE[..5]);
    let mut open = stage.attacker();
    stage.send(&mut open, &frame(kind::HEADERS, 0, 1, &[0x83]));
    let mut half = stage.attacker();
    stage.send(&mut half, &ping()[..10]);
    let mut held = stage.attacker_with(&stream_window(0));
    let large = request(1, FILL, &100_000_u32.to_be_bytes());
    stage.send(&mut held, &large);
    let deaf = stage.attacker_with(&wide_open());
    let huge = request(1, FILL, &(2_u32 << 20).to_be_bytes());
    stage.server.give(deaf.connection, &huge);
    let idle = stage.attacker();
    let mut begun = stage.attacker();
    stage.send(&mut begun, &head(1, ECHO));
    stage.pass_seconds(24 * 3_600);
    for peer in [&silent, &open, &half, &held, &deaf, &idle] {
        assert!(stage.is_open(peer));
    }
    stage.send(&mut begun, &body(1, b"at last"));
    assert_eq!(begun.heard.last_status, Some((1, "0".to_owned())));
}

#[test]
fn a_server_that_stops_says_so_and_lets_calls_end() {
    let mut stage = Stage::new(Limits::internet());
    let mut client = stage.attacker();
    stage.send(&mut client, &request(1, WAIT, b""));
    stage.server.stop();
    client.read(&mut stage.server);
    let goaway = client.heard.goaway.clone().expect("a goodbye");
    assert_eq!(goaway.0, ErrorCode::NO_ERROR);
    client.answer_pings(&mut stage.server);
    for id in ids().skip(1).take(1_000) {
        stage.send(&mut client, &[head(id, ECHO), body(id, b"late")].concat());
    }
    stage.testing.answer_all();
    stage.server.wake();
    client.read(&mut stage.server);
    assert_eq!(client.heard.statuses_of("0"), 1, "and none of the late ones");
}
