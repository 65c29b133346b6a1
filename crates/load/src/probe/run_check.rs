//! How each check is made. Every check has a connection of its own, so that a server that closes
//! it, or loses count on it, fails that check and no other.

use super::check::{CheckOutcome, SemanticsCheck};
use super::check_context::CheckContext;
use super::check_reply::{CheckReply, ReplyEnd};
use super::check_request::{BodyFraming, CheckRequest, HeadFraming};
use super::enlarge;
use super::raw_connection::{CheckError, RawConnection, WindowRefill, setting};
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

type CheckResult = Result<CheckOutcome, CheckError>;

/// Makes one check.
pub(super) fn run(check: SemanticsCheck, context: &mut CheckContext<'_>) -> CheckOutcome {
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
        SemanticsCheck::UnknownFrames => unknown_frames(context),
        SemanticsCheck::HeaderTable => header_table(context),
    };
    match result {
        Ok(outcome) => outcome,
        Err(CheckError::Network(reason)) => CheckOutcome::NotChecked(reason),
        Err(error) => CheckOutcome::Unsupported(error.to_string()),
    }
}

/// One call on a connection of its own.
fn one_call(
    context: &mut CheckContext<'_>,
    request: &CheckRequest,
) -> Result<CheckReply, CheckError> {
    context.on_connection(&[], |connection| connection.call_and_wait(request))
}

fn settings_ack(context: &mut CheckContext<'_>) -> CheckResult {
    context.on_connection(&[], |connection| {
        connection.wait_until(|connection| connection.acknowledged)?;
        Ok(CheckOutcome::Supported)
    })
}

fn ping(context: &mut CheckContext<'_>) -> CheckResult {
    const PAYLOAD: [u8; 8] = *b"bookend?";
    context.on_connection(&[], |connection| {
        connection.send(kind::PING, 0, &PAYLOAD)?;
        connection.wait_until(|connection| connection.pong.is_some())?;
        Ok(if connection.pong == Some(PAYLOAD) {
            CheckOutcome::Supported
        } else {
            CheckOutcome::Unsupported("answered with another payload".to_owned())
        })
    })
}

fn large_message(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.request;
    let Some(message) = request.messages.first() else {
        let reason = "the call has no message".to_owned();
        return Ok(CheckOutcome::NotChecked(reason));
    };
    let mut call_with = |message| {
        let mut messages = request.messages.clone();
        messages[0] = message;
        one_call(context, &CheckRequest::plain(request).messages(&messages))
    };
    if let Some(large) = enlarge::by_own_field(message, &request.method.input) {
        let reply = call_with(large)?;
        let outcome = reply.outcome();
        // Another status may be the handler's own, which rejects what the field says.
        if outcome == CheckOutcome::Supported || reply.code().is_none() {
            return Ok(outcome);
        }
    }
    let reply = call_with(enlarge::by_undeclared_field(message))?;
    Ok(reply.outcome())
}

fn small_windows(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    let timeout = context.timeout;
    let one_byte = [(setting::INITIAL_WINDOW_SIZE, 1)];
    context.on_connection(&one_byte, |connection| {
        // A server that never acknowledges may keep the window all the same.
        connection.wait_at_most(timeout / 4, |connection| connection.acknowledged)?;
        connection.refill = WindowRefill::ByteByByte { frames: SINGLE_BYTE_FRAMES };
        let stream_id = connection.call(&request)?;
        let reply = connection.reply(stream_id);
        if connection.violation_bytes > 0 {
            let beyond = connection.violation_bytes;
            let reason = format!("sent {beyond} bytes beyond the window");
            return Ok(CheckOutcome::Unsupported(reason));
        }
        match reply {
            Ok(reply) => Ok(reply.outcome()),
            Err(CheckError::TimedOut(_)) => Ok(stalled(connection, stream_id)),
            Err(error) => Err(error),
        }
    })
}

fn stalled(connection: &RawConnection, stream_id: u32) -> CheckOutcome {
    let bytes = connection.body_bytes(stream_id);
    CheckOutcome::Unsupported(format!("sent nothing more after {bytes} bytes of the reply"))
}

fn unknown_method(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain().method("BookendProbeAsksForNoSuchMethod");
    let reply = one_call(context, &request)?;
    Ok(match reply.code() {
        Some(Code::Unimplemented) => CheckOutcome::Supported,
        _ => CheckOutcome::Unsupported(reply.describe()),
    })
}

fn deadline(context: &mut CheckContext<'_>) -> CheckResult {
    let plain = context.plain();
    let request = context.plain().field(b"grpc-timeout", SHORT_TIMEOUT);
    let timeout = context.timeout;
    context.on_connection(&[], |connection| {
        // However fast the method is: its request is not whole before its deadline has passed.
        let late = connection.begin(&request)?;
        if !connection.wait_at_most(LONG_AFTER, |connection| connection.has_ended(late))? {
            connection.complete(late, &request)?;
        } else {
            connection.calls_sent += 1;
        }
        if connection.wait_at_most(timeout / 2, |connection| connection.has_ended(late))? {
            return Ok(late_outcome(&connection.reply(late)?));
        }
        // After its deadline no client waits for a call, so a server may drop it without an answer,
        // provided that it goes on with others.
        Ok(connection.call_and_wait(&plain)?.outcome())
    })
}

/// What the end of a call says whose deadline had passed before the request was whole.
fn late_outcome(reply: &CheckReply) -> CheckOutcome {
    match &reply.end {
        Some(ReplyEnd::Trailers(Some(Code::DeadlineExceeded | Code::Cancelled), _))
        | Some(ReplyEnd::Reset(ErrorCode::CANCEL | ErrorCode::NO_ERROR)) => CheckOutcome::Supported,
        Some(ReplyEnd::Trailers(Some(Code::Ok), _)) => {
            let reason = "answered OK though its deadline had passed before the request was whole";
            CheckOutcome::Unsupported(reason.to_owned())
        }
        _ => CheckOutcome::Unsupported(reply.describe()),
    }
}

fn metadata(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context
        .plain()
        .field(b"bookend-probe", b"a value, with \"signs\" ~ and spaces")
        .field(b"bookend-probe-empty", b"")
        .field(b"bookend-probe-long", &LONG_VALUE)
        .field(b"bookend-probe-bin", b"AP8KDQ==")
        .field(b"bookend-probe-bin", b"AP8KDQ");
    Ok(one_call(context, &request)?.outcome())
}

fn continuation(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain().head_framing(HeadFraming::Continued);
    Ok(one_call(context, &request)?.outcome())
}

fn padding(context: &mut CheckContext<'_>) -> CheckResult {
    let padded_head = context.plain().head_framing(HeadFraming::Padded);
    let padded_body = context.plain().body_framing(BodyFraming::Padded);
    for (frame, request) in [("HEADERS", padded_head), ("DATA", padded_body)] {
        if let CheckOutcome::Unsupported(reason) = one_call(context, &request)?.outcome() {
            let reason = format!("on {frame}: {reason}");
            return Ok(CheckOutcome::Unsupported(reason));
        }
    }
    Ok(CheckOutcome::Supported)
}

fn cut_message(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain().body_framing(BodyFraming::Cut);
    Ok(one_call(context, &request)?.outcome())
}

fn reset_stream(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[], |connection| {
        let cancelled = connection.begin(&request)?;
        let cancel = ErrorCode::CANCEL.0.to_be_bytes();
        connection.send(kind::RST_STREAM, cancelled, &cancel)?;
        Ok(connection.call_and_wait(&request)?.outcome())
    })
}

fn interleaved_calls(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[], |connection| {
        let first = connection.begin(&request)?;
        let second = connection.begin(&request)?;
        connection.complete(second, &request)?;
        connection.complete(first, &request)?;
        let of_second = connection.reply(second)?.outcome();
        Ok(of_second.and(connection.reply(first)?.outcome()))
    })
}

fn unknown_frames(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[(setting::UNDEFINED, 1)], |connection| {
        connection.send(UNDEFINED_KIND, 0, b"to be ignored")?;
        let stream_id = connection.begin(&request)?;
        connection.send(UNDEFINED_KIND, stream_id, b"to be ignored")?;
        connection.complete(stream_id, &request)?;
        Ok(connection.reply(stream_id)?.outcome())
    })
}

fn header_table(context: &mut CheckContext<'_>) -> CheckResult {
    let request = context.plain();
    context.on_connection(&[(setting::HEADER_TABLE_SIZE, 0)], |connection| {
        // Until then the server is right to use the default.
        connection.wait_until(|connection| connection.acknowledged)?;
        let first = connection.call_and_wait(&request)?.outcome();
        Ok(first.and(connection.call_and_wait(&request)?.outcome()))
    })
}
