//! From a request's header list to what it asks for.

use bookend_wire::HeaderList;
use bookend_wire::grpc::{Metadata, timeout};

use crate::compression::lists_gzip;
use crate::encoding::RequestEncoding;
use crate::method::Route;
use crate::rejection::{self, RequestRejection};

/// The head of a request, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedHead {
    pub route: Route,
    pub timeout_ns: Option<u64>,
    /// Of the messages of the request.
    pub encoding: RequestEncoding,
    /// The client accepts messages under gzip.
    pub accepts_gzip: bool,
    pub metadata: Metadata,
}

/// The fields of a head that are not metadata, as they came.
#[derive(Default)]
pub(crate) struct HeadFields<'a> {
    method: &'a [u8],
    pub path: &'a [u8],
    content_type: &'a [u8],
    /// What follows `+` in `application/grpc+CODEC`, if anything does.
    pub codec: Option<&'a [u8]>,
    timeout: Option<&'a [u8]>,
    encoding: Option<&'a [u8]>,
    accepted_encodings: Option<&'a [u8]>,
}

impl ParsedHead {
    /// Reads `list` into this head, reusing its memory. Still missing are the route, which the
    /// router knows, and the encodings: [`ParsedHead::read_encodings`].
    pub fn read<'a>(&mut self, list: &'a HeaderList) -> Result<HeadFields<'a>, RequestRejection> {
        let mut fields = self.sort(list);
        if fields.method != b"POST" {
            return Err(rejection::not_post(fields.method));
        }
        fields.codec =
            codec(fields.content_type).ok_or_else(|| rejection::not_grpc(fields.content_type))?;
        let parse = |text| timeout::parse(text).ok_or_else(|| rejection::malformed_timeout(text));
        self.timeout_ns = fields.timeout.map(parse).transpose()?;
        Ok(fields)
    }

    /// Reads which encoding the messages have, and which ones the client accepts.
    pub fn read_encodings(&mut self, fields: &HeadFields<'_>) -> Result<(), RequestRejection> {
        self.accepts_gzip = fields.accepted_encodings.is_some_and(lists_gzip);
        self.encoding = match fields.encoding {
            None => RequestEncoding::Identity,
            Some(name) => {
                RequestEncoding::parse(name).ok_or_else(|| rejection::unknown_encoding(name))?
            }
        };
        Ok(())
    }

    /// Separates what gRPC itself reads from the metadata, which is kept.
    fn sort<'a>(&mut self, list: &'a HeaderList) -> HeadFields<'a> {
        let mut fields = HeadFields::default();
        self.metadata.clear();
        for field in list.iter() {
            match field.name {
                b":method" => fields.method = field.value,
                b":path" => fields.path = field.value,
                b"content-type" => fields.content_type = field.value,
                b"grpc-timeout" => fields.timeout = Some(field.value),
                b"grpc-encoding" => fields.encoding = Some(field.value),
                b"grpc-accept-encoding" => fields.accepted_encodings = Some(field.value),
                b"te" | b"content-length" => {}
                [b':', ..] => {}
                name => self.metadata.push_received(name, field.value),
            }
        }
        fields
    }
}

/// What follows `+` in `application/grpc+CODEC`, if anything does; `None` if this is not gRPC's.
/// `;PARAMETERS` may follow. grpc-web is something else.
fn codec(content_type: &[u8]) -> Option<Option<&[u8]>> {
    let rest = content_type.strip_prefix(b"application/grpc")?;
    match rest {
        [] | [b';', ..] => Some(None),
        [b'+', codec @ ..] => {
            let end = codec.iter().position(|byte| *byte == b';');
            Some(Some(codec[..end.unwrap_or(codec.len())].trim_ascii()))
        }
        _ => None,
    }
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
        for bad in ["", "application/json", "application/grpc-web", "application/grp"] {
            assert_eq!(codec(bad.as_bytes()), None, "{bad}");
        }
    }
}
