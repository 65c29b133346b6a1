//! Metadata of a request and of a response.

use std::cell::{Cell, RefCell};

use crate::cancellation::{Cancellation, Lasting};

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

/// Metadata that a handler adds to its answer. A handler has it through a shared reference, as it
/// has everything else of its context.
#[derive(Debug, Default)]
pub(crate) struct ResponseMetadata {
    used: Cell<bool>,
    fields: RefCell<ResponseFields>,
}

/// What goes before the message, what goes after it, and who wants to know of the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseFields {
    pub headers: Metadata,
    pub trailers: Metadata,
    lasting: Option<Lasting>,
}

impl ResponseMetadata {
    pub fn add_header(&self, name: &str, value: &[u8]) {
        self.used.set(true);
        self.fields
            .borrow_mut()
            .headers
            .push(name.as_bytes(), value);
    }

    pub fn add_trailer(&self, name: &str, value: &[u8]) {
        self.used.set(true);
        self.fields
            .borrow_mut()
            .trailers
            .push(name.as_bytes(), value);
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
    fn what_was_taken_is_gone() {
        let metadata = ResponseMetadata::default();
        metadata.add_trailer("t", b"1");
        assert!(metadata.used());
        assert_eq!(metadata.take().trailers.len(), 1);
        assert!(!metadata.used());
        assert!(metadata.take().trailers.is_empty());
    }
}
