//! Probing servers over loopback: the reference server, which does everything, and servers that
//! each do one thing wrong, which must be found, and nothing else.

mod faulty;
#[path = "../support/flags.rs"]
mod flags;
mod honest;
mod reproductions;

use bookend_client::ConnectError;
use bookend_load::flags::CallFlags;
use bookend_load::options::CallOptions;
use bookend_load::prepare::PrepareError;
use bookend_load::probe::{
    CheckOutcome, ProbeDepth, ProbeReport, ProbeRequest, SemanticsCheck, VerifyError, probe,
};
use bookend_load::reflect::{FetchError, ReflectError};
use bookend_payload::data;
use bookend_payload::schema::{MethodError, reflection::ReflectionError};
use bookend_server::Io;
use bookend_wire::frame::kind;
use faulty::Fault;
use serde_json::Value;
use std::net::TcpListener;
use std::sync::atomic::Ordering;

const CALL: &str = "helloworld.Greeter/SayHello";
const NAME: &str = "bookend";

/// The flags of the command, as a user would give them.
fn call_flags(target: &str) -> CallFlags {
    CallFlags {
        targets: vec![target.to_owned()],
        insecure: true,
        method: Some(CALL.to_owned()),
        data: Some(format!("{{\"name\": \"{NAME}\"}}")),
        proto: Some(honest::proto()),
        ..flags::unwritten()
    }
}

fn prepare(flags: CallFlags) -> Result<ProbeRequest, PrepareError> {
    let options = CallOptions::from_flags(&flags).unwrap();
    ProbeRequest::prepare(&options, &mut std::io::empty())
}

fn request(target: &str) -> ProbeRequest {
    prepare(call_flags(target)).unwrap()
}

fn json(report: &ProbeReport) -> Value {
    serde_json::from_str(&report.to_json()).unwrap()
}

#[test]
fn by_default_exactly_one_call_is_made_and_its_reply_is_shown() {
    let server = honest::start(false);
    let target = server.local_address().to_string();
    let report = probe(&request(&target), ProbeDepth::Call);
    let verified = report.call.clone().unwrap();
    assert_eq!(verified.messages, [honest::hello(NAME)]);
    let json = json(&report);
    assert_eq!(json["target"], target.as_str());
    assert_eq!(json["method"], CALL);
    assert_eq!(json["call"]["ok"], true);
    assert_eq!(json["call"]["calls_made"], 1);
    assert_eq!(json["call"]["reply_bytes"], honest::hello(NAME).len());
    assert_eq!(json["call"]["reply_base64"][0], "Cg5IZWxsbyBib29rZW5kIQ==");
    assert_eq!(json.get("semantics"), None);
    server.stop();
    assert_eq!(server.join().unwrap().calls.served(), 1);
}

#[test]
fn messages_that_no_call_would_send_are_refused() {
    let several = |method: &str, data: &str| {
        let flags = call_flags("127.0.0.1:1");
        let (method, data) = (Some(method.to_owned()), Some(data.to_owned()));
        prepare(CallFlags { method, data, ..flags }).map(|request| request.call.messages.len())
    };
    let error = several(CALL, "[{}, {}]").unwrap_err();
    assert!(error.is_usage());
    let said = error.to_string();
    assert!(said.contains(" takes one message a call, and there are 2"), "{said}");
    assert_eq!(several(CALL, "[{}]"), Ok(1));
    // Of a load of several messages, the first call is looked at.
    let flags = CallFlags { data: Some("[{}, {}]".to_owned()), ..call_flags("127.0.0.1:1") };
    let options = CallOptions::from_flags(&flags).unwrap();
    let first = ProbeRequest::of_first_call(&options, &mut std::io::empty()).unwrap();
    assert_eq!(first.call.messages, [b""]);
}

#[test]
fn the_reference_server_does_everything_and_both_ends_count_the_same_calls() {
    let server = honest::start(false);
    let target = server.local_address().to_string();
    let report = probe(&request(&target), ProbeDepth::Semantics);
    let outcomes = report.semantics.clone().unwrap();
    assert_eq!(outcomes, SemanticsCheck::ALL.map(|check| (check, CheckOutcome::Supported)).into());
    let json = json(&report);
    for check in SemanticsCheck::ALL {
        let key = serde_json::to_value(check).unwrap();
        assert_eq!(json["semantics"][key.as_str().unwrap()], "yes");
    }
    assert_eq!(json["skips"], Value::Array(vec![]));
    server.stop();
    assert_eq!(server.join().unwrap().calls.served(), report.calls_made);
}

/// What a faulty server is found not to do, and what cannot be said of it.
fn missing(fault: Fault) -> (Vec<SemanticsCheck>, Vec<SemanticsCheck>) {
    let server = faulty::start(fault);
    let report = probe(&request(&server.address), ProbeDepth::Semantics);
    assert!(report.call.is_ok(), "{fault:?}: {report}");
    let unchecked = report
        .semantics
        .iter()
        .flatten()
        .filter(|(_, outcome)| matches!(outcome, CheckOutcome::NotChecked(_)));
    (report.skips(), unchecked.map(|(check, _)| *check).collect())
}

#[test]
fn a_server_with_one_fault_is_found_to_have_that_one() {
    use SemanticsCheck::*;
    let cases: [(Fault, &[SemanticsCheck]); 19] = [
        (Fault::NoSettingsAck, &[SettingsAck, HeaderTable]),
        (Fault::NoPong, &[Ping]),
        (Fault::WrongPong, &[Ping]),
        (Fault::IgnoresSettings, &[SmallWindows, HeaderTable]),
        (Fault::IgnoresWindowUpdates, &[SmallWindows]),
        (Fault::OneFrameMessages, &[LargeMessage, CutMessage]),
        (Fault::ClosesOnUnknownMethod, &[UnknownMethod]),
        (Fault::Http404, &[UnknownMethod]),
        (Fault::IgnoresDeadlines, &[Deadline]),
        (Fault::DropsLateCalls, &[]),
        (Fault::EndsLateCallsEarly, &[]),
        (Fault::ClosesOnTimeout, &[Deadline]),
        (Fault::NoBinaryMetadata, &[Metadata]),
        (Fault::NoContinuation, &[Continuation]),
        (Fault::ReadsPadding, &[Padding]),
        (Fault::ClosesOnReset, &[ResetStream]),
        (Fault::OneCallAtATime, &[InterleavedCalls]),
        (Fault::ClosesOnUnknownFrames, &[UnknownFrames]),
        (Fault::Sleeps, &[]),
    ];
    for (fault, expected) in cases {
        assert_eq!(missing(fault), (expected.to_vec(), vec![]), "{fault:?}");
    }
}

/// A busy machine can hide it for a while, for what is not shown is not said: it is looked for
/// until that is over.
#[test]
fn a_server_whose_answers_wait_for_acknowledgements_is_found() {
    let found = || missing(Fault::WaitsOnAcks) == (vec![SemanticsCheck::NoAckWaits], vec![]);
    assert!((0..200).any(|_| found()));
}

#[test]
fn a_server_that_closes_on_a_frame_in_pieces_is_told_the_kind_of_frame() {
    let kinds = [
        (kind::HEADERS, "HEADERS"),
        (kind::CONTINUATION, "CONTINUATION"),
        (kind::DATA, "DATA"),
        (kind::RST_STREAM, "RST_STREAM"),
        (kind::SETTINGS, "SETTINGS"),
        (kind::PING, "PING"),
        (kind::WINDOW_UPDATE, "WINDOW_UPDATE"),
    ];
    for (kind, name) in kinds {
        let server = faulty::start(Fault::ClosesOnCut(kind));
        let report = probe(&request(&server.address), ProbeDepth::Semantics);
        assert_eq!(report.skips(), [SemanticsCheck::CutFrames], "{name}: {report}");
        let json = json(&report);
        let reason = json["reasons"]["cut_frames"].as_str().unwrap();
        assert_eq!(reason, format!("{name}: the server closed the connection"));
    }
}

#[test]
fn a_kind_of_frame_that_fails_whole_as_well_is_left_to_its_own_check() {
    let (skips, _) = missing(Fault::NoContinuation);
    assert_eq!(skips, [SemanticsCheck::Continuation]);
}

#[test]
fn our_server_takes_frames_in_pieces_on_every_driver() {
    for io in [Io::Blocking, Io::Epoll, Io::Uring] {
        let server = honest::start_on(io);
        let target = server.local_address().to_string();
        let report = probe(&request(&target), ProbeDepth::Semantics);
        assert_eq!(report.skips(), [], "{io:?}: {report}");
        server.stop();
    }
}

#[test]
fn every_skip_comes_with_its_reason() {
    let server = faulty::start(Fault::IgnoresSettings);
    let report = probe(&request(&server.address), ProbeDepth::Semantics);
    let json = json(&report);
    assert_eq!(json["semantics"]["small_windows"], "no");
    let reason = json["reasons"]["small_windows"].as_str().unwrap();
    assert!(reason.ends_with("bytes beyond the window"), "{reason}");
    assert_eq!(json["reasons"].get("ping"), None);
    assert_eq!(json["skips"][0], "small windows");
    let text = report.to_string();
    assert!(text.contains("small windows           not supported (sent"));
}

#[test]
fn calls_are_counted_as_the_server_counts_them_even_where_checks_fail() {
    for fault in [Fault::ClosesOnUnknownMethod, Fault::EndsLateCallsEarly] {
        let server = faulty::start(fault);
        let report = probe(&request(&server.address), ProbeDepth::Semantics);
        assert_eq!(report.calls_made, server.answered.load(Ordering::SeqCst));
    }
}

#[test]
fn a_server_that_falls_silent_fails_every_check_and_hides_none() {
    let (skips, unchecked) = missing(Fault::SilentAfterTheFirst);
    assert_eq!(skips, SemanticsCheck::ALL);
    assert_eq!(unchecked, []);
}

#[test]
fn a_reply_that_is_no_message_fails_the_call_and_what_builds_on_it() {
    let server = faulty::start(Fault::GarbledReply);
    let report = probe(&request(&server.address), ProbeDepth::Semantics);
    assert!(matches!(report.call, Err(VerifyError::Reply(_))));
    let failure = report.failure().unwrap();
    assert!(failure.starts_with("the reply is no helloworld.HelloReply"), "{failure}");
    let json = json(&report);
    assert_eq!(json["call"]["ok"], false);
    assert_eq!(json["call"]["error"], failure.as_str());
    assert_eq!(json["semantics"]["ping"], "yes");
    assert_eq!(json["semantics"]["unknown_method"], "yes");
    assert_eq!(json["semantics"]["large_message"], "not checked");
    assert_eq!(json["reasons"]["large_message"], "the plain call failed");
}

#[test]
fn without_a_server_no_call_is_made_and_nothing_is_checked() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap().to_string();
    drop(listener);
    let report = probe(&request(&target), ProbeDepth::Semantics);
    let refused = VerifyError::Connect(ConnectError::Refused { address: target.clone() });
    assert_eq!(report.call, Err(refused));
    assert_eq!(report.calls_made, 0);
    assert_eq!(report.skips(), []);
    assert!(report.failure().unwrap().starts_with("nobody listens at"));
}

#[test]
fn a_status_other_than_ok_is_reported_with_its_message() {
    let server = honest::start(false);
    let mut request = request(&server.local_address().to_string());
    request.call.messages = vec![b"\xff".to_vec()];
    let report = probe(&request, ProbeDepth::Call);
    let failure = report.failure().unwrap();
    assert!(failure.starts_with("the call ended with INTERNAL"));
    assert_eq!(json(&report)["call"]["status"], "INTERNAL");
    assert_eq!(report.calls_made, 1);
    server.stop();
}

fn by_reflection(target: &str) -> CallFlags {
    CallFlags { proto: None, ..call_flags(target) }
}

#[test]
fn reflection_gives_the_schema_that_the_file_gives() {
    let server = honest::start(true);
    let target = server.local_address().to_string();
    let reflected = prepare(by_reflection(&target)).unwrap();
    let from_file = request(&target);
    assert_eq!(reflected.call.messages, from_file.call.messages);
    assert_eq!(reflected.call.path, from_file.call.path);
    let report = probe(&reflected, ProbeDepth::Call);
    assert!(report.call.is_ok());
    server.stop();
    assert_eq!(server.join().unwrap().calls.served(), report.calls_made);
}

#[test]
fn without_reflection_the_error_says_what_to_do() {
    let server = honest::start(false);
    let target = server.local_address().to_string();
    let error = prepare(by_reflection(&target)).unwrap_err();
    assert!(matches!(
        &error,
        PrepareError::Reflection(ReflectError::Reflection(ReflectionError::Fetch {
            reason: FetchError::NoReflection,
            ..
        }))
    ));
    let text = error.to_string();
    assert!(text.contains("the server has no reflection service"));
    assert!(text.ends_with("give the schema with --proto or --protoset"));
    assert!(!error.is_usage());
    server.stop();
}

/// They are not those of a server without the service, whatever their number.
#[test]
fn wrong_answers_of_reflection_are_told_apart() {
    let nothing = b"\x22\x00".to_vec();
    let no_code = b"\x3a\x04\x12\x02no".to_vec();
    let list = b"\x0a\x00".repeat(10_001);
    let many = [&b"\x22\xa2\x9c\x01"[..], &list].concat();
    for (answers, said) in [
        (vec![], "its answer did not come: the call ended first"),
        (vec![nothing.clone(), nothing], "its answer comes more than once to one question"),
        (vec![b"\x0a".to_vec()], "its answer is not a message of reflection ("),
        (vec![no_code], "its answer is an error with code 0, which is no error: no"),
        (vec![many], "its answer has more than 10000 files or names"),
    ] {
        let server = honest::start_with_answers(answers);
        let target = server.local_address().to_string();
        let error = prepare(by_reflection(&target)).unwrap_err().to_string();
        let expected = "the server's reflection did not describe helloworld.Greeter (";
        assert!(error.starts_with(&format!("{expected}{said}")), "{error}");
        server.stop();
    }
}

#[test]
fn a_service_that_reflection_does_not_know_is_the_users_mistake() {
    let server = honest::start(true);
    let target = server.local_address().to_string();
    let flags = CallFlags {
        method: Some("helloworld.Greter/SayHello".to_owned()),
        ..by_reflection(&target)
    };
    let error = prepare(flags).unwrap_err();
    assert!(error.is_usage());
    assert!(error.to_string().contains("helloworld.Greeter"), "{error}");
    server.stop();
}

#[test]
fn a_server_that_closes_on_the_reflection_request_is_an_error() {
    let server = faulty::start(Fault::ClosesOnUnknownMethod);
    let error = prepare(by_reflection(&server.address)).unwrap_err();
    assert!(error.to_string().contains("closed the connection"), "{error}");
}

#[test]
fn the_older_reflection_is_asked_where_there_is_no_newer() {
    let server = honest::start_with_older_reflection();
    let target = server.local_address().to_string();
    let reflected = prepare(by_reflection(&target)).unwrap();
    assert_eq!(reflected.call.path, request(&target).call.path);
    server.stop();
    let counts = server.join().unwrap().calls;
    assert_eq!(counts.served(), reflected.call.reflection_calls);
    assert_eq!(counts.answered_error, 1, "the newer one is asked for once");
}

#[test]
fn the_schema_and_the_data_are_those_of_the_load_generator() {
    let method = honest::schema().method(CALL).unwrap();
    let text = format!("{{\"name\": \"{NAME}\"}}");
    let messages = data::from_json(&text, "-d", &method.input()).unwrap();
    assert_eq!(request("127.0.0.1:1").call.messages, messages);
    let unknown = CallFlags {
        method: Some("helloworld.Greeter/SayHelo".to_owned()),
        ..call_flags("127.0.0.1:1")
    };
    let error = prepare(unknown).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("SayHello"));
    assert!(matches!(error, PrepareError::Method(MethodError::MethodUnknown { .. })));
}
