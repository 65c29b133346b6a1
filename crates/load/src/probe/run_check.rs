//! How each check is made. Every check has a connection of its own, so that a server that closes
//! it, or loses count on it, fails that check and no other.

use super::ack_waits::no_ack_waits;
use super::check::{CheckError, CheckOutcome, SemanticsCheck};
use super::check_context::CheckContext;
use super::check_reply::{CheckReply, ReplyEnd};
use super::check_request::{BodyFraming, CheckRequest, HeadFraming, body};
use super::cut_frames::cut_frames;
use super::enlarge;
use super::raw_connection::{WindowRefill, setting};
use bookend_client::Code;
use bookend_wire::ErrorCode;
use bookend_wire::frame::kind;
use std::time::Duration;

/// DATA frames of one byte that a reply is requested in: the prefix of a message and some bytes of
/// it, so that a server that cuts only at the prefix is caught.
const SINGLE_BYTE_FRAMES: u32 = 8;

/// A deadline of one millisecond, in `grpc-timeout`.
const SHORT_TIMEOUT: &[u8] = b"1m";

/// How long the rest of a request is held back so that its deadline has surely passed: servers
/// whose timers tick slowly still notice.
const LONG_AFTER: Duration = Duration::from_millis(60);

/// A frame type that no specification defines.
const UNDEFINED_KIND: u8 = 0xbe;

/// A value of the length of a token.
const LONG_VALUE: [u8; 1_000] = [b'v'; 1_000];

type CheckResult = Result<(), CheckError>;

/// Makes one check.
pub(super) fn run(check: SemanticsCheck, context: &CheckContext<'_>) -> CheckOutcome {
    let result = match check {
        SemanticsCheck::SettingsAck => settings_ack(context),
        SemanticsCheck::Ping => ping(context),
        SemanticsCheck::LargeMessage => large_message(context),
        SemanticsCheck::SmallWindows => small_windows(context),
        SemanticsCheck::UnknownMethod => unknown_method(context),
        SemanticsCheck::Deadline => deadline(context),
        SemanticsCheck::Metadata => metadata(context),
        SemanticsCheck::Continuation => continuation(context),
        SemanticsCheck::Padding => padding(context),
        SemanticsCheck::ResetStream => reset_stream(context),
        SemanticsCheck::InterleavedCalls => interleaved_calls(context),
        SemanticsCheck::CutMessage => cut_message(context),
        SemanticsCheck::CutFrames => cut_frames(context),
        SemanticsCheck::UnknownFrames => unknown_frames(context),
        SemanticsCheck::HeaderTable => header_table(context),
        SemanticsCheck::NoAckWaits => no_ack_waits(context),
    };
    result.map_or_else(CheckOutcome::from, |()| CheckOutcome::Supported)
}

fn unsupported<T>(reason: impl Into<String>) -> Result<T, CheckError> {
    Err(CheckError::Unsupported(reason.into()))
}

/// One call on a connection of its own: the plain one, changed.
fn one_call(
    context: &CheckContext<'_>,
    change: impl FnOnce(&mut CheckRequest),
) -> Result<CheckReply, CheckError> {
    let mut request = context.plain();
    change(&mut request);
    context.on_connection(&[], |connection| connection.call_and_wait(&request))
}

fn settings_ack(context: &CheckContext<'_>) -> CheckResult {
    context.on_connection(&[], |connection| {
        connection.wait_until(|connection| connection.acknowledged)
    })
}

fn ping(context: &CheckContext<'_>) -> CheckResult {
    const PAYLOAD: [u8; 8] = *b"bookend?";
    context.on_connection(&[], |connection| {
        connection.send(kind::PING, 0, 0, &PAYLOAD)?;
        connection.wait_until(|connection| connection.pong.is_some())?;
        if connection.pong != Some(PAYLOAD) {
            return unsupported("answered with another payload");
        }
        Ok(())
    })
}

fn large_message(context: &CheckContext<'_>) -> CheckResult {
    let [message, others @ ..] = context.request.call.messages.as_slice() else {
        return Err(CheckError::NotChecked("the call has no message".to_owned()));
    };
    let call_with = |large| {
        let messages = [&[large], others].concat();
        one_call(context, |request| request.body = body(&messages))
    };
    if let Some(large) = enlarge::by_own_field(message, &context.request.call.method.input()) {
        let reply = call_with(large)?;
        let result = reply.check();
        // Another status may be the handler's own, which rejects what the field says.
        if result.is_ok() || reply.code().is_none() {
            return result;
        }
    }
    call_with(enlarge::by_undeclared_field(message))?.check()
}

fn small_windows(context: &CheckContext<'_>) -> CheckResult {
    let one_byte = [(setting::INITIAL_WINDOW_SIZE, 1)];
    context.on_connection(&one_byte, |connection| {
        // A server that never acknowledges may keep the window all the same.
        connection.wait_at_most(context.timeout / 4, |connection| connection.acknowledged)?;
        connection.refill = WindowRefill::ByteByByte { frames: SINGLE_BYTE_FRAMES };
        let stream_id = connection.call(&context.plain())?;
        let reply = connection.reply(stream_id);
        let beyond = connection.violation_bytes;
        if beyond > 0 {
            return unsupported(format!("sent {beyond} bytes beyond the window"));
        }
        if let Err(CheckError::TimedOut(_)) = reply {
            let bytes = connection.body_bytes(stream_id);
            return unsupported(format!("sent nothing more after {bytes} bytes of the reply"));
        }
        reply?.check()
    })
}

fn unknown_method(context: &CheckContext<'_>) -> CheckResult {
    let name = "BookendProbeAsksForNoSuchMethod";
    let reply = one_call(context, |request| request.set_method(name))?;
    match reply.code() {
        Some(Code::Unimplemented) => Ok(()),
        _ => Err(reply.unsupported()),
    }
}

fn deadline(context: &CheckContext<'_>) -> CheckResult {
    let mut request = context.plain();
    request.add(b"grpc-timeout", SHORT_TIMEOUT);
    context.on_connection(&[], |connection| {
        // However fast the method is: its request is not whole before its deadline has passed.
        let late = connection.begin(&request)?;
        if !connection.wait_at_most(LONG_AFTER, |connection| connection.has_ended(late))? {
            connection.complete(late, &request)?;
        } else {
            connection.calls_sent += 1;
        }
        let wait = context.timeout / 2;
        if connection.wait_at_most(wait, |connection| connection.has_ended(late))? {
            return check_late(&connection.reply(late)?);
        }
        // After its deadline no client waits for a call, so a server may drop it without an answer,
        // provided that it goes on with others.
        connection.call_and_wait(&context.plain())?.check()
    })
}

/// Checks the end of a call whose deadline had passed before the request was whole.
fn check_late(reply: &CheckReply) -> CheckResult {
    match &reply.end {
        Some(ReplyEnd::Trailers(Some(Code::DeadlineExceeded | Code::Cancelled), _))
        | Some(ReplyEnd::Reset(ErrorCode::CANCEL | ErrorCode::NO_ERROR)) => Ok(()),
        Some(ReplyEnd::Trailers(Some(Code::Ok), _)) => {
            unsupported("answered OK though its deadline had passed before the request was whole")
        }
        _ => Err(reply.unsupported()),
    }
}

fn metadata(context: &CheckContext<'_>) -> CheckResult {
    let reply = one_call(context, |request| {
        request.add(b"bookend-probe", b"a value, with \"signs\" ~ and spaces");
        request.add(b"bookend-probe-empty", b"");
        request.add(b"bookend-probe-long", &LONG_VALUE);
        request.add(b"bookend-probe-bin", b"AP8KDQ==");
        request.add(b"bookend-probe-bin", b"AP8KDQ");
    });
    reply?.check()
}

fn continuation(context: &CheckContext<'_>) -> CheckResult {
    one_call(context, |request| request.head_framing = HeadFraming::Continued)?.check()
}

fn padding(context: &CheckContext<'_>) -> CheckResult {
    let on = |frame, error| unsupported(format!("on {frame}: {error}"));
    let head = one_call(context, |request| request.head_framing = HeadFraming::Padded)?;
    head.check().or_else(|error| on("HEADERS", error))?;
    let body = one_call(context, |request| request.body_framing = BodyFraming::Padded)?;
    body.check().or_else(|error| on("DATA", error))
}

fn cut_message(context: &CheckContext<'_>) -> CheckResult {
    one_call(context, |request| request.body_framing = BodyFraming::Cut)?.check()
}

fn reset_stream(context: &CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[], |connection| {
        let cancelled = connection.begin(&request)?;
        let cancel = ErrorCode::CANCEL.0.to_be_bytes();
        connection.send(kind::RST_STREAM, 0, cancelled, &cancel)?;
        connection.call_and_wait(&request)?.check()
    })
}

fn interleaved_calls(context: &CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[], |connection| {
        let first = connection.begin(&request)?;
        let second = connection.begin(&request)?;
        connection.complete(second, &request)?;
        connection.complete(first, &request)?;
        let of_second = connection.reply(second)?;
        let of_first = connection.reply(first)?;
        of_second.check().and(of_first.check())
    })
}

fn unknown_frames(context: &CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[(setting::UNDEFINED, 1)], |connection| {
        connection.send(UNDEFINED_KIND, 0, 0, b"to be ignored")?;
        let stream_id = connection.begin(&request)?;
        connection.send(UNDEFINED_KIND, 0, stream_id, b"to be ignored")?;
        connection.complete(stream_id, &request)?;
        connection.reply(stream_id)?.check()
    })
}

fn header_table(context: &CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[(setting::HEADER_TABLE_SIZE, 0)], |connection| {
        // Until then the server is right to use the default.
        connection.wait_until(|connection| connection.acknowledged)?;
        let first = connection.call_and_wait(&request)?;
        let second = connection.call_and_wait(&request)?;
        first.check().and(second.check())
    })
}
