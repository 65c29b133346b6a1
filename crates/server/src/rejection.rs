//! Requests that are answered because of their head alone.

use bookend_wire::grpc::response::quoted;
use bookend_wire::grpc::{Code, Status};

use crate::status::internal;

/// Why a request is answered without its body being read.
#[derive(Debug)]
pub(crate) struct RequestRejection {
    pub http_status: HttpStatus,
    pub status: Status,
    /// The answer lists the encodings that this server supports.
    pub lists_encodings: bool,
}

/// An HTTP status that a gRPC server has a use for: the value of `:status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HttpStatus(pub &'static [u8]);

impl HttpStatus {
    /// Everything that is gRPC.
    pub const OK: Self = Self(b"200");
    /// The method is not POST.
    pub const METHOD_NOT_ALLOWED: Self = Self(b"405");
    /// The content type is not gRPC's.
    pub const UNSUPPORTED_MEDIA_TYPE: Self = Self(b"415");
}

impl From<Status> for RequestRejection {
    fn from(status: Status) -> Self {
        RequestRejection { http_status: HttpStatus::OK, status, lists_encodings: false }
    }
}

pub(crate) fn not_post(method: &[u8]) -> RequestRejection {
    let message = format!("the HTTP method is {} and should be POST", quoted(method));
    RequestRejection { http_status: HttpStatus::METHOD_NOT_ALLOWED, ..internal(message).into() }
}

pub(crate) fn not_grpc(content_type: &[u8]) -> RequestRejection {
    let content_type = quoted(content_type);
    let message = format!("the content type {content_type} is not application/grpc");
    RequestRejection {
        http_status: HttpStatus::UNSUPPORTED_MEDIA_TYPE,
        ..Status::new(Code::Unknown, message).into()
    }
}

pub(crate) fn malformed_timeout(text: &[u8]) -> RequestRejection {
    internal(format!("malformed grpc-timeout {}", quoted(text))).into()
}

pub(crate) fn unknown_codec(codec: &[u8], known: &str) -> RequestRejection {
    let codec = quoted(codec);
    unimplemented(format!("unknown codec {codec}: the service speaks application/grpc+{known}"))
}

/// gRPC's compression document wants the answer to list the supported encodings.
pub(crate) fn unknown_encoding(name: &[u8]) -> RequestRejection {
    RequestRejection {
        lists_encodings: true,
        ..unimplemented(format!("unknown grpc-encoding {}", quoted(name)))
    }
}

pub(crate) fn malformed_path(path: &[u8]) -> RequestRejection {
    unimplemented(format!("malformed path {}", quoted(path)))
}

pub(crate) fn unknown_service(service: &[u8]) -> RequestRejection {
    unimplemented(format!("unknown service {}", quoted(service)))
}

pub(crate) fn unknown_method(service: &[u8], method: &[u8]) -> RequestRejection {
    let (service, method) = (quoted(service), quoted(method));
    unimplemented(format!("unknown method {method} of service {service}"))
}

fn unimplemented(message: String) -> RequestRejection {
    Status::new(Code::Unimplemented, message).into()
}
