//! How each check is made. Every one has a connection of its own, so that a server that closes it,
//! or loses count on it, fails that check and no other.

use super::attempt::{Attempt, Prepared};
use super::check::{Check, Finding};
use super::conversation::{BodyShape, Broken, Conversation, HeadShape, Refill, setting};
use super::enlarge;
use super::reply::{End, Reply};
use bookend_client::Code;
use bookend_wire::ErrorCode;
use bookend_wire::frame::kind;
use std::time::Duration;

/// DATA frames of one octet that are asked for: the prefix of a message and some of it, so that a
/// server that cuts only at the prefix is found out.
const SINGLE_OCTET_FRAMES: u32 = 8;

/// A deadline of one millisecond, in `grpc-timeout`.
const SHORT_TIMEOUT: &[u8] = b"1m";

/// How long the rest of a request is held back so that its deadline has surely passed: servers
/// whose timers tick slowly still notice.
const LONG_AFTER: Duration = Duration::from_millis(60);

/// A frame type that nobody has defined.
const UNDEFINED_KIND: u8 = 0xbe;

/// A value as long as many a token is.
const LONG_VALUE: [u8; 1_000] = [b'v'; 1_000];

/// Makes one check.
pub(super) fn run(check: Check, attempt: &mut Attempt<'_>) -> Finding {
    let result = match check {
        Check::SettingsAck => settings_ack(attempt),
        Check::Ping => ping(attempt),
        Check::LargeMessage => large_message(attempt),
        Check::SmallWindows => small_windows(attempt),
        Check::UnknownMethod => unknown_method(attempt),
        Check::Deadline => deadline(attempt),
        Check::Metadata => metadata(attempt),
        Check::Continuation => continuation(attempt),
        Check::Padding => padding(attempt),
        Check::ResetStream => reset_stream(attempt),
        Check::InterleavedCalls => interleaved_calls(attempt),
        Check::CutMessage => cut_message(attempt),
        Check::UnknownFrames => unknown_frames(attempt),
        Check::HeaderTable => header_table(attempt),
    };
    match result {
        Ok(finding) => finding,
        Err(Broken::Network(reason)) => Finding::NotChecked(reason),
        Err(broken) => Finding::No(broken.to_string()),
    }
}

type Checked = Result<Finding, Broken>;

/// Yes for a call that succeeded.
fn good(reply: &Reply) -> Finding {
    match reply.is_good() {
        Ok(()) => Finding::Yes,
        Err(instead) => Finding::No(instead),
    }
}

/// The first that is not yes, if any.
fn both(first: Finding, second: Finding) -> Finding {
    match first {
        Finding::Yes => second,
        other => other,
    }
}

fn settings_ack(attempt: &mut Attempt<'_>) -> Checked {
    attempt.converse(&[], |conversation| {
        conversation.wait_until(|conversation| conversation.acknowledged)?;
        Ok(Finding::Yes)
    })
}

fn ping(attempt: &mut Attempt<'_>) -> Checked {
    const PAYLOAD: [u8; 8] = *b"bookend?";
    attempt.converse(&[], |conversation| {
        conversation.send(kind::PING, 0, &PAYLOAD)?;
        conversation.wait_until(|conversation| conversation.pong.is_some())?;
        Ok(match conversation.pong == Some(PAYLOAD) {
            true => Finding::Yes,
            false => Finding::No("answered with another payload".to_owned()),
        })
    })
}

fn large_message(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.request;
    let Some(message) = request.messages.first() else {
        return Ok(Finding::NotChecked("the call has no message".to_owned()));
    };
    if let Some(large) = enlarge::by_own_field(message, &request.method.input) {
        let reply = reply_to_message(attempt, large)?;
        // Another status may be the handler's own, who does not like what the field says.
        if reply.is_good().is_ok() || reply.code().is_none() {
            return Ok(good(&reply));
        }
    }
    let large = enlarge::by_undeclared_field(message);
    reply_to_message(attempt, large).map(|reply| good(&reply))
}

fn reply_to_message(attempt: &mut Attempt<'_>, message: Vec<u8>) -> Result<Reply, Broken> {
    let mut messages = attempt.request.messages.clone();
    messages[0] = message;
    let request = attempt.plain().messages(&messages);
    attempt.converse(&[], |conversation| {
        let stream_id = conversation.call(&request.outgoing())?;
        conversation.reply(stream_id)
    })
}

fn small_windows(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain();
    let patience = attempt.patience;
    let one_octet = [(setting::INITIAL_WINDOW_SIZE, 1)];
    attempt.converse(&one_octet, |conversation| {
        // A server that never acknowledges may keep the window all the same.
        conversation.wait_at_most(patience / 4, |conversation| conversation.acknowledged)?;
        conversation.refill = Refill::OctetByOctet {
            frames: SINGLE_OCTET_FRAMES,
        };
        let stream_id = conversation.call(&request.outgoing())?;
        let reply = conversation.reply(stream_id);
        if conversation.violation_bytes > 0 {
            let beyond = conversation.violation_bytes;
            let reason = format!("sent {beyond} bytes beyond the window");
            return Ok(Finding::No(reason));
        }
        match reply {
            Ok(reply) => Ok(good(&reply)),
            Err(Broken::TimedOut(_)) => Ok(stalled(conversation, stream_id)),
            Err(broken) => Err(broken),
        }
    })
}

fn stalled(conversation: &Conversation, stream_id: u32) -> Finding {
    let bytes = conversation.body_bytes(stream_id);
    Finding::No(format!(
        "sent nothing more after {bytes} bytes of the reply"
    ))
}

fn unknown_method(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain().method("BookendProbeAsksForNoSuchMethod");
    attempt.converse(&[], |conversation| {
        let stream_id = conversation.call(&request.outgoing())?;
        let reply = conversation.reply(stream_id)?;
        Ok(match reply.code() {
            Some(Code::Unimplemented) => Finding::Yes,
            _ => Finding::No(reply.describe()),
        })
    })
}

fn deadline(attempt: &mut Attempt<'_>) -> Checked {
    let plain = attempt.plain();
    let request = attempt.plain().field(b"grpc-timeout", SHORT_TIMEOUT);
    let patience = attempt.patience;
    attempt.converse(&[], |conversation| {
        // However fast the method is: its request is not whole before its deadline has passed.
        let late = conversation.begin(&request.outgoing())?;
        if !conversation.wait_at_most(LONG_AFTER, |it| it.has_ended(late))? {
            conversation.complete(late, &request.outgoing())?;
        } else {
            conversation.calls_sent += 1;
        }
        if conversation.wait_at_most(patience / 2, |it| it.has_ended(late))? {
            return Ok(deadline_finding(&conversation.reply(late)?));
        }
        // Nobody listens any more after a deadline, so a server may drop the call without a word,
        // provided that it goes on with others.
        let stream_id = conversation.call(&plain.outgoing())?;
        conversation.reply(stream_id).map(|reply| good(&reply))
    })
}

fn deadline_finding(reply: &Reply) -> Finding {
    match &reply.end {
        Some(End::Trailers(Some(Code::DeadlineExceeded | Code::Cancelled), _))
        | Some(End::Reset(ErrorCode::CANCEL | ErrorCode::NO_ERROR)) => Finding::Yes,
        Some(End::Trailers(Some(Code::Ok), _)) => {
            let reason = "answered OK though its deadline had passed before the request was whole";
            Finding::No(reason.to_owned())
        }
        _ => Finding::No(reply.describe()),
    }
}

fn metadata(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt
        .plain()
        .field(b"bookend-probe", b"a value, with \"signs\" ~ and spaces")
        .field(b"bookend-probe-empty", b"")
        .field(b"bookend-probe-long", &LONG_VALUE)
        .field(b"bookend-probe-bin", b"AP8KDQ==")
        .field(b"bookend-probe-bin", b"AP8KDQ");
    one_good_call(attempt, &request)
}

fn continuation(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain().head_shape(HeadShape::Continued);
    one_good_call(attempt, &request)
}

fn padding(attempt: &mut Attempt<'_>) -> Checked {
    let head = attempt.plain().head_shape(HeadShape::Padded);
    let body = attempt.plain().body_shape(BodyShape::Padded);
    let of_head = one_good_call(attempt, &head)?;
    if of_head != Finding::Yes {
        return Ok(about("HEADERS", of_head));
    }
    one_good_call(attempt, &body).map(|finding| about("DATA", finding))
}

fn about(part: &str, finding: Finding) -> Finding {
    match finding {
        Finding::No(reason) => Finding::No(format!("on {part}: {reason}")),
        other => other,
    }
}

fn cut_message(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain().body_shape(BodyShape::Cut);
    one_good_call(attempt, &request)
}

fn one_good_call(attempt: &mut Attempt<'_>, request: &Prepared) -> Checked {
    attempt.converse(&[], |conversation| {
        let stream_id = conversation.call(&request.outgoing())?;
        conversation.reply(stream_id).map(|reply| good(&reply))
    })
}

fn reset_stream(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain();
    attempt.converse(&[], |conversation| {
        let given_up = conversation.begin(&request.outgoing())?;
        let cancel = ErrorCode::CANCEL.0.to_be_bytes();
        conversation.send(kind::RST_STREAM, given_up, &cancel)?;
        let stream_id = conversation.call(&request.outgoing())?;
        conversation.reply(stream_id).map(|reply| good(&reply))
    })
}

fn interleaved_calls(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain();
    attempt.converse(&[], |conversation| {
        let first = conversation.begin(&request.outgoing())?;
        let second = conversation.begin(&request.outgoing())?;
        conversation.complete(second, &request.outgoing())?;
        conversation.complete(first, &request.outgoing())?;
        let of_second = good(&conversation.reply(second)?);
        Ok(both(of_second, good(&conversation.reply(first)?)))
    })
}

fn unknown_frames(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain();
    attempt.converse(&[(setting::UNDEFINED, 1)], |conversation| {
        conversation.send(UNDEFINED_KIND, 0, b"to be ignored")?;
        let stream_id = conversation.begin(&request.outgoing())?;
        conversation.send(UNDEFINED_KIND, stream_id, b"to be ignored")?;
        conversation.complete(stream_id, &request.outgoing())?;
        conversation.reply(stream_id).map(|reply| good(&reply))
    })
}

fn header_table(attempt: &mut Attempt<'_>) -> Checked {
    let request = attempt.plain();
    attempt.converse(&[(setting::HEADER_TABLE_SIZE, 0)], |conversation| {
        // Until then the server is right to use the default.
        conversation.wait_until(|conversation| conversation.acknowledged)?;
        let first = conversation.call(&request.outgoing())?;
        let of_first = good(&conversation.reply(first)?);
        let second = conversation.call(&request.outgoing())?;
        Ok(both(of_first, good(&conversation.reply(second)?)))
    })
}
