//! What the header blocks of a response mean to the client: its head, its trailers, its status.

use super::{Code, Status, base64, percent, reserved};
use crate::hpack::HeaderList;
use alloc::format;
use alloc::string::String;

/// What a peer sent is quoted up to here: names and codes are shorter, and a text about them is no
/// place for more.
const QUOTED_MAX_BYTES: usize = 120;

/// What a peer sent, in quotation marks, for a text about it: bounded, and on one line.
pub fn quoted(bytes: &[u8]) -> String {
    let (start, more) = match bytes.split_at_checked(QUOTED_MAX_BYTES) {
        Some((start, [_, ..])) => (start, "\u{2026}"),
        _ => (bytes, ""),
    };
    format!("{:?}{more}", String::from_utf8_lossy(start))
}

/// What is wrong with the head of a response; `None` if it is gRPC and the client can read it.
///
/// Requests have the content type `application/grpc`, which stands for Protocol Buffers. A response
/// may have the same, with `+proto` or parameters after it. A client that sent such a request
/// cannot read another codec (`INTERNAL`). A response that is not gRPC at all is judged by its HTTP
/// status, where 200 means `UNKNOWN`.
pub fn fault_of_head(fields: &HeaderList) -> Option<Status> {
    let http_status = fields.find(b":status").unwrap_or_default();
    if http_status != b"200" {
        let is_code = http_status.len() == 3 && http_status.iter().all(u8::is_ascii_digit);
        let shown = quoted(http_status);
        let shown = if is_code { shown.trim_matches('"') } else { &shown };
        let text = format!("unexpected HTTP status code received from server: {shown}");
        return Some(Status::new(Code::of_http_status(http_status), text));
    }
    fault_of_content_type(fields.find(b"content-type").unwrap_or_default())
}

fn fault_of_content_type(bytes: &[u8]) -> Option<Status> {
    let value = String::from_utf8_lossy(bytes);
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let code = match media_type.strip_prefix("application/grpc") {
        Some("" | "+proto") => return None,
        Some(codec) if codec.starts_with('+') => Code::Internal,
        _ => Code::of_http_status(b"200"),
    };
    let shown = quoted(bytes);
    let text = format!("the server answered with content-type {shown}, not application/grpc");
    Some(Status::new(code, text))
}

/// The status that trailers state: `grpc-status`, `grpc-message` and `grpc-status-details-bin`.
/// Details that are no base64 count as none: the code is worth more than they are.
pub fn stated_status(trailers: &HeaderList) -> Option<Status> {
    let value = trailers.find(b"grpc-status")?;
    let message = percent::decode(trailers.find(b"grpc-message").unwrap_or_default());
    let Some(code) = Code::of_digits(value) else {
        return Some(status_without_code(value, &message));
    };
    let details = trailers.find(reserved::STATUS_DETAILS).and_then(base64::decode);
    Some(Status::with_details(code, message, details.unwrap_or_default()))
}

/// The status of trailers whose `grpc-status` is no code of gRPC: two values are two texts.
#[cold]
fn status_without_code(value: &[u8], message: &str) -> Status {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let what = if is_number { "unknown" } else { "malformed" };
    let separator = if message.is_empty() { "" } else { ": " };
    let text = format!("{what} grpc-status {}{separator}{message}", quoted(value));
    Status::new(Code::Unknown, text)
}

/// The status of a call that has ended, from the status that the trailers stated and the fault of
/// the head. A stated failure has precedence: a server may send one after any head.
pub fn final_status(stated: Option<Status>, fault_of_head: Option<Status>) -> Status {
    match (stated, fault_of_head) {
        (Some(status), _) if status.code != Code::Ok => status,
        (_, Some(fault)) => fault,
        (Some(status), None) => status,
        (None, None) => Status::new(Code::Unknown, "the server sent no grpc-status"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(content_type: &str) -> Option<Code> {
        fault_of_content_type(content_type.as_bytes()).map(|status| status.code)
    }

    #[test]
    fn protocol_buffers_are_what_was_asked_for() {
        for good in [
            "application/grpc",
            "application/grpc+proto",
            "Application/gRPC",
            "application/grpc; charset=utf-8",
        ] {
            assert_eq!(code(good), None, "{good}");
        }
        assert_eq!(code("application/grpc+json"), Some(Code::Internal));
        for foreign in ["", "text/html", "application/grpc-web", "application/grpcx"] {
            assert_eq!(code(foreign), Some(Code::Unknown), "{foreign}");
        }
    }

    /// What trailers with these values of `grpc-status` and `grpc-message` state.
    fn stated(status: &[u8], message: &[u8]) -> Status {
        let mut trailers = HeaderList::new(8192, 32);
        trailers.push(b"grpc-status", status, false);
        trailers.push(b"grpc-message", message, false);
        stated_status(&trailers).expect("there is a grpc-status")
    }

    #[test]
    fn a_status_that_is_none_is_unknown_and_stands_in_the_text() {
        for (value, message, text) in [
            (&b"OK"[..], &b""[..], "malformed grpc-status \"OK\""),
            (b"-1", b"", "malformed grpc-status \"-1\""),
            (b"", b"no", "malformed grpc-status \"\": no"),
            (b"00", b"", "unknown grpc-status \"00\""),
            (b"99", b"a%20b", "unknown grpc-status \"99\": a b"),
            (b"\xff\n", b"", "malformed grpc-status \"\u{fffd}\\n\""),
        ] {
            assert_eq!(stated(value, message), Status::new(Code::Unknown, text));
        }
        let long = stated(&[b'x'; 3_000], b"").message;
        assert!(long.len() < 200 && long.ends_with("x\"\u{2026}"), "{long}");
        assert_eq!(stated(b"7", b"no"), Status::new(Code::PermissionDenied, "no"));
    }

    #[test]
    fn a_head_of_another_protocol_stands_in_the_text_as_far_as_there_is_room() {
        let text = |http_status: &[u8], content_type: &[u8]| {
            let mut head = HeaderList::new(8192, 32);
            head.push(b":status", http_status, false);
            head.push(b"content-type", content_type, false);
            fault_of_head(&head).expect("a fault").message
        };
        assert!(text(b"503", b"").ends_with("from server: 503"));
        assert!(text(b"2\ne", b"").ends_with("from server: \"2\\ne\""));
        assert!(text(b"200", b"text/html").contains("content-type \"text/html\", not"));
        assert!(text(b"200", &[b'x'; 3_000]).len() < 250);
    }

    #[test]
    fn a_stated_failure_counts_more_than_the_head_and_the_head_more_than_ok() {
        let status = |code| Some(Status::new(code, ""));
        for (stated, fault, code) in [
            (Code::NotFound, status(Code::Unavailable), Code::NotFound),
            (Code::Ok, status(Code::Unavailable), Code::Unavailable),
            (Code::Ok, None, Code::Ok),
        ] {
            assert_eq!(final_status(status(stated), fault).code, code);
        }
        assert_eq!(final_status(None, status(Code::Internal)).code, Code::Internal);
        assert_eq!(final_status(None, None).code, Code::Unknown);
    }
}
