//! Metadata: names and values that accompany a call, in both directions.

use super::{Code, Status, base64, reserved};
use crate::hpack::HeaderList;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Names and values in order. A name may occur more than once.
///
/// Names are in lower case. Values are kept as on the wire: those of names that end in `-bin` are
/// base64, which [`Metadata::find_binary`] decodes and [`Metadata::push_binary`] encodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Metadata {
    text: Vec<u8>,
    fields: Vec<Ends>,
}

/// Where a field's name and value end in the text; each field begins where the last one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ends {
    name: u32,
    value: u32,
}

/// Why a field cannot be sent. The application's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The name is not made of lower-case letters, digits, `-`, `_` and `.`.
    #[error("metadata name {0:?}: names are made of lower-case letters, digits, '-', '_' and '.'")]
    Name(String),
    /// The name belongs to HTTP/2 or gRPC.
    #[error("metadata {0:?} belongs to HTTP/2 or gRPC itself")]
    Reserved(String),
    /// The value of this field is not printable ASCII, or begins or ends with a space.
    #[error(
        "the value of metadata {0:?} is not printable ASCII: other bytes go in a name that ends in \
         -bin"
    )]
    Text(String),
    /// The value of this `-bin` field is not base64.
    #[error("the value of metadata {0:?} is not base64")]
    Binary(String),
}

/// The value of the `-bin` field of this name is not base64. The peer's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value of {0} is no base64")]
pub struct MalformedBinary(pub String);

impl From<MalformedBinary> for Status {
    /// `INTERNAL`, as in grpc-go: the fault is in the client's library, not its user.
    fn from(malformed: MalformedBinary) -> Self {
        Status::new(Code::Internal, malformed.to_string())
    }
}

impl Metadata {
    /// No fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The metadata of a response: its fields without those of HTTP/2 and gRPC.
    pub fn of_response(fields: &HeaderList) -> Self {
        let mut metadata = Self::new();
        for field in fields.iter() {
            if !reserved::is_protocol_field(field.name) {
                metadata.push_received(field.name, field.value);
            }
        }
        metadata
    }

    /// Adds a field of a request after the others. The value of a `-bin` name must be base64
    /// already.
    ///
    /// # Errors
    /// When gRPC cannot carry the field.
    pub fn push(&mut self, name: &str, value: &[u8]) -> Result<(), MetadataError> {
        self.push_checked(name, value, reserved::is_reserved)
    }

    /// As [`Metadata::push`], but to a response, where fewer names are reserved.
    ///
    /// # Errors
    /// As [`Metadata::push`].
    pub fn push_to_response(&mut self, name: &str, value: &[u8]) -> Result<(), MetadataError> {
        self.push_checked(name, value, reserved::is_reserved_in_response)
    }

    fn push_checked(
        &mut self,
        name: &str,
        value: &[u8],
        is_reserved: fn(&[u8]) -> bool,
    ) -> Result<(), MetadataError> {
        if !is_name(name.as_bytes()) {
            return Err(MetadataError::Name(name.to_owned()));
        }
        if is_reserved(name.as_bytes()) {
            return Err(MetadataError::Reserved(name.to_owned()));
        }
        // Several base64 values of one name may be joined with commas.
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=,".contains(byte);
        if is_binary(name.as_bytes()) {
            if !value.iter().all(is_base64) {
                return Err(MetadataError::Binary(name.to_owned()));
            }
        } else if !is_text(value) {
            return Err(MetadataError::Text(name.to_owned()));
        }
        self.push_received(name.as_bytes(), value);
        Ok(())
    }

    /// As [`Metadata::push`], with arbitrary bytes; `name` must end in `-bin`.
    ///
    /// # Errors
    /// As [`Metadata::push`].
    pub fn push_binary(&mut self, name: &str, bytes: &[u8]) -> Result<(), MetadataError> {
        let mut value = Vec::new();
        base64::encode(bytes, &mut value);
        self.push(name, &value)
    }

    /// Adds a received field. The limit on header lists keeps the text far below 4 GiB.
    #[inline]
    pub fn push_received(&mut self, name: &[u8], value: &[u8]) {
        self.text.extend_from_slice(name);
        let name = self.text.len() as u32;
        self.text.extend_from_slice(value);
        self.fields.push(Ends { name, value: self.text.len() as u32 });
    }

    /// Removes all fields and keeps the allocations.
    pub fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
    }

    /// The first value of the field `name`, as on the wire.
    pub fn find(&self, name: &str) -> Option<&[u8]> {
        self.find_all(name).next()
    }

    /// All values of the field `name`, in order, as on the wire.
    pub fn find_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.iter().filter(move |(field, _)| *field == name.as_bytes()).map(|(_, value)| value)
    }

    /// The first value of the field `name`, if it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        core::str::from_utf8(self.find(name)?).ok()
    }

    /// The bytes of the first value of the `-bin` field `name`, whose base64 may be padded.
    ///
    /// # Errors
    /// When it is not base64: an error of the peer, which affects this call only.
    pub fn find_binary(&self, name: &str) -> Result<Option<Vec<u8>>, MalformedBinary> {
        self.find_all_binary(name).next().transpose()
    }

    /// The bytes of all values of the `-bin` field `name`. Values that were joined with commas on
    /// their way are split.
    ///
    /// # Errors
    /// As [`Metadata::find_binary`], for each value separately.
    pub fn find_all_binary(
        &self,
        name: &str,
    ) -> impl Iterator<Item = Result<Vec<u8>, MalformedBinary>> {
        self.find_all(name).flat_map(|value| value.split(|byte| *byte == b',')).map(|part| {
            base64::decode(part.trim_ascii()).ok_or_else(|| MalformedBinary(name.into()))
        })
    }

    /// All fields: name and value, as on the wire.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.fields.iter().map(move |ends| {
            let (name, value) = (ends.name as usize, ends.value as usize);
            let field = (&self.text[start..name], &self.text[name..value]);
            start = value;
            field
        })
    }

    /// Memory held for the fields, used or not, bytes.
    pub fn allocated_bytes(&self) -> usize {
        self.text.capacity() + self.fields.capacity() * size_of::<Ends>()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// Whether this is a valid metadata name. Reserved names count as valid.
/// RFC 9113, sections 8.1 and 8.2.
pub fn is_name(name: &[u8]) -> bool {
    let is_legal = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    !name.is_empty() && name.iter().all(is_legal)
}

/// Whether the values of a field with this name are binary.
pub fn is_binary(name: &[u8]) -> bool {
    name.ends_with(b"-bin")
}

/// Whether this is a valid value for a name without `-bin`: PROTOCOL-HTTP2.md, "ASCII-Value".
pub fn is_text(value: &[u8]) -> bool {
    value.iter().all(|byte| matches!(byte, b' '..=b'~')) && value.trim_ascii() == value
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn received(fields: &[(&str, &[u8])]) -> Metadata {
        let mut metadata = Metadata::new();
        for (name, value) in fields {
            metadata.push_received(name.as_bytes(), value);
        }
        metadata
    }

    #[test]
    fn fields_are_found_by_name_and_kept_in_order() {
        let mut metadata = received(&[("a", b"1"), ("b", b""), ("a", b"\xff")]);
        assert_eq!(metadata.find("a"), Some(&b"1"[..]));
        assert_eq!(metadata.text("b"), Some(""));
        assert_eq!(metadata.find("c"), None);
        let all: Vec<_> = metadata.iter().collect();
        assert_eq!(all, [(&b"a"[..], &b"1"[..]), (b"b", b""), (b"a", b"\xff")]);
        metadata.clear();
        assert!(metadata.is_empty());
    }

    #[test]
    fn binary_values_are_read_padded_unpadded_and_joined() {
        let metadata =
            received(&[("a-bin", b"Zg"), ("a-bin", b"Zm8=,Zm9v, Zg=="), ("b-bin", b"Z*")]);
        let all: Result<Vec<_>, _> = metadata.find_all_binary("a-bin").collect();
        assert_eq!(all.unwrap(), [&b"f"[..], b"fo", b"foo", b"f"]);
        assert_eq!(metadata.find_binary("a-bin"), Ok(Some(b"f".to_vec())));
        assert_eq!(metadata.find_binary("c-bin"), Ok(None));
        let malformed = metadata.find_binary("b-bin").unwrap_err();
        assert_eq!(Status::from(malformed).code, Code::Internal);
    }

    #[test]
    fn what_grpc_can_carry_is_taken() {
        let mut metadata = Metadata::new();
        for (name, value) in [
            ("x-good", &b"plain ~ text"[..]),
            ("x_.9-bin", b"Zg==,Zm8"),
            ("grpc-status-details-bin", b""),
        ] {
            assert_eq!(metadata.push(name, value), Ok(()), "{name}");
        }
        assert_eq!(metadata.push_binary("x-any-bin", b" \n\xff"), Ok(()));
        assert_eq!(metadata.find("x-any-bin"), Some(&b"IAr/"[..]));
        assert_eq!(metadata.len(), 4);
    }

    #[test]
    fn what_grpc_cannot_carry_is_refused() {
        let mut metadata = Metadata::new();
        for name in ["", "Upper", ":path", "a b", "\u{fc}"] {
            let refused = metadata.push(name, b"x");
            assert_eq!(refused, Err(MetadataError::Name(name.to_owned())));
        }
        for name in [
            "te",
            "connection",
            "grpc-status",
            "grpc-anything",
            "content-type",
            "content-length",
            "transfer-encoding",
        ] {
            let refused = metadata.push(name, b"x");
            assert_eq!(refused, Err(MetadataError::Reserved(name.to_owned())));
        }
        for value in [&b" x"[..], b"x ", b"\n", b"\xff", b"1\r\nx-smuggled: 1"] {
            let refused = metadata.push("x-text", value);
            assert_eq!(refused, Err(MetadataError::Text("x-text".to_owned())));
        }
        for value in [&b"*"[..], b"a b"] {
            let refused = metadata.push("x-bin", value);
            assert_eq!(refused, Err(MetadataError::Binary("x-bin".to_owned())));
        }
        assert!(metadata.is_empty());
    }

    #[test]
    fn fields_of_http_and_grpc_are_no_metadata_of_a_response() {
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
        let metadata = Metadata::of_response(&list);
        let names: Vec<_> = metadata.iter().map(|(name, _)| name).collect();
        let expected: [&[u8]; 4] =
            [b"x-plain", b"x-trace-bin", b"x-bad-bin", b"grpc-status-details-bin"];
        assert_eq!(names, expected);
        assert_eq!(metadata.text("x-plain"), Some("a, b"));
        let traces: Result<Vec<_>, _> = metadata.find_all_binary("x-trace-bin").collect();
        assert_eq!(traces.unwrap(), [vec![0, 1], vec![2, 3]]);
        assert!(metadata.find_binary("x-bad-bin").is_err());
        let details = metadata.find_binary("grpc-status-details-bin");
        assert_eq!(details, Ok(Some(vec![8, 5])));
    }
}
