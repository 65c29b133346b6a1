//! What the header blocks of a response say: its head, and how the call ended.

use crate::compression::ResponseEncoding;
use crate::response::Response;
use bookend_wire::HeaderList;
use bookend_wire::grpc::response::{fault_of_head, final_status, stated_status};
use bookend_wire::grpc::{Code, Metadata, Status};

/// The head and the trailers of one response. The body between them is handled elsewhere.
#[derive(Debug, Default)]
pub(crate) struct ResponseHeaders {
    head: Option<Metadata>,
    encoding: ResponseEncoding,
    trailers: Metadata,
    /// What was wrong with the head. Decides the status, unless the trailers state a worse one.
    fault: Option<Status>,
    status: Option<Status>,
}

/// A header block that says nothing but what it is: the connection's header-block cache may stand
/// in for reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachedBlock {
    /// A good head without metadata, of messages that are not compressed.
    Head,
    /// `grpc-status: 0` and nothing else.
    TrailersOk,
}

impl CachedBlock {
    /// The token by which the header-block cache knows it.
    pub fn token(self) -> u32 {
        self as u32
    }

    /// The block of a token that [`CachedBlock::token`] has given.
    #[inline]
    pub fn of_token(token: u32) -> Self {
        if token == Self::Head as u32 { Self::Head } else { Self::TrailersOk }
    }
}

impl ResponseHeaders {
    /// Whether the call is over.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.status.is_some()
    }

    /// Whether it ended with `OK`.
    #[inline]
    pub fn is_ok(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.code == Code::Ok)
    }

    /// Whether the head is one of gRPC. Otherwise the body is a page for people.
    #[inline]
    pub fn is_grpc(&self) -> bool {
        self.fault.is_none()
    }

    /// The head, once it has come; empty in a response that consists of trailers only.
    pub fn head(&self) -> Option<&Metadata> {
        self.head.as_ref()
    }

    /// How the messages are compressed.
    #[inline]
    pub fn encoding(&self) -> &ResponseEncoding {
        &self.encoding
    }

    /// Everything but the message, once the call is over.
    pub fn into_response(self) -> Option<Response> {
        Some(Response {
            head: self.head.unwrap_or_default(),
            trailers: self.trailers,
            ..Response::without_messages(self.status?)
        })
    }

    /// Reads a head, or trailers. Returns which one the cache may stand in for next time, if any.
    pub fn read(&mut self, fields: &HeaderList, end_stream: bool) -> Option<CachedBlock> {
        if self.head.is_some() {
            return self.read_trailers(fields, end_stream);
        }
        self.fault = fault_of_head(fields);
        // A response without messages may consist of its trailers only.
        if end_stream {
            self.head = Some(Metadata::new());
            self.read_trailers(fields, end_stream);
            return None;
        }
        let metadata = Metadata::of_response(fields);
        self.encoding = ResponseEncoding::of_head(fields);
        // With END_STREAM the same bytes are trailers, of which a status is what matters.
        let says_nothing_else = metadata.is_empty()
            && self.fault.is_none()
            && stated_status(fields).is_none()
            && self.encoding == ResponseEncoding::IDENTITY;
        self.head = Some(metadata);
        says_nothing_else.then_some(CachedBlock::Head)
    }

    fn read_trailers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<CachedBlock> {
        if !end_stream {
            return None;
        }
        self.trailers = Metadata::of_response(fields);
        let stated = stated_status(fields);
        let is_ok = |status: &Status| status.code == Code::Ok && status.message.is_empty();
        let says_nothing_else = stated.as_ref().is_some_and(is_ok) && self.trailers.is_empty();
        self.end(stated);
        says_nothing_else.then_some(CachedBlock::TrailersOk)
    }

    /// Does what [`ResponseHeaders::read`] did for a block of the same bytes.
    #[inline]
    pub fn read_cached(&mut self, block: CachedBlock, end_stream: bool) {
        match block {
            CachedBlock::Head => {
                self.head = Some(Metadata::new());
                if end_stream {
                    self.end(None);
                }
            }
            CachedBlock::TrailersOk => self.end(Some(Status::new(Code::Ok, ""))),
        }
    }

    /// The response has ended; `stated` is the status in the trailers.
    pub fn end(&mut self, stated: Option<Status>) {
        if self.status.is_none() {
            self.status = Some(final_status(stated, self.fault.take()));
        }
    }

    /// Where the response cannot be read on, the call ends with a status of our own.
    #[inline]
    pub fn require(&mut self, read: Result<(), Status>) {
        if let Err(status) = read {
            self.status = Some(status);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_is_none_stands_in_the_message() {
        let ended = |value: &[u8]| {
            let mut trailers = HeaderList::new(4096, 32);
            trailers.push(b":status", b"200", false);
            trailers.push(b"content-type", b"application/grpc", false);
            trailers.push(b"grpc-status", value, false);
            let mut headers = ResponseHeaders::default();
            headers.read(&trailers, true);
            headers.into_response().expect("the call is over").status
        };
        assert_eq!(ended(b"OK"), Status::new(Code::Unknown, "malformed grpc-status \"OK\""));
        assert_eq!(ended(b"99"), Status::new(Code::Unknown, "unknown grpc-status \"99\""));
        assert_eq!(ended(b"0"), Status::new(Code::Ok, ""));
    }
}
