//! Metadata that goes with an answer.

use std::cell::{Cell, RefCell};

use bookend_wire::grpc::{Metadata, MetadataError};

use crate::cancellation::{Cancellation, Lasting};

/// Metadata that a handler adds to its answer. A handler has it through a shared reference, as it
/// has everything else of its context.
#[derive(Debug, Default)]
pub(crate) struct ResponseMetadata {
    used: Cell<bool>,
    fields: RefCell<ResponseFields>,
}

/// What a handler has said about its answer beside the messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseFields {
    /// What goes before the messages.
    pub headers: Metadata,
    /// What goes behind them.
    pub trailers: Metadata,
    /// Messages are to be compressed, and the client accepts it.
    pub compress: bool,
    /// Of the handler's: what was wrong with metadata that it added.
    pub mistake: Option<String>,
    lasting: Option<Lasting>,
}

impl ResponseMetadata {
    pub fn compress(&self) {
        self.change(|fields| {
            fields.compress = true;
            Ok(())
        });
    }

    /// Adds fields; a field that gRPC cannot carry is the handler's mistake.
    pub fn change(&self, change: impl FnOnce(&mut ResponseFields) -> Result<(), MetadataError>) {
        self.used.set(true);
        let mut fields = self.fields.borrow_mut();
        if let Err(mistake) = change(&mut fields) {
            fields.mistake = Some(mistake.to_string());
        }
    }

    /// Lasts as long as the fields that are [taken](ResponseMetadata::take) are kept.
    pub fn cancellation(&self) -> Cancellation {
        self.used.set(true);
        let mut fields = self.fields.borrow_mut();
        fields.lasting.get_or_insert_default().cancellation()
    }

    /// Whether anything was added since [`ResponseMetadata::take`].
    #[inline]
    pub fn used(&self) -> bool {
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

    #[test]
    fn what_was_taken_is_gone() {
        let metadata = ResponseMetadata::default();
        metadata.change(|fields| fields.trailers.push("t", b"1"));
        assert!(metadata.used());
        assert_eq!(metadata.take().trailers.len(), 1);
        assert!(!metadata.used());
        assert!(metadata.take().trailers.is_empty());
    }

    #[test]
    fn what_grpc_cannot_carry_is_a_mistake() {
        let metadata = ResponseMetadata::default();
        metadata.change(|fields| fields.headers.push("grpc-status", b"0"));
        let fields = metadata.take();
        assert!(
            fields
                .mistake
                .is_some_and(|mistake| mistake.contains("grpc-status"))
        );
        assert!(fields.headers.is_empty());
    }
}
