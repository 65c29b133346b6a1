//! Metadata of a response.

use std::cell::{Cell, RefCell};

use bookend_wire::grpc::{Metadata, MetadataError, Status};

use crate::call_event::Notifier;
use crate::cancellation::{CallLifetime, Cancellation};
use crate::status::internal;
use crate::stream_waker::StreamWaker;

/// What a handler adds to its response through the shared reference that its context is.
#[derive(Debug, Default)]
pub(crate) struct ResponseMetadata {
    used: Cell<bool>,
    fields: RefCell<ResponseFields>,
}

/// What a handler has added to its response in addition to the messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseFields {
    /// Metadata ahead of the messages.
    pub headers: Metadata,
    /// Metadata behind them.
    pub trailers: Metadata,
    /// The head announces compression, which the client accepts.
    pub compress: bool,
    /// The handler added metadata that is not allowed: the call fails with this status.
    pub mistake: Option<Status>,
    lifetime: Option<CallLifetime>,
    /// The handler of a stream has asked for it.
    pub waker: Option<StreamWaker>,
}

impl ResponseFields {
    /// Changes the fields. A field that gRPC cannot carry is the handler's mistake, which fails the
    /// call when they are sent.
    pub fn apply(&mut self, change: impl FnOnce(&mut Self) -> Result<(), MetadataError>) {
        if let Err(error) = change(self) {
            self.mistake = Some(internal(error.to_string()));
        }
    }

    /// The fields, unless the handler made a mistake.
    pub fn checked(mut self) -> Result<Self, Status> {
        match self.mistake.take() {
            Some(status) => Err(status),
            None => Ok(self),
        }
    }
}

impl ResponseMetadata {
    pub fn compress(&self) {
        self.change(|fields| {
            fields.compress = true;
            Ok(())
        });
    }

    /// Changes the fields; see [`ResponseFields::apply`].
    pub fn change(&self, change: impl FnOnce(&mut ResponseFields) -> Result<(), MetadataError>) {
        self.used.set(true);
        self.fields.borrow_mut().apply(change);
    }

    /// The call counts as cancelled once its fields, [taken](ResponseMetadata::take), are dropped.
    pub fn cancellation(&self) -> Cancellation {
        self.used.set(true);
        let mut fields = self.fields.borrow_mut();
        fields.lifetime.get_or_insert_default().cancellation()
    }

    /// The call's waker, made of `notifier` if it does not exist yet.
    pub fn waker(&self, notifier: impl FnOnce() -> Notifier) -> StreamWaker {
        self.used.set(true);
        let mut fields = self.fields.borrow_mut();
        fields.waker.get_or_insert_with(|| StreamWaker::new(notifier())).clone()
    }

    /// Whether anything was added since [`ResponseMetadata::take`].
    #[inline]
    pub fn is_used(&self) -> bool {
        self.used.get()
    }

    pub fn take(&self) -> ResponseFields {
        self.used.set(false);
        self.fields.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_wire::grpc::Code;

    #[test]
    fn what_was_taken_is_gone() {
        let metadata = ResponseMetadata::default();
        metadata.change(|fields| fields.trailers.push_to_response("t", b"1"));
        assert!(metadata.is_used());
        assert_eq!(metadata.take().trailers.len(), 1);
        assert!(!metadata.is_used());
        assert!(metadata.take().trailers.is_empty());
    }

    #[test]
    fn what_grpc_cannot_carry_is_a_mistake() {
        let metadata = ResponseMetadata::default();
        metadata.change(|fields| fields.headers.push_to_response("grpc-status", b"0"));
        let fields = metadata.take();
        assert!(fields.headers.is_empty());
        let mistake = fields.checked().unwrap_err();
        assert_eq!(mistake.code, Code::Internal);
        assert!(mistake.message.contains("grpc-status"));
    }
}
