//! The request of a check, in every shape that HTTP/2 allows.

use super::request::ProbeRequest;
use bookend_wire::grpc::request;

/// How the head of a request is cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadFraming {
    /// One HEADERS frame.
    Whole,
    /// HEADERS and two CONTINUATION frames.
    Continued,
    /// One HEADERS frame with padding.
    Padded,
}

/// How the body of a request is cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyFraming {
    /// As few DATA frames as possible.
    Whole,
    /// DATA frames with padding.
    Padded,
    /// The first bytes, prefix included, in DATA frames of one byte each, and END_STREAM on an
    /// empty frame.
    Cut,
}

/// A request that a check may change before it sends it.
#[derive(Clone, Debug)]
pub(super) struct CheckRequest {
    /// The head, pseudo-headers first.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    /// The body: messages with their prefixes.
    pub body: Vec<u8>,
    /// How the head is sent.
    pub head_framing: HeadFraming,
    /// How the body is sent.
    pub body_framing: BodyFraming,
}

impl CheckRequest {
    /// The request as a client library would send it.
    pub fn plain(request: &ProbeRequest) -> Self {
        Self {
            fields: head_fields(request),
            body: body(&request.call.messages),
            head_framing: HeadFraming::Whole,
            body_framing: BodyFraming::Whole,
        }
    }

    /// Adds a field to the head.
    pub fn add(&mut self, name: &[u8], value: &[u8]) {
        self.fields.push((name.to_vec(), value.to_vec()));
    }

    /// Calls another method of the same service.
    pub fn set_method(&mut self, name: &str) {
        for (field, path) in &mut self.fields {
            if field == b":path" {
                let service_end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                path.truncate(service_end + 1);
                path.extend_from_slice(name.as_bytes());
            }
        }
    }
}

fn head_fields(request: &ProbeRequest) -> Vec<(Vec<u8>, Vec<u8>)> {
    let options = &request.options;
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    request::head(scheme, &request.call.path, &options.authority())
        .map(|(name, value)| (name.to_vec(), value.to_vec()))
        .into_iter()
        .chain(options.metadata.constant.iter().cloned())
        .collect()
}

/// The body of a request with these messages.
pub(super) fn body(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for message in messages {
        body.push(0);
        // The length field has four bytes; the data that flags give is far below 4 GiB.
        body.extend_from_slice(&(message.len() as u32).to_be_bytes());
        body.extend_from_slice(message);
    }
    body
}
