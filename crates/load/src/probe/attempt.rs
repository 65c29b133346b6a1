//! What every check has at hand: connections of its own, and the request in any shape.

use super::conversation::{BodyShape, Broken, Conversation, HeadShape, Outgoing, Way};
use super::request::Request;
use std::time::Duration;

const USER_AGENT: &[u8] = concat!("bookend/", env!("CARGO_PKG_VERSION")).as_bytes();

/// One check being made.
pub(super) struct Attempt<'a> {
    pub request: &'a Request,
    pub way: Way<'a>,
    /// How long one connection of this check may take in all.
    pub patience: Duration,
    /// Calls sent whole on all of its connections.
    pub calls_sent: u64,
}

impl<'a> Attempt<'a> {
    /// Talks on a new connection, and counts the calls however the talk ends.
    pub fn converse<T>(
        &mut self,
        settings: &[(u16, u32)],
        talk: impl FnOnce(&mut Conversation) -> Result<T, Broken>,
    ) -> Result<T, Broken> {
        let mut conversation = Conversation::open(self.way, settings, self.patience)?;
        let result = talk(&mut conversation);
        self.calls_sent += conversation.calls_sent;
        result
    }

    /// The plain request.
    pub fn plain(&self) -> Prepared {
        Prepared {
            fields: head_fields(self.request),
            body: body(&self.request.messages),
            head_shape: HeadShape::Whole,
            body_shape: BodyShape::Whole,
        }
    }
}

/// A request that a check may change before it is sent.
pub(super) struct Prepared {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
    head_shape: HeadShape,
    body_shape: BodyShape,
}

impl Prepared {
    pub fn head_shape(mut self, shape: HeadShape) -> Self {
        self.head_shape = shape;
        self
    }

    pub fn body_shape(mut self, shape: BodyShape) -> Self {
        self.body_shape = shape;
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
                let service_end = path.iter().rposition(|octet| *octet == b'/').unwrap_or(0);
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

    pub fn outgoing(&self) -> Outgoing<'_> {
        Outgoing {
            fields: &self.fields,
            body: &self.body,
            head_shape: self.head_shape,
            body_shape: self.body_shape,
        }
    }
}

fn head_fields(request: &Request) -> Vec<(Vec<u8>, Vec<u8>)> {
    let scheme: &[u8] = match request.tls {
        Some(_) => b"https",
        None => b"http",
    };
    let own: [(&[u8], &[u8]); 7] = [
        (b":method", b"POST"),
        (b":scheme", scheme),
        (b":path", request.method.path.as_bytes()),
        (b":authority", request.authority.as_bytes()),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        (b"user-agent", USER_AGENT),
    ];
    let own = own
        .iter()
        .map(|(name, value)| (name.to_vec(), value.to_vec()));
    own.chain(request.metadata.iter().cloned()).collect()
}

fn body(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for message in messages {
        body.push(0);
        // The length field has four octets; the flags' files are far below 4 GiB.
        body.extend_from_slice(&(message.len() as u32).to_be_bytes());
        body.extend_from_slice(message);
    }
    body
}
