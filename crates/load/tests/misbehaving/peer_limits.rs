//! The limits of other servers that a fast client exceeds, and that our clients stay below. h2
//! closes the connection of a client that resets 20 streams before they are accepted, netty at 200
//! in 30 seconds, nghttp2 at 1,000 and then 33 a second. grpc-go and grpc-java do so for PINGs more
//! often than every five minutes, h2 for thousands of tiny DATA frames. Many servers reject a
//! header list above 8 KiB.

use super::behaviour::Behaviour;
use super::channel::channel_to;
use super::load::{measure, plan};
use super::plans;
use super::server::bind;
use super::server_connection::Observed;
use bookend_client::UnaryCall;
use bookend_load::plan::LoadPlan;
use bookend_testing::{Frame, flag, kind};
use bookend_wire::grpc::Code;
use std::sync::mpsc;

/// A deadline short enough for a test to wait for.
const DEADLINE_NS: u64 = 50_000_000;
/// Streams that a client may open before the server's SETTINGS, RFC 9113 section 6.5.2.
const STREAMS_BEFORE_SETTINGS: usize = 100;
/// The budget of h2 for tiny DATA frames, at the least; it is refilled by what is read.
const TINY_FRAMES_BUDGET: usize = 25_600;
/// The header list that grpc-java takes by default.
const METADATA_MAX_BYTES: usize = 8_192;

/// Three hundred calls of each end, all at once, to a good server.
fn three_hundred_calls() -> [Vec<Observed>; 2] {
    let server = bind().serve(Behaviour::Good);
    let outcome = measure(plan(server.address, 300, 300)).unwrap();
    assert_eq!(outcome.ok, 300);
    let of_load = server.finish();
    let bound = bind();
    let channel = channel_to(bound.address());
    let (tell, hear) = mpsc::channel();
    for _ in 0..300 {
        let tell = tell.clone();
        let call = UnaryCall::new("/test.Any/Call", b"ping".to_vec());
        channel.call(call, move |answer| tell.send(answer.status.code).unwrap());
    }
    let server = bound.serve(Behaviour::Good);
    assert!(hear.iter().take(300).all(|code| code == Code::Ok));
    drop(channel);
    [of_load, server.finish()]
}

#[test]
fn a_unary_request_is_one_head_and_one_data_frame_that_ends_it_and_no_ping_is_sent() {
    for observed in three_hundred_calls() {
        let [observed] = &observed[..] else {
            panic!("one connection is enough");
        };
        assert_eq!(observed.calls, 300);
        assert_eq!(observed.of_kind(kind::HEADERS).count(), 300);
        assert_eq!(observed.of_kind(kind::DATA).count(), 300);
        assert!(observed.of_kind(kind::DATA).all(|frame| frame.has(flag::END_STREAM)));
        assert!(observed.data.iter().all(|(_, bytes)| *bytes > 0));
        assert!(observed.of_kind(kind::PING).all(|frame| frame.has(flag::ACK)));
    }
}

#[test]
fn heads_are_far_below_what_servers_take() {
    for observed in three_hundred_calls() {
        let heads = observed[0].of_kind(kind::HEADERS);
        let head_bytes = heads.map(|frame| frame.payload.len()).max().unwrap();
        assert!(head_bytes < METADATA_MAX_BYTES / 32, "{head_bytes}");
    }
}

#[test]
fn no_more_streams_are_opened_before_the_servers_settings_than_any_server_takes() {
    for observed in three_hundred_calls() {
        let frames = &observed[0].frames;
        let is_acknowledgement =
            |frame: &Frame| frame.kind == kind::SETTINGS && frame.has(flag::ACK);
        let settled = frames.iter().position(is_acknowledgement).unwrap();
        let early = frames[..settled].iter().filter(|frame| frame.kind == kind::HEADERS);
        assert!(early.count() <= STREAMS_BEFORE_SETTINGS);
    }
}

#[test]
fn a_body_that_the_windows_cut_is_no_flood_of_tiny_frames() {
    const MESSAGE_BYTES: usize = 30_000;
    let server = bind().serve(Behaviour::Good);
    let outcome = measure(plans::calling(plan(server.address, 100, 10), |call| {
        call.messages = vec![vec![7; MESSAGE_BYTES]];
    }));
    assert_eq!(outcome.unwrap().ok, 100);
    let observed = server.finish();
    let sent_bytes: usize = observed[0].data.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(sent_bytes, 100 * (MESSAGE_BYTES + 5));
    assert!(observed[0].data.len() > 200, "the windows cut bodies");
    assert!(tiny_frames_cost(&observed[0]) < TINY_FRAMES_BUDGET);
}

/// What h2 takes off a budget for each DATA frame that does not end its stream, RUSTSEC-2026-0258.
fn tiny_frames_cost(observed: &Observed) -> usize {
    let frames = observed.of_kind(kind::DATA).zip(&observed.data);
    let unfinished = frames.filter(|(frame, _)| !frame.has(flag::END_STREAM));
    unfinished.map(|(_, (_, bytes))| 256_usize.saturating_sub(*bytes)).sum()
}

#[test]
fn a_flood_of_tiny_frames_would_be_seen() {
    let frame = Frame { kind: kind::DATA, flags: 0, stream_id: 1, payload: Vec::new() };
    let flood =
        Observed { frames: vec![frame; 1_000], data: vec![(1, 5); 1_000], ..Observed::default() };
    assert!(tiny_frames_cost(&flood) > TINY_FRAMES_BUDGET);
}

#[test]
fn deadlines_that_pass_by_the_hundred_are_no_burst_of_resets() {
    let server = bind().serve(Behaviour::Silent);
    let outcome =
        measure(LoadPlan { timeout_ns: Some(DEADLINE_NS), ..plan(server.address, 300, 100) })
            .unwrap();
    assert_eq!(outcome.errors.by_code[&Code::DeadlineExceeded], 300);
    assert_eq!((outcome.ok, outcome.errors.total()), (0, 300));
    let observed = server.finish();
    let calls: u64 = observed.iter().map(|observed| observed.calls).sum();
    assert_eq!(calls, 300, "every call was really made");
    assert!(observed.len() > 1, "the connection with the calls given up is replaced");
    for observed in observed {
        let resets = observed.of_kind(kind::RST_STREAM).count() as u64;
        assert!(resets < observed.calls / 2, "{resets} of {}", observed.calls);
    }
}
