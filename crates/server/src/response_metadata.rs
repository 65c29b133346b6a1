//! Metadata that goes with an answer.

use std::cell::{Cell, RefCell};

use bookend_wire::grpc::metadata::is_binary;

use crate::Metadata;
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

/// Names that belong to HTTP and to gRPC. What else begins with `grpc-` is reserved for gRPC too,
/// but for the details of a status, which servers add as metadata.
const RESERVED: [&str; 8] = [
    "content-type",
    "content-length",
    "te",
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

const STATUS_DETAILS: &str = "grpc-status-details-bin";

impl ResponseFields {
    /// Adds to what goes before the messages.
    ///
    /// # Errors
    /// What is wrong with the field.
    pub fn add_header(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        add(&mut self.headers, name, value)
    }

    /// Adds to what goes behind the messages.
    ///
    /// # Errors
    /// What is wrong with the field.
    pub fn add_trailer(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        add(&mut self.trailers, name, value)
    }
}

fn add(metadata: &mut Metadata, name: &str, value: &[u8]) -> Result<(), String> {
    let is_name = |octet| matches!(octet, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    let is_reserved =
        RESERVED.contains(&name) || (name.starts_with("grpc-") && name != STATUS_DETAILS);
    if name.is_empty() || !name.bytes().all(is_name) || is_reserved {
        return Err(format!("metadata may not be called {name:?}"));
    }
    // RFC 9113 section 8.2.1: what else there is in a value harms nobody.
    let is_forbidden = |octet: &u8| matches!(octet, b'\0' | b'\r' | b'\n');
    if value.iter().any(is_forbidden) || value.trim_ascii() != value {
        return Err(format!(
            "the value of metadata {name:?} is none that a header may have"
        ));
    }
    let is_base64 = |octet: &u8| octet.is_ascii_alphanumeric() || b"+/=,".contains(octet);
    if is_binary(name.as_bytes()) && !value.iter().all(is_base64) {
        return Err(format!("the value of metadata {name:?} is no base64"));
    }
    metadata.push(name.as_bytes(), value);
    Ok(())
}

impl ResponseMetadata {
    pub fn add_header(&self, name: &str, value: &[u8]) {
        self.change(|fields| fields.add_header(name, value));
    }

    pub fn add_trailer(&self, name: &str, value: &[u8]) {
        self.change(|fields| fields.add_trailer(name, value));
    }

    pub fn compress(&self) {
        self.change(|fields| {
            fields.compress = true;
            Ok(())
        });
    }

    fn change(&self, change: impl FnOnce(&mut ResponseFields) -> Result<(), String>) {
        self.used.set(true);
        let mut fields = self.fields.borrow_mut();
        if let Err(mistake) = change(&mut fields) {
            fields.mistake = Some(mistake);
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
        metadata.add_trailer("t", b"1");
        assert!(metadata.used());
        assert_eq!(metadata.take().trailers.len(), 1);
        assert!(!metadata.used());
        assert!(metadata.take().trailers.is_empty());
    }

    #[test]
    fn what_no_header_may_be_is_a_mistake() {
        for (name, value) in [
            (
                "x-good",
                &b"any octets \xff\t but those of a line's end"[..],
            ),
            ("x_.9-bin", b"Zg==,Zm8"),
            ("grpc-status-details-bin", b""),
        ] {
            assert_eq!(add(&mut Metadata::default(), name, value), Ok(()), "{name}");
        }
        for (name, value) in [
            ("", &b"1"[..]),
            ("X-Upper", b"1"),
            (":status", b"1"),
            ("grpc-status", b"0"),
            ("connection", b"close"),
            ("x", b"1\r\nx-smuggled: 1"),
            ("x", b" 1"),
            ("x-bin", b"\x01\x02"),
        ] {
            let mut metadata = Metadata::default();
            assert!(add(&mut metadata, name, value).is_err(), "{name}");
            assert!(metadata.is_empty());
        }
    }
}
