//! Many calls at once over one connection: every one is answered once, whatever becomes of the
//! server, the connection and the channel.

mod answers;
mod connecting;
#[path = "../support/peer.rs"]
#[allow(dead_code, reason = "written for streams, whose tests use more of it")]
mod peer;
mod service;

use answers::accept_and_babble;
use bookend_client::{
    Channel, ChannelOptions, Code, Encoding, Metadata, Response, StreamCall, UnaryCall,
};
use bookend_wire::{ConnectionConfig, ErrorCode};
use peer::{Peer, Request};
use service::{ECHO, FAIL, HOLD, Held, TALK};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver, RecvError};
use std::thread;
use std::time::Duration;

const LOOPBACK: &str = "127.0.0.1:0";

fn channel(target: impl ToString) -> Channel {
    Channel::connect(&target.to_string(), ChannelOptions::default()).unwrap()
}

fn number(number: usize) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

/// Makes a call whose answer is to be received. Receiving twice fails, as does receiving what was
/// never answered.
fn ask(channel: &Channel, call: UnaryCall) -> Receiver<Response> {
    let (tell, hear) = mpsc::channel();
    // A test that does not listen has gone on.
    channel.call(call, move |answer| drop(tell.send(answer)));
    hear
}

fn answer_to(channel: &Channel, call: UnaryCall) -> Response {
    ask(channel, call).recv().unwrap()
}

/// Makes `calls` calls of `path`, numbered; their answers come with their numbers.
fn ask_many(channel: &Channel, path: &'static str, calls: usize) -> Receiver<(usize, Response)> {
    let (tell, hear) = mpsc::channel();
    for index in 0..calls {
        let tell = tell.clone();
        channel.call(UnaryCall::new(path, number(index)), move |answer| {
            drop(tell.send((index, answer)));
        });
    }
    hear
}

/// Every number once, and nothing more.
fn assert_all_once(mut numbers: Vec<usize>, calls: usize) {
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..calls), "{} of {calls}", numbers.len());
}

fn codes(hear: &Receiver<(usize, Response)>, calls: usize) -> Vec<Code> {
    let answers: Vec<_> = hear.iter().take(calls).collect();
    let codes = answers.iter().map(|(_, answer)| answer.status.code).collect();
    assert_all_once(answers.into_iter().map(|(index, _)| index).collect(), calls);
    assert!(hear.recv().is_err(), "every call is answered once");
    codes
}

#[test]
fn a_call_comes_back_with_its_message_and_the_next_one_too() {
    let (server, _holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    for message in [&b"first"[..], b"second", b""] {
        let answer = answer_to(&channel, UnaryCall::new(ECHO, message.to_vec()));
        assert_eq!(answer.into_single_message().unwrap(), message);
    }
}

#[test]
fn ten_thousand_calls_are_in_flight_at_once_and_each_gets_its_own_answer() {
    const CALLS: usize = 10_000;
    let (server, holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let hear = ask_many(&channel, HOLD, CALLS);
    let mut held: Vec<Held> = holding.iter().take(CALLS).collect();
    // The last come first: answers find their calls by nothing but their streams.
    while let Some(call) = held.pop() {
        call.echo();
    }
    let answers: Vec<_> = hear.iter().take(CALLS).collect();
    for (index, answer) in &answers {
        assert_eq!(answer.single_message(), Ok(&number(*index)[..]));
    }
    assert_all_once(answers.into_iter().map(|(index, _)| index).collect(), CALLS);
}

#[test]
fn any_thread_may_call_and_what_they_send_is_kept_apart() {
    const CALLS: usize = 1_000;
    let (server, _holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let threads = (0..4).map(|_| {
        let channel = channel.clone();
        thread::spawn(move || {
            let hear = ask_many(&channel, ECHO, CALLS);
            for (index, answer) in hear.iter().take(CALLS) {
                assert_eq!(answer.single_message(), Ok(&number(index)[..]));
            }
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

#[test]
fn streams_go_beside_unary_calls() {
    const STREAMS: usize = 20;
    const MESSAGES: usize = 100;
    let (server, _holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let talks = (0..STREAMS).map(|talk| {
        let mut call = StreamCall::new(TALK);
        let is_compressed = talk % 2 == 1;
        if is_compressed {
            call.encoding = Encoding::Gzip;
        }
        let (mut requests, mut responses) = channel.open(call);
        let sending = thread::spawn(move || {
            for index in 0..MESSAGES {
                requests.send(&number(index)).unwrap();
            }
            requests.finish();
        });
        thread::spawn(move || {
            for (index, message) in responses.by_ref().enumerate() {
                let message = message.unwrap();
                assert_eq!(message.bytes, number(index / 2));
                assert_eq!(message.was_compressed, is_compressed);
            }
            sending.join().unwrap();
            assert_eq!(responses.end().status.code, Code::Ok);
        })
    });
    let talks: Vec<_> = talks.collect();
    for index in 0..100 {
        let answer = channel.unary(UnaryCall::new(ECHO, number(index)));
        assert_eq!(answer.into_single_message(), Ok(number(index)));
    }
    for talk in talks {
        talk.join().unwrap();
    }
    let (mut requests, responses) = channel.open(StreamCall::new(TALK));
    requests.send(b"echo").unwrap();
    requests.finish();
    // It says everything twice, and a method of one message does not.
    assert_eq!(responses.into_response().status.code, Code::Unimplemented);
}

#[test]
fn calls_beyond_what_the_server_takes_at_once_wait_their_turn() {
    let mut config = ConnectionConfig::internet();
    config.settings.max_concurrent_streams = Some(3);
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let hear = ask_many(&channel, ECHO, 20);
    let mut server = Peer::accept(&listener, &config);
    for answered in 0..20 {
        let requests = server.requests(answered + 1);
        // A fourth would be refused and sent again, on the next stream but one.
        assert_eq!(requests[answered].id as usize, 2 * answered + 1);
        server.answer_at_once(requests[answered]);
    }
    assert_eq!(codes_until_dropped(channel, &hear, 20), [Code::Ok; 20]);
}

fn codes_until_dropped(
    channel: Channel,
    hear: &Receiver<(usize, Response)>,
    calls: usize,
) -> Vec<Code> {
    let answers: Vec<_> = hear.iter().take(calls).collect();
    drop(channel);
    assert!(hear.recv().is_err(), "every call is answered once");
    answers.iter().map(|(_, answer)| answer.status.code).collect()
}

#[test]
fn metadata_goes_both_ways() {
    let (server, _holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let mut call = UnaryCall::new(ECHO, b"x".to_vec());
    call.metadata.push("x-text", b"plain ~ text").unwrap();
    call.metadata.push_binary("x-any-bin", &[0, 0xff, b'\n', 7]).unwrap();
    for _ in 0..3 {
        let answer = answer_to(&channel, call.clone());
        assert_eq!(answer.trailers.text("x-text"), Some("plain ~ text"));
        assert_eq!(answer.trailers.find_binary("x-any-bin"), Ok(Some(vec![0, 0xff, b'\n', 7])));
        assert_eq!(answer.single_message(), Ok(&b"x"[..]));
        let plain = answer_to(&channel, UnaryCall::new(ECHO, b"y".to_vec()));
        assert_eq!((plain.head, plain.trailers), (Metadata::new(), Metadata::new()));
    }
}

#[test]
fn the_status_of_a_failure_comes_with_its_message() {
    let (server, _holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let status = answer_to(&channel, UnaryCall::new(FAIL, vec![])).status;
    assert_eq!((status.code, status.message.as_str()), (Code::NotFound, "there is no café"));
    let status = answer_to(&channel, UnaryCall::new("/test.Any/Nothing", vec![])).status;
    assert_eq!(status.code, Code::Unimplemented);
}

#[test]
fn a_big_message_goes_through_small_windows_beside_small_calls() {
    let (server, _holding) = service::start(LOOPBACK);
    let options =
        ChannelOptions { http2: ConnectionConfig::internet(), ..ChannelOptions::default() };
    let channel = Channel::connect(&server.local_address().to_string(), options).unwrap();
    let big: Vec<u8> = (0..4_000_000_u32).map(|number| number as u8).collect();
    let hear = ask(&channel, UnaryCall::new(ECHO, big.clone()));
    let small = answer_to(&channel, UnaryCall::new(ECHO, b"small".to_vec()));
    assert_eq!(small.single_message(), Ok(&b"small"[..]));
    let answer = hear.recv().unwrap();
    assert!(answer.single_message() == Ok(&big), "{}", answer.status);
}

#[test]
fn a_message_above_the_limit_ends_its_own_call() {
    let (server, _holding) = service::start(LOOPBACK);
    let options = ChannelOptions { max_message_bytes: 1_000, ..ChannelOptions::default() };
    let channel = Channel::connect(&server.local_address().to_string(), options).unwrap();
    let too_large = answer_to(&channel, UnaryCall::new(ECHO, vec![0; 100_000]));
    assert_eq!(too_large.status.code, Code::ResourceExhausted);
    let fits = answer_to(&channel, UnaryCall::new(ECHO, vec![0; 1_000]));
    assert_eq!(fits.status.code, Code::Ok);
}

#[test]
fn a_second_message_ends_a_call_whose_server_might_never_stop() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let hear = ask(&channel, UnaryCall::new(ECHO, vec![]));
    let mut server = Peer::accept(&listener, &ConnectionConfig::trusted());
    let requests = server.requests(1);
    server.answer_twice(requests[0]);
    assert_eq!(hear.recv().unwrap().status.code, Code::Unimplemented);
    let heard = server.hear(|heard| !heard.resets.is_empty());
    assert_eq!(heard.resets, [(requests[0].id, ErrorCode::CANCEL)]);
}

#[test]
fn the_server_learns_the_deadline_and_it_is_kept_without_the_server() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let mut call = UnaryCall::new(ECHO, vec![]);
    call.timeout = Some(Duration::from_millis(20));
    call.waits_for_ready = true;
    let hear = ask(&channel, call);
    let mut server = Peer::accept(&listener, &ConnectionConfig::internet());
    assert_eq!(hear.recv().unwrap().status.code, Code::DeadlineExceeded);
    assert!(hear.recv().is_err());
    // On a slow machine the deadline passes before the connection is there.
    channel.call(UnaryCall::new(ECHO, vec![]), |_| {});
    let is_patient = |request: &Request| request.ended && request.timeout().is_none();
    let heard = server.hear(|heard| heard.requests.values().any(is_patient));
    let timeouts: Vec<&str> = heard.requests.values().filter_map(Request::timeout).collect();
    let resets: Vec<ErrorCode> = heard.resets.iter().map(|(_, code)| *code).collect();
    assert_eq!(resets, vec![ErrorCode::CANCEL; timeouts.len()]);
    for timeout in timeouts {
        let timeout_ns = bookend_wire::grpc::timeout::parse(timeout.as_bytes()).unwrap();
        assert!(timeout_ns <= 20_000_000);
    }
}

#[test]
fn a_call_that_waits_for_its_turn_has_a_deadline_too() {
    let mut config = ConnectionConfig::internet();
    config.settings.max_concurrent_streams = Some(1);
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let first = ask(&channel, UnaryCall::new(ECHO, vec![]));
    let mut server = Peer::accept(&listener, &config);
    let requests = server.requests(1);
    let mut second = UnaryCall::new(ECHO, vec![]);
    second.timeout = Some(Duration::from_millis(1));
    let status = answer_to(&channel, second).status;
    assert_eq!(status.code, Code::DeadlineExceeded);
    server.answer_at_once(requests[0]);
    assert_eq!(first.recv().unwrap().status.code, Code::Ok);
}

#[test]
fn a_killed_server_fails_its_calls_once_each_and_a_new_one_gets_the_next() {
    const CALLS: usize = 1_000;
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let address = listener.local_addr().unwrap();
    let channel = channel(address);
    let hear = ask_many(&channel, ECHO, CALLS);
    let mut server = Peer::accept(&listener, &ConnectionConfig::trusted());
    server.requests(CALLS);
    drop((server, listener));
    assert_eq!(codes(&hear, CALLS), [Code::Unavailable; CALLS]);

    let mut patient = UnaryCall::new(ECHO, b"again".to_vec());
    patient.waits_for_ready = true;
    let hear = ask(&channel, patient);
    let (_server, _holding) = service::start(&address.to_string());
    let answer = hear.recv().unwrap();
    assert_eq!(answer.single_message(), Ok(&b"again"[..]));
}

#[test]
fn only_calls_that_wait_for_ready_wait_for_a_server_that_cannot_be_reached() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let channel = channel(address);
    for _ in 0..2 {
        let status = answer_to(&channel, UnaryCall::new(ECHO, vec![])).status;
        assert_eq!(status.code, Code::Unavailable);
        assert!(status.message.contains("nobody listens"), "{status}");
    }
    let mut patient = UnaryCall::new(ECHO, vec![]);
    patient.waits_for_ready = true;
    patient.timeout = Some(Duration::from_millis(1));
    let status = answer_to(&channel, patient).status;
    assert_eq!(status.code, Code::DeadlineExceeded);
}

#[test]
fn a_server_that_does_not_speak_http2_is_named() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let hear = ask(&channel, UnaryCall::new(ECHO, vec![]));
    let _socket = accept_and_babble(&listener, b"");
    let status = hear.recv().unwrap().status;
    assert_eq!(status.code, Code::Unavailable);
    assert!(status.message.contains("HTTP/1.1 400"), "{status}");
}

#[test]
fn a_connection_that_breaks_after_its_settings_is_replaced() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let hear = ask(&channel, UnaryCall::new(ECHO, vec![]));
    let no_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let _broken = accept_and_babble(&listener, &no_settings);
    let mut server = Peer::accept(&listener, &ConnectionConfig::trusted());
    let requests = server.requests(1);
    server.answer_at_once(requests[0]);
    assert_eq!(hear.recv().unwrap().status.code, Code::Ok);
}

#[test]
fn every_address_of_a_name_is_tried() {
    let (server, _holding) = service::start(LOOPBACK);
    // Where the name stands for ::1 as well, nobody listens there.
    let channel = channel(format!("localhost:{}", server.port().unwrap()));
    let answer = answer_to(&channel, UnaryCall::new(ECHO, b"found".to_vec()));
    assert_eq!(answer.single_message(), Ok(&b"found"[..]));
}

#[test]
fn calls_that_a_goaway_leaves_out_are_made_again_on_a_new_connection() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let hear = ask_many(&channel, ECHO, 3);
    let mut old = Peer::accept(&listener, &ConnectionConfig::trusted());
    let requests = old.requests(3);
    old.go_away(requests[0].id);
    let mut new = Peer::accept(&listener, &ConnectionConfig::trusted());
    for stream in new.requests(2) {
        new.answer_at_once(stream);
    }
    old.answer_at_once(requests[0]);
    assert_eq!(codes(&hear, 3), [Code::Ok; 3]);
    old.hear_all();
    assert_eq!(new.requests(2).len(), 2, "nothing is sent twice");
}

#[test]
fn a_call_that_is_refused_again_is_unavailable() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let hear = ask(&channel, UnaryCall::new(ECHO, vec![]));
    let mut server = Peer::accept(&listener, &ConnectionConfig::trusted());
    for refused in 0..2 {
        let requests = server.requests(refused + 1);
        server.refuse(requests[refused]);
    }
    let status = hear.recv().unwrap().status;
    assert_eq!(status.code, Code::Unavailable);
    assert!(status.message.contains("REFUSED_STREAM"), "{status}");
}

#[test]
fn a_new_connection_is_made_when_the_stream_ids_are_used_up() {
    let (server, _holding) = service::start(LOOPBACK);
    let mut options = ChannelOptions::default();
    // Two ids are left to each connection.
    options.http2.first_stream_id = (1 << 31) - 3;
    let channel = Channel::connect(&server.local_address().to_string(), options).unwrap();
    let hear = ask_many(&channel, ECHO, 5);
    assert_eq!(codes(&hear, 5), [Code::Ok; 5]);
    server.stop();
    drop(channel);
    assert_eq!(server.join().unwrap().io.accepted, 3);
}

#[test]
fn dropping_the_last_clone_cancels_what_is_in_flight() {
    const CALLS: usize = 100;
    let (server, holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let hear = ask_many(&channel, HOLD, CALLS);
    let held: Vec<Held> = holding.iter().take(CALLS).collect();
    let clone = channel.clone();
    drop(channel);
    let last = ask(&clone, UnaryCall::new(HOLD, vec![]));
    drop(clone);
    assert_eq!(codes(&hear, CALLS), [Code::Cancelled; CALLS]);
    assert_eq!(last.recv().unwrap().status.code, Code::Cancelled);
    drop(held);
}

#[test]
fn the_channel_may_be_dropped_by_the_answer_that_it_brings() {
    let (server, _holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let (tell, hear) = mpsc::channel();
    let own = channel.clone();
    channel.call(UnaryCall::new(ECHO, b"last".to_vec()), move |answer| {
        drop(own);
        tell.send(answer).unwrap();
    });
    drop(channel);
    let answer = hear.recv().unwrap();
    assert_eq!(answer.single_message(), Ok(&b"last"[..]));
}

#[test]
fn an_answer_may_make_the_next_call() {
    fn count_down(channel: Channel, left: usize, tell: mpsc::Sender<()>) {
        let again = channel.clone();
        channel.call(UnaryCall::new(ECHO, vec![]), move |answer| {
            assert_eq!(answer.status.code, Code::Ok);
            match left {
                0 => tell.send(()).unwrap(),
                left => count_down(again, left - 1, tell),
            }
        });
    }
    let (server, _holding) = service::start(LOOPBACK);
    let (tell, hear) = mpsc::channel();
    count_down(channel(server.local_address()), 1_000, tell);
    assert_eq!(hear.recv(), Ok(()));
}

#[test]
fn a_panic_in_an_answer_costs_no_other_call() {
    let (server, _holding) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let (tell, hear) = mpsc::channel::<()>();
    channel.call(UnaryCall::new(ECHO, vec![]), move |_| {
        let _tell = tell;
        panic!("as the test wants it");
    });
    assert_eq!(hear.recv(), Err(RecvError));
    assert_eq!(answer_to(&channel, UnaryCall::new(ECHO, vec![])).status.code, Code::Ok);
}

#[test]
fn calls_beyond_the_limit_and_calls_that_cannot_be_sent_are_refused_at_once() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let options = ChannelOptions { max_pending_calls: 2, ..ChannelOptions::default() };
    let address = listener.local_addr().unwrap().to_string();
    let channel = Channel::connect(&address, options).unwrap();
    let waiting = ask_many(&channel, ECHO, 2);
    let third = ask(&channel, UnaryCall::new(ECHO, vec![]));
    let status = third.try_recv().unwrap().status;
    assert_eq!(status.code, Code::ResourceExhausted);
    assert!(status.message.starts_with("2 calls"), "{status}");
    for path in ["test.Any/Echo", "/test.Any/Echo\n", "/with space", ""] {
        let refused = ask(&channel, UnaryCall::new(path, vec![]));
        assert_eq!(refused.try_recv().unwrap().status.code, Code::InvalidArgument);
    }
    drop(channel);
    assert_eq!(codes(&waiting, 2), [Code::Cancelled; 2]);
}

#[test]
fn a_unix_socket_is_called_as_any_other_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("echo");
    let (server, _holding) = service::start_unix(&path);
    let channel = channel(format!("unix:{}", path.display()));
    let answer = answer_to(&channel, UnaryCall::new(ECHO, b"ping".to_vec()));
    assert_eq!(answer.into_single_message().unwrap(), b"ping");
    server.stop();
    server.join().unwrap();
}

#[test]
fn a_unix_socket_that_does_not_exist_is_named() {
    let channel = channel("unix:///nowhere/echo");
    let status = answer_to(&channel, UnaryCall::new(ECHO, vec![])).status;
    assert_eq!(status.code, Code::Unavailable);
    let text = status.to_string();
    assert!(text.contains("nobody listens at unix:///nowhere/echo"), "{text}");
}

#[test]
fn of_several_servers_the_next_one_is_called_when_one_has_gone() {
    let (first, _holding) = service::start(LOOPBACK);
    let (second, _holding_too) = service::start(LOOPBACK);
    let targets = format!("{},{}", first.local_address(), second.local_address());
    let channel = channel(targets);
    let mut call = UnaryCall::new(ECHO, b"ping".to_vec());
    call.waits_for_ready = true;
    assert_eq!(answer_to(&channel, call.clone()).status.code, Code::Ok);
    first.stop();
    assert_eq!(first.join().unwrap().calls.served(), 1);
    while answer_to(&channel, call.clone()).status.code != Code::Ok {}
    second.stop();
    assert!(second.join().unwrap().calls.served() > 0);
}

#[test]
fn a_target_that_is_not_an_address_is_refused() {
    let refused = Channel::connect("nowhere", ChannelOptions::default()).unwrap_err();
    let advice = "target nowhere has no port: write nowhere:50051";
    assert_eq!(refused.to_string(), advice);
}

#[test]
fn a_server_that_sends_no_settings_is_given_up() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let options =
        ChannelOptions { settings_timeout: Duration::from_millis(1), ..ChannelOptions::default() };
    let address = listener.local_addr().unwrap().to_string();
    let channel = Channel::connect(&address, options).unwrap();
    let status = answer_to(&channel, UnaryCall::new(ECHO, vec![])).status;
    assert_eq!(status.code, Code::Unavailable);
    assert!(status.message.contains("no SETTINGS"), "{status}");
}

#[test]
fn a_head_that_states_a_status_is_trailers_where_it_ends_the_stream() {
    let listener = TcpListener::bind(LOOPBACK).unwrap();
    let channel = channel(listener.local_addr().unwrap());
    let mut server = None;
    for (number, ends_at_once) in [false, false, false, true, true].into_iter().enumerate() {
        let answer = ask(&channel, UnaryCall::new(ECHO, vec![]));
        let server =
            server.get_or_insert_with(|| Peer::accept(&listener, &ConnectionConfig::trusted()));
        let stream = server.requests(number + 1)[number];
        server.answer_by_head(stream, ends_at_once);
        let expected = if ends_at_once { Code::PermissionDenied } else { Code::Unknown };
        assert_eq!(answer.recv().unwrap().status.code, expected, "answer {number}");
    }
}

#[test]
fn details_of_a_status_come_with_it() {
    let (server, _held) = service::start(LOOPBACK);
    let channel = channel(server.local_address());
    let answer = answer_to(&channel, UnaryCall::new(FAIL, vec![]));
    assert_eq!((answer.status.code, answer.status.details()), (Code::NotFound, &b"why\0"[..]));
    server.stop();
}
