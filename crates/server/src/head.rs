//! From a request's header list to what it asks for.

use bookend_wire::HeaderList;
use bookend_wire::grpc::{Code, Status, timeout};

use crate::compression::{Encoding, lists_gzip};
use crate::router::{Route, Router};
use bookend_wire::grpc::Metadata;

/// What the head of a request says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub route: Route,
    pub timeout_ns: Option<u64>,
    /// Of the messages of the request.
    pub encoding: Encoding,
    /// The client accepts messages under gzip.
    pub accepts_gzip: bool,
    pub metadata: Metadata,
}

/// A request that is answered without being looked at further.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub http_status: HttpStatus,
    pub status: Status,
    /// The answer says what encodings are known here.
    pub lists_encodings: bool,
}

/// HTTP statuses that a gRPC server has a use for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HttpStatus {
    /// Everything that is gRPC.
    Ok,
    /// The method is not POST.
    MethodNotAllowed,
    /// The content type is not gRPC's.
    UnsupportedMediaType,
}

impl HttpStatus {
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            HttpStatus::Ok => b"200",
            HttpStatus::MethodNotAllowed => b"405",
            HttpStatus::UnsupportedMediaType => b"415",
        }
    }
}

impl Head {
    /// Reads `fields` into this head, whose memory is used again.
    pub fn read(&mut self, fields: &HeaderList, router: &Router) -> Result<(), Refusal> {
        let raw = self.sort(fields);
        if raw.method != b"POST" {
            return Err(not_post(raw.method));
        }
        let codec = codec(raw.content_type).ok_or_else(|| not_grpc(raw.content_type))?;
        self.timeout_ns = match raw.timeout {
            None => None,
            Some(text) => Some(timeout::parse(text).ok_or_else(|| malformed_timeout(text))?),
        };
        self.route = router
            .find(raw.path)
            .ok_or_else(|| unknown_method(raw.path, router))?;
        if let Some(codec) = codec {
            let service = &router.target(self.route).service;
            check_codec(codec, service.codec())?;
        }
        self.accepts_gzip = raw.accepted_encodings.is_some_and(lists_gzip);
        self.encoding = match raw.encoding {
            None => Encoding::Identity,
            Some(name) => Encoding::parse(name).ok_or_else(|| unknown_encoding(name))?,
        };
        Ok(())
    }

    /// Parts what gRPC reads from the metadata, which is kept.
    fn sort<'a>(&mut self, fields: &'a HeaderList) -> RawHead<'a> {
        let mut raw = RawHead::default();
        self.metadata.clear();
        for field in fields.iter() {
            match field.name {
                b":method" => raw.method = field.value,
                b":path" => raw.path = field.value,
                b"content-type" => raw.content_type = field.value,
                b"grpc-timeout" => raw.timeout = Some(field.value),
                b"grpc-encoding" => raw.encoding = Some(field.value),
                b"grpc-accept-encoding" => raw.accepted_encodings = Some(field.value),
                b"te" | b"content-length" => {}
                [b':', ..] => {}
                name => self.metadata.push_received(name, field.value),
            }
        }
        raw
    }
}

#[derive(Default)]
struct RawHead<'a> {
    method: &'a [u8],
    path: &'a [u8],
    content_type: &'a [u8],
    timeout: Option<&'a [u8]>,
    encoding: Option<&'a [u8]>,
    accepted_encodings: Option<&'a [u8]>,
}

/// What follows `+` in `application/grpc+CODEC`, where something does; `None` where this is not
/// gRPC's. `;PARAMETERS` may follow. grpc-web is something else.
fn codec(content_type: &[u8]) -> Option<Option<&[u8]>> {
    let rest = content_type.strip_prefix(b"application/grpc")?;
    match rest {
        [] | [b';', ..] => Some(None),
        [b'+', codec @ ..] => {
            let end = codec.iter().position(|octet| *octet == b';');
            Some(Some(codec[..end.unwrap_or(codec.len())].trim_ascii()))
        }
        _ => None,
    }
}

/// Octets of one codec make no sense to another, and often enough look like a message.
fn check_codec(codec: &[u8], known: &str) -> Result<(), Refusal> {
    if codec.eq_ignore_ascii_case(known.as_bytes()) {
        return Ok(());
    }
    let codec = shown(codec);
    let message = format!("unknown codec {codec}: the service speaks application/grpc+{known}");
    Err(refusal(Code::Unimplemented, message))
}

fn refusal(code: Code, message: impl Into<String>) -> Refusal {
    Refusal {
        http_status: HttpStatus::Ok,
        status: Status::new(code, message),
        lists_encodings: false,
    }
}

/// gRPC's compression document wants the answer to say what is known instead.
fn unknown_encoding(name: &[u8]) -> Refusal {
    let message = format!("unknown grpc-encoding {}", shown(name));
    Refusal {
        lists_encodings: true,
        ..refusal(Code::Unimplemented, message)
    }
}

fn not_post(method: &[u8]) -> Refusal {
    let message = format!("the HTTP method is {} and should be POST", shown(method));
    let status = Status::new(Code::Internal, message);
    Refusal {
        http_status: HttpStatus::MethodNotAllowed,
        status,
        lists_encodings: false,
    }
}

fn not_grpc(content_type: &[u8]) -> Refusal {
    let message = format!(
        "the content type {} is not application/grpc",
        shown(content_type)
    );
    let status = Status::new(Code::Unknown, message);
    Refusal {
        http_status: HttpStatus::UnsupportedMediaType,
        status,
        lists_encodings: false,
    }
}

fn malformed_timeout(text: &[u8]) -> Refusal {
    refusal(
        Code::Internal,
        format!("malformed grpc-timeout {}", shown(text)),
    )
}

fn unknown_method(path: &[u8], router: &Router) -> Refusal {
    let malformed = || {
        refusal(
            Code::Unimplemented,
            format!("malformed path {}", shown(path)),
        )
    };
    let Some((service, method)) = split_path(path) else {
        return malformed();
    };
    let message = if router.has_service(service) {
        format!(
            "unknown method {} of service {}",
            shown(method),
            shown(service)
        )
    } else {
        format!("unknown service {}", shown(service))
    };
    refusal(Code::Unimplemented, message)
}

fn split_path(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let path = path.strip_prefix(b"/")?;
    let slash = path.iter().rposition(|octet| *octet == b'/')?;
    Some((&path[..slash], &path[slash + 1..]))
}

/// What a peer sent, quoted, and short enough to send back.
fn shown(octets: &[u8]) -> String {
    /// Names of services and methods are shorter; a status message is no place for more.
    const SHOWN_BYTES_MAX: usize = 120;
    let end = octets.len().min(SHOWN_BYTES_MAX);
    format!("{:?}", String::from_utf8_lossy(&octets[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_of_grpc_and_of_others() {
        for (good, named) in [
            ("application/grpc", None),
            ("application/grpc;charset=utf-8", None),
            ("application/grpc+proto", Some("proto")),
            ("application/grpc+json ; charset=utf-8", Some("json")),
            ("application/grpc+", Some("")),
        ] {
            let named = named.map(str::as_bytes);
            assert_eq!(codec(good.as_bytes()), Some(named), "{good}");
        }
        for bad in [
            "",
            "application/json",
            "application/grpc-web",
            "application/grp",
        ] {
            assert_eq!(codec(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn paths_are_split_at_the_last_slash() {
        assert_eq!(split_path(b"/p.S/M"), Some((&b"p.S"[..], &b"M"[..])));
        assert_eq!(split_path(b"/a/p.S/M"), Some((&b"a/p.S"[..], &b"M"[..])));
        assert_eq!(split_path(b"/M"), None);
        assert_eq!(split_path(b"p.S/M"), None);
    }

    #[test]
    fn what_is_sent_back_is_bounded() {
        assert!(shown(&[b'x'; 10_000]).len() < 200);
        assert_eq!(shown(b"a\xff"), "\"a\u{fffd}\"");
    }
}
