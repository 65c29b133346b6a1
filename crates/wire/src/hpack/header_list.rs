//! The fields of one header block, in one arena.

use super::{FIELD_OVERHEAD_BYTES, HpackError};
use alloc::vec::Vec;

/// How far beyond its size limit a list is counted before the block is abandoned. A list somewhat
/// too large costs the peer one request, and the connection lives on. One far too large is an
/// attack (an index of one byte may stand for a field of kilobytes), and counting it is work.
const ABANDON_FACTOR: usize = 4;

/// One field of a header block, borrowed from a list or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field<'list> {
    /// The name as it was sent; case and characters are not checked here.
    pub name: &'list [u8],
    /// The value as it was sent; characters are not checked here.
    pub value: &'list [u8],
    /// The field is sensitive: a proxy must not put it into a table (RFC 7541, section 6.2.3).
    pub never_indexed: bool,
}

/// Header fields in order, stored in two flat vectors that are reused from block to block.
///
/// The list has limits. Fields that exceed them are counted but not stored, so that a decoder can
/// go on to the end of the block and keep its table correct; see [`overflowed`](Self::overflowed).
#[derive(Clone, Debug)]
pub struct HeaderList {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    size_bytes: usize,
    max_size_bytes: usize,
    max_fields: usize,
    overflowed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    name_end: usize,
    end: usize,
    never_indexed: bool,
}

impl HeaderList {
    /// An empty list that stores up to `max_size_bytes` (counted as by
    /// [`size_bytes`](Self::size_bytes)) and up to `max_fields` fields. Nothing is allocated before
    /// the first field.
    #[must_use]
    pub const fn new(max_size_bytes: usize, max_fields: usize) -> Self {
        Self {
            bytes: Vec::new(),
            spans: Vec::new(),
            size_bytes: 0,
            max_size_bytes,
            max_fields,
            overflowed: false,
        }
    }

    /// Empties the list, sets these limits, and keeps the allocations.
    pub(crate) fn renew(&mut self, max_size_bytes: usize, max_fields: usize) {
        self.clear();
        self.max_size_bytes = max_size_bytes;
        self.max_fields = max_fields;
    }

    /// The stored fields in the order in which they were sent.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Field<'_>> + Clone {
        self.spans.iter().map(|span| self.field(span))
    }

    /// The value of the first field with exactly this name.
    #[inline]
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<&[u8]> {
        self.iter().find(|field| field.name == name).map(|field| field.value)
    }

    /// How many fields are stored.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// True while no field is stored.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Size of all fields since the last [`clear`](Self::clear), in bytes, including those over the
    /// limits: names, values and 32 for each field (RFC 9113, section 6.5.2).
    #[inline]
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// True when a limit was exceeded: the stored fields are then only the beginning.
    #[inline]
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Memory held for names and values, in bytes. It stays bounded by the limits of the list and
    /// of the decoder's table, whatever a peer sends.
    #[must_use]
    pub fn allocated_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Memory held in all, bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }

    /// Empties the list and gives its memory back.
    pub(crate) fn give_back(&mut self) {
        *self = Self::new(self.max_size_bytes, self.max_fields);
    }

    /// Removes all fields and keeps the allocations.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.size_bytes = 0;
        self.overflowed = false;
    }

    /// Adds a field, or only counts it if a limit is exceeded now or was before.
    pub fn push(&mut self, name: &[u8], value: &[u8], never_indexed: bool) {
        if self.admit(name.len().saturating_add(value.len())) {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(name);
            self.bytes.extend_from_slice(value);
            self.record(start, name.len(), never_indexed);
        }
    }

    /// As [`push`](Self::push), for a name and a value that follow each other in memory.
    #[inline]
    pub(super) fn push_joined(
        &mut self,
        joined: &[u8],
        name_bytes: usize,
    ) -> Result<(), HpackError> {
        if !self.admit(joined.len()) {
            return self.ensure_bearable();
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(joined);
        self.record(start, name_bytes, false);
        Ok(())
    }

    /// Begins a field whose bytes are decoded in place, after all others.
    #[inline]
    pub(super) fn draft(&mut self) -> Draft<'_> {
        Draft { start: self.bytes.len(), name_end: self.bytes.len(), skipped_bytes: 0, list: self }
    }

    /// How many bytes the name and value of the next field may have together to be stored.
    #[inline]
    pub(super) fn room_bytes(&self) -> usize {
        if self.overflowed || self.spans.len() >= self.max_fields {
            return 0;
        }
        self.max_size_bytes.saturating_sub(self.size_bytes.saturating_add(FIELD_OVERHEAD_BYTES))
    }

    /// Counts a field and returns whether it may be stored.
    #[inline]
    fn admit(&mut self, field_bytes: usize) -> bool {
        let counted = field_bytes.saturating_add(FIELD_OVERHEAD_BYTES);
        self.size_bytes = self.size_bytes.saturating_add(counted);
        self.overflowed |=
            self.size_bytes > self.max_size_bytes || self.spans.len() >= self.max_fields;
        !self.overflowed
    }

    #[inline]
    fn record(&mut self, start: usize, name_bytes: usize, never_indexed: bool) {
        let end = self.bytes.len();
        self.spans.push(Span { start, name_end: start + name_bytes, end, never_indexed });
    }

    #[cold]
    fn ensure_bearable(&self) -> Result<(), HpackError> {
        if self.size_bytes > self.max_size_bytes.saturating_mul(ABANDON_FACTOR) {
            return Err(HpackError::TooLarge);
        }
        Ok(())
    }

    #[inline]
    fn field(&self, span: &Span) -> Field<'_> {
        Field {
            name: &self.bytes[span.start..span.name_end],
            value: &self.bytes[span.name_end..span.end],
            never_indexed: span.never_indexed,
        }
    }
}

/// A field being decoded into the arena of a list.
pub(super) struct Draft<'list> {
    list: &'list mut HeaderList,
    start: usize,
    name_end: usize,
    skipped_bytes: usize,
}

impl Draft<'_> {
    /// Where the next bytes go.
    #[inline]
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.list.bytes
    }

    /// How many bytes have been written so far.
    #[inline]
    pub(super) fn written_bytes(&self) -> usize {
        self.list.bytes.len() - self.start
    }

    /// Notes that bytes were counted but not written: the field is too large to be kept.
    #[inline]
    pub(super) fn skip(&mut self, skipped_bytes: usize) {
        self.skipped_bytes += skipped_bytes;
    }

    /// Ends the name: bytes written from now on belong to the value.
    #[inline]
    pub(super) fn end_name(&mut self) {
        self.name_end = self.list.bytes.len();
    }

    /// The name and value as written; `None` when some of it was skipped.
    #[inline]
    pub(super) fn whole(&self) -> Option<(&[u8], &[u8])> {
        if self.skipped_bytes != 0 {
            return None;
        }
        Some(self.list.bytes[self.start..].split_at(self.name_end - self.start))
    }

    /// Adds the field to the list, or removes its bytes if a limit is exceeded.
    #[inline]
    pub(super) fn finish(self, never_indexed: bool) -> Result<(), HpackError> {
        let Self { list, start, name_end, skipped_bytes } = self;
        if list.admit(list.bytes.len() - start + skipped_bytes) {
            list.record(start, name_end - start, never_indexed);
            return Ok(());
        }
        list.bytes.truncate(start);
        list.ensure_bearable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_order_and_the_first_of_a_name_is_found() {
        let mut list = HeaderList::new(1000, 10);
        list.push(b"a", b"1", false);
        list.push(b"a", b"2", true);
        list.push(b"", b"", false);
        assert_eq!(list.find(b"a"), Some(&b"1"[..]));
        assert_eq!(list.find(b"b"), None);
        let second = list.iter().nth(1);
        assert_eq!(second, Some(Field { name: b"a", value: b"2", never_indexed: true }));
        assert_eq!((list.len(), list.size_bytes(), list.overflowed()), (3, 4 + 3 * 32, false));
    }

    #[test]
    fn a_field_over_the_size_limit_is_counted_and_no_later_one_is_stored() {
        let mut list = HeaderList::new(100, 10);
        list.push(b"name", &[b'v'; 64], false);
        assert!(!list.overflowed(), "exactly at the limit");
        list.push(b"", b"", false);
        assert!(list.overflowed());
        assert_eq!((list.len(), list.size_bytes()), (1, 132));
        list.clear();
        assert_eq!((list.len(), list.size_bytes(), list.overflowed()), (0, 0, false));
    }

    #[test]
    fn a_field_over_the_field_limit_overflows_too() {
        let mut list = HeaderList::new(1000, 2);
        for _ in 0..3 {
            list.push(b"n", b"v", false);
        }
        assert_eq!((list.len(), list.overflowed()), (2, true));
    }

    #[test]
    fn clearing_keeps_the_memory() {
        let mut list = HeaderList::new(1000, 10);
        list.push(b"name", b"value", false);
        let before = (list.bytes.capacity(), list.spans.capacity());
        list.clear();
        list.push(b"name", b"value", false);
        assert_eq!((list.bytes.capacity(), list.spans.capacity()), before);
    }

    #[test]
    fn a_draft_over_the_limit_leaves_no_byte_behind() {
        let mut list = HeaderList::new(40, 10);
        let mut draft = list.draft();
        draft.bytes().extend_from_slice(b"name");
        draft.end_name();
        draft.bytes().extend_from_slice(b"value");
        assert_eq!(draft.whole(), Some((&b"name"[..], &b"value"[..])));
        assert_eq!(draft.finish(false), Ok(()));
        assert!(list.overflowed() && list.bytes.is_empty());
    }
}
