//! Metadata: names and values that go with a call.

use std::fmt;

use bookend_wire::grpc::metadata::{decode_binary, encode_binary};
use bookend_wire::grpc::{Code, Status};

/// Metadata that came with a request, in the order in which it came.
///
/// Names are in lower case. Pseudo-headers and the fields that gRPC itself reads are not among it.
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

impl Metadata {
    /// The first value of the field `name`, as it came: values of `-bin` fields are base64.
    pub fn find(&self, name: &str) -> Option<&[u8]> {
        self.iter()
            .find(|(field, _)| *field == name.as_bytes())
            .map(|(_, value)| value)
    }

    /// The first value of the field `name`, where it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.find(name)
            .and_then(|value| std::str::from_utf8(value).ok())
    }

    /// All values of the field `name`, in their order, as they came.
    pub fn find_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.iter()
            .filter(move |(field, _)| *field == name.as_bytes())
            .map(|(_, value)| value)
    }

    /// The octets that the first value of the `-bin` field `name` stands for. Base64 is read with
    /// padding and without.
    ///
    /// # Errors
    /// Where it is no base64: a mistake of the client's, and of this call only.
    pub fn find_binary(&self, name: &str) -> Result<Option<Vec<u8>>, MalformedBinary> {
        self.find_all_binary(name).next().transpose()
    }

    /// What all values of the `-bin` field `name` stand for. Values that were joined with commas on
    /// their way are parted.
    ///
    /// # Errors
    /// As [`Metadata::find_binary`], each value by itself.
    pub fn find_all_binary(
        &self,
        name: &str,
    ) -> impl Iterator<Item = Result<Vec<u8>, MalformedBinary>> {
        let values = self.find_all(name);
        let parts = values.flat_map(|value| value.split(|octet| *octet == b','));
        parts.map(|part| {
            decode_binary(part.trim_ascii()).ok_or_else(|| MalformedBinary(name.into()))
        })
    }

    /// All fields: name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.fields.iter().map(move |ends| {
            let (name, value) = (ends.name as usize, ends.value as usize);
            let field = (&self.text[start..name], &self.text[name..value]);
            start = value;
            field
        })
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Adds a field. The wire's limit on header lists keeps the text far below 4 GiB.
    pub(crate) fn push(&mut self, name: &[u8], value: &[u8]) {
        self.text.extend_from_slice(name);
        let name = self.text.len() as u32;
        self.text.extend_from_slice(value);
        self.fields.push(Ends {
            name,
            value: self.text.len() as u32,
        });
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
    }
}

/// The value of a `-bin` field, of that name, is no base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MalformedBinary(pub String);

impl fmt::Display for MalformedBinary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the value of {} is no base64", self.0)
    }
}

impl std::error::Error for MalformedBinary {}

impl From<MalformedBinary> for Status {
    /// `INTERNAL`, as in grpc-go: the client's library is at fault, not its user.
    fn from(malformed: MalformedBinary) -> Self {
        Status::new(Code::Internal, malformed.to_string())
    }
}

/// Octets as they stand on the wire.
pub(crate) fn base64(octets: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    encode_binary(octets, &mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name_and_kept_in_order() {
        let mut metadata = Metadata::default();
        metadata.push(b"a", b"1");
        metadata.push(b"b", b"");
        metadata.push(b"a", b"\xff");
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
        let mut metadata = Metadata::default();
        metadata.push(b"a-bin", b"Zg");
        metadata.push(b"a-bin", b"Zm8=,Zm9v, Zg==");
        metadata.push(b"b-bin", b"Z*");
        let all: Result<Vec<_>, _> = metadata.find_all_binary("a-bin").collect();
        assert_eq!(all.unwrap(), [&b"f"[..], b"fo", b"foo", b"f"]);
        assert_eq!(metadata.find_binary("a-bin"), Ok(Some(b"f".to_vec())));
        assert_eq!(metadata.find_binary("c-bin"), Ok(None));
        let malformed = metadata.find_binary("b-bin").unwrap_err();
        assert_eq!(Status::from(malformed).code, Code::Internal);
    }
}
