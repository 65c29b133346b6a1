//! What the header blocks of an answer say: its head, and how the call ended.

use crate::encoding::AnswerEncoding;
use bookend_wire::HeaderList;
use bookend_wire::grpc::Metadata;
use bookend_wire::grpc::response::{fault_of_head, final_status, stated_status};
use bookend_wire::grpc::{Code, Status};

/// A call by its header blocks. What stands between them is somebody else's.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    head: Option<Metadata>,
    encoding: AnswerEncoding,
    trailers: Metadata,
    /// What was wrong with the head: an answer that is no gRPC is told by that.
    fault: Option<Status>,
    status: Option<Status>,
}

/// A header block of which nothing but its kind matters: it needs no second look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// A good head without metadata, of messages that are not compressed.
    Head,
    /// `grpc-status: 0` and nothing else.
    Ok,
}

/// How a call ended, and what its header blocks said besides.
#[derive(Debug)]
pub(crate) struct Ended {
    pub head: Metadata,
    pub trailers: Metadata,
    pub status: Status,
}

impl Verdict {
    /// Whether the call is over.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.status.is_some()
    }

    /// Whether it ended with `OK`.
    #[inline]
    pub fn is_ok(&self) -> bool {
        self.status
            .as_ref()
            .is_some_and(|status| status.code == Code::Ok)
    }

    /// Whether the head says that this is gRPC: else the body is a page for people.
    #[inline]
    pub fn has_messages(&self) -> bool {
        self.fault.is_none()
    }

    /// The head, if one has come that is not the trailers too.
    pub fn head(&self) -> Option<&Metadata> {
        self.head.as_ref()
    }

    /// How the messages are compressed.
    #[inline]
    pub fn encoding(&self) -> &AnswerEncoding {
        &self.encoding
    }

    /// Everything, once the call is over.
    pub fn into_end(self) -> Option<Ended> {
        Some(Ended {
            status: self.status?,
            head: self.head.unwrap_or_default(),
            trailers: self.trailers,
        })
    }

    /// A head, or trailers. Says whether they were of the plain kind.
    pub fn headers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<Plain> {
        if self.head.is_some() {
            return self.read_trailers(fields, end_stream);
        }
        self.fault = fault_of_head(fields);
        // An answer without messages may consist of its trailers only.
        if end_stream {
            self.head = Some(Metadata::new());
            self.read_trailers(fields, end_stream);
            return None;
        }
        let metadata = Metadata::of_response(fields);
        self.encoding = AnswerEncoding::of_head(fields);
        let plain = metadata.is_empty()
            && self.fault.is_none()
            && self.encoding == AnswerEncoding::Identity;
        self.head = Some(metadata);
        plain.then_some(Plain::Head)
    }

    fn read_trailers(&mut self, fields: &HeaderList, end_stream: bool) -> Option<Plain> {
        if !end_stream {
            return None;
        }
        self.trailers = Metadata::of_response(fields);
        let stated = stated_status(fields);
        let is_ok = |status: &Status| status.code == Code::Ok && status.message.is_empty();
        let plain = stated.as_ref().is_some_and(is_ok) && self.trailers.is_empty();
        self.end(stated);
        plain.then_some(Plain::Ok)
    }

    /// A header block like one for which [`Verdict::headers`] has returned `plain`.
    #[inline]
    pub fn plain(&mut self, plain: Plain, end_stream: bool) {
        match plain {
            Plain::Head => {
                self.head = Some(Metadata::new());
                if end_stream {
                    self.end(None);
                }
            }
            Plain::Ok => self.end(Some(Status::new(Code::Ok, ""))),
        }
    }

    /// Nothing more will come; `stated` is what the trailers said.
    pub fn end(&mut self, stated: Option<Status>) {
        if self.status.is_none() {
            self.status = Some(final_status(stated, self.fault.take()));
        }
    }

    /// The call is over for another reason than what the server said in its trailers.
    pub fn fail(&mut self, status: Status) {
        self.status = Some(status);
    }
}
