//! The request of a check, in every shape that HTTP/2 allows.

use super::request::ProbeRequest;

const USER_AGENT: &[u8] = concat!("bookend/", env!("CARGO_PKG_VERSION")).as_bytes();

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
            body: body(&request.messages),
            head_framing: HeadFraming::Whole,
            body_framing: BodyFraming::Whole,
        }
    }

    pub fn head_framing(mut self, framing: HeadFraming) -> Self {
        self.head_framing = framing;
        self
    }

    pub fn body_framing(mut self, framing: BodyFraming) -> Self {
        self.body_framing = framing;
        self
    }

    /// Adds a field to the head.
    pub fn field(mut self, name: &[u8], value: &[u8]) -> Self {
        self.fields.push((name.to_vec(), value.to_vec()));
        self
    }

    /// Calls another method of the same service.
    pub fn method(mut self, name: &str) -> Self {
        for (field, path) in &mut self.fields {
            if field == b":path" {
                let service_end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                path.truncate(service_end + 1);
                path.extend_from_slice(name.as_bytes());
            }
        }
        self
    }

    /// Sends these messages instead.
    pub fn messages(mut self, messages: &[Vec<u8>]) -> Self {
        self.body = body(messages);
        self
    }
}

fn head_fields(request: &ProbeRequest) -> Vec<(Vec<u8>, Vec<u8>)> {
    let scheme: &[u8] = if request.tls.is_some() { b"https" } else { b"http" };
    let own: [(&[u8], &[u8]); 7] = [
        (b":method", b"POST"),
        (b":scheme", scheme),
        (b":path", request.method.path.as_bytes()),
        (b":authority", request.authority.as_bytes()),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        (b"user-agent", USER_AGENT),
    ];
    let own = own.iter().map(|(name, value)| (name.to_vec(), value.to_vec()));
    own.chain(request.metadata.iter().cloned()).collect()
}

fn body(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for message in messages {
        body.push(0);
        // The length field has four bytes; the data that flags give is far below 4 GiB.
        body.extend_from_slice(&(message.len() as u32).to_be_bytes());
        body.extend_from_slice(message);
    }
    body
}
