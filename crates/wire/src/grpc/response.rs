//! What the header blocks of a response mean to the client: its head, its trailers, its status.

use super::{Code, Status, base64, percent, reserved};
use crate::hpack::HeaderList;
use alloc::format;
use alloc::string::String;

/// What is wrong with the head of a response; `None` if it is gRPC and the client can read it.
///
/// Requests have the content type `application/grpc`, which stands for Protocol Buffers. A response
/// may have the same, with `+proto` or parameters after it. A client that sent such a request
/// cannot read another codec (`INTERNAL`). A response that is not gRPC at all is judged by its HTTP
/// status, where 200 means `UNKNOWN`.
pub fn fault_of_head(fields: &HeaderList) -> Option<Status> {
    let http_status = fields.find(b":status").unwrap_or_default();
    if http_status != b"200" {
        let shown = String::from_utf8_lossy(http_status);
        let text = format!("unexpected HTTP status code received from server: {shown}");
        return Some(Status::new(Code::of_http_status(http_status), text));
    }
    fault_of_content_type(fields.find(b"content-type").unwrap_or_default())
}

fn fault_of_content_type(value: &[u8]) -> Option<Status> {
    let value = String::from_utf8_lossy(value);
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let code = match media_type.strip_prefix("application/grpc") {
        Some("" | "+proto") => return None,
        Some(codec) if codec.starts_with('+') => Code::Internal,
        _ => Code::of_http_status(b"200"),
    };
    let text = format!("the server answered with content-type {value:?}, not application/grpc");
    Some(Status::new(code, text))
}

/// The status that trailers state: `grpc-status`, `grpc-message` and `grpc-status-details-bin`.
/// Details that are no base64 count as none: the code is worth more than they are.
pub fn stated_status(trailers: &HeaderList) -> Option<Status> {
    let code = Code::parse(trailers.find(b"grpc-status")?);
    let message = percent::decode(trailers.find(b"grpc-message").unwrap_or_default());
    let details = trailers.find(reserved::STATUS_DETAILS).and_then(base64::decode);
    Some(Status::with_details(code, message, details.unwrap_or_default()))
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
