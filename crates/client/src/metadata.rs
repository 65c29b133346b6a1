//! Metadata of requests and responses.

use bookend_wire::HeaderList;
use bookend_wire::grpc::metadata::{decode_binary, encode_binary, is_binary};
use std::borrow::Cow;
use std::fmt;

/// What HTTP/2 and gRPC say with fields of their own. Callers neither set nor see it. A length
/// would have to be right, and what is of a connection (RFC 9113 section 8.2.2) makes a request
/// malformed.
const RESERVED: [&[u8]; 15] = [
    b"te",
    b"host",
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
    b"content-length",
    b"content-type",
    b"user-agent",
    b"grpc-timeout",
    b"grpc-encoding",
    b"grpc-accept-encoding",
    b"grpc-status",
    b"grpc-message",
];

/// Names and values in order. A name may stand in it more than once.
///
/// Values of names that end in `-bin` are any octets here, and base64 on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    fields: Vec<(String, Vec<u8>)>,
}

/// Why a field cannot be sent. The caller's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataError {
    /// The name is not made of lower-case letters, digits, `-`, `_` and `.`.
    Name(String),
    /// The name belongs to HTTP/2 or gRPC.
    Reserved(String),
    /// A value that is not printable ASCII, or that begins or ends with a space.
    Value {
        /// The field's name.
        name: String,
    },
}

impl Metadata {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field behind the others.
    ///
    /// # Errors
    /// Where gRPC cannot carry it.
    pub fn push(&mut self, name: &str, value: &[u8]) -> Result<(), MetadataError> {
        let legal = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        if name.is_empty() || !name.bytes().all(legal) {
            return Err(MetadataError::Name(name.to_owned()));
        }
        if RESERVED.contains(&name.as_bytes()) {
            return Err(MetadataError::Reserved(name.to_owned()));
        }
        if !is_binary(name.as_bytes()) && !is_text(value) {
            let name = name.to_owned();
            return Err(MetadataError::Value { name });
        }
        self.fields.push((name.to_owned(), value.to_vec()));
        Ok(())
    }

    /// The first value of the field `name`.
    pub fn find(&self, name: &str) -> Option<&[u8]> {
        self.iter()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    /// All values of the field `name`, in order.
    pub fn find_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.iter()
            .filter(move |(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    /// The first value of the field `name`, where it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.find(name)
            .and_then(|value| std::str::from_utf8(value).ok())
    }

    /// All fields: name and value.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// What a header block carries besides the fields of HTTP/2 and gRPC.
    pub(crate) fn read(fields: &HeaderList) -> Self {
        let mut metadata = Self::new();
        for field in fields.iter() {
            if !field.name.starts_with(b":") && !RESERVED.contains(&field.name) {
                metadata.read_field(field.name, field.value);
            }
        }
        metadata
    }

    fn read_field(&mut self, name: &[u8], value: &[u8]) {
        let text = String::from_utf8_lossy(name).into_owned();
        if !is_binary(name) {
            return self.fields.push((text, value.to_vec()));
        }
        // Fields of one name may have been joined on their way; base64 has no comma. What is no
        // base64 is left out: the rest of the answer is still good.
        let values = value
            .split(|octet| *octet == b',')
            .filter_map(|part| decode_binary(part.trim_ascii()));
        self.fields
            .extend(values.map(|octets| (text.clone(), octets)));
    }

    /// All fields as they stand on the wire.
    pub(crate) fn encoded(&self) -> impl Iterator<Item = (&[u8], Cow<'_, [u8]>)> {
        self.iter().map(|(name, value)| {
            let name = name.as_bytes();
            if !is_binary(name) {
                return (name, Cow::Borrowed(value));
            }
            let mut encoded = Vec::new();
            encode_binary(value, &mut encoded);
            (name, Cow::Owned(encoded))
        })
    }
}

fn is_text(value: &[u8]) -> bool {
    value.iter().all(|octet| matches!(octet, b' '..=b'~')) && value.trim_ascii() == value
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                f,
                "metadata name {name:?}: names are made of lower-case letters, digits, '-', '_' \
                 and '.'"
            ),
            Self::Reserved(name) => {
                write!(f, "metadata {name:?} belongs to HTTP/2 or gRPC itself")
            }
            Self::Value { name } => write!(
                f,
                "the value of metadata {name:?} is not printable ASCII: other octets go in a name \
                 that ends in -bin"
            ),
        }
    }
}

impl std::error::Error for MetadataError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grpc_cannot_carry_is_refused() {
        let mut metadata = Metadata::new();
        for name in ["", "Upper", ":path", "a b", "\u{fc}"] {
            let refused = metadata.push(name, b"x");
            assert_eq!(refused, Err(MetadataError::Name(name.to_owned())));
        }
        for name in [
            "te",
            "grpc-status",
            "content-type",
            "content-length",
            "transfer-encoding",
        ] {
            let refused = metadata.push(name, b"x");
            assert_eq!(refused, Err(MetadataError::Reserved(name.to_owned())));
        }
        for value in [&b" x"[..], b"x ", b"\n", b"\xff"] {
            assert!(metadata.push("x-text", value).is_err(), "{value:?}");
            assert!(metadata.push("x-any-bin", value).is_ok(), "{value:?}");
        }
    }

    #[test]
    fn own_fields_of_grpc_are_not_seen_and_joined_binary_values_come_apart() {
        let mut list = HeaderList::new(4096, 32);
        for (name, value) in [
            (":status", "200"),
            ("content-type", "application/grpc"),
            ("x-plain", "a, b"),
            ("x-trace-bin", "AAE, AgM="),
            ("x-bad-bin", "***"),
            ("grpc-status-details-bin", "CAU"),
        ] {
            list.push(name.as_bytes(), value.as_bytes(), false);
        }
        let metadata = Metadata::read(&list);
        let expected: [(&str, &[u8]); 4] = [
            ("x-plain", b"a, b"),
            ("x-trace-bin", &[0, 1]),
            ("x-trace-bin", &[2, 3]),
            ("grpc-status-details-bin", &[8, 5]),
        ];
        assert!(metadata.iter().eq(expected));
        assert_eq!(metadata.text("x-plain"), Some("a, b"));
        let traces: Vec<_> = metadata.find_all("x-trace-bin").collect();
        assert_eq!(traces, [[0, 1], [2, 3]]);
        assert_eq!(metadata.find("x-bad-bin"), None);
    }
}
