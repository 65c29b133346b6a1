//! From a header block to a list of fields.

use super::dynamic_table::DynamicTable;
use super::header_list::Draft;
use super::reader::{Literal, Reader};
use super::{FIELD_OVERHEAD_BYTES, Field, HeaderList, HpackError};
use super::{first_table_bytes, huffman, static_table};

/// The receiving end of HPACK on one connection.
#[derive(Debug)]
pub struct Decoder {
    table: DynamicTable<()>,
    /// The largest table that our SETTINGS allow.
    limit_bytes: usize,
    /// SETTINGS lowered the limit below the table's size: the next block must begin with a size
    /// update to at most this.
    required_update_bytes: Option<usize>,
}

impl Decoder {
    /// A decoder whose peer may use a dynamic table of up to `max_table_bytes`.
    ///
    /// The table begins at [`DEFAULT_TABLE_BYTES`](super::DEFAULT_TABLE_BYTES), or at
    /// `max_table_bytes` if that is less. A peer that has not read our SETTINGS yet relies on the
    /// default: unless the peer knows better, begin with the default and call
    /// [`set_limit`](Self::set_limit) when SETTINGS are acknowledged.
    #[must_use]
    pub const fn new(max_table_bytes: usize) -> Self {
        Self {
            table: DynamicTable::new(first_table_bytes(max_table_bytes)),
            limit_bytes: max_table_bytes,
            required_update_bytes: None,
        }
    }

    /// Resets the decoder for a new connection and keeps its allocations.
    pub(crate) fn renew(&mut self, max_table_bytes: usize) {
        self.table.renew(first_table_bytes(max_table_bytes));
        self.limit_bytes = max_table_bytes;
        self.required_update_bytes = None;
    }

    /// Sets how large a table the peer may use, in bytes.
    ///
    /// Call it when the peer has acknowledged the SETTINGS that carry the value, not when they are
    /// sent: blocks before the acknowledgement still follow the old limit. If the table is larger
    /// than the new limit, the peer's next block must begin with a size update, and is otherwise
    /// refused with [`HpackError::SizeUpdateMissing`] (RFC 7541, section 4.2). If several limits
    /// are set between two blocks, the update must respect the lowest.
    pub fn set_limit(&mut self, max_table_bytes: usize) {
        if max_table_bytes < self.table.max_size_bytes() {
            let lowest_bytes = self.required_update_bytes.unwrap_or(max_table_bytes);
            self.required_update_bytes = Some(lowest_bytes.min(max_table_bytes));
        }
        if max_table_bytes != self.limit_bytes {
            self.limit_bytes = max_table_bytes;
            self.table.advance_generation();
        }
    }

    /// Decodes `block`, a whole header block, into `list`, which is cleared first.
    ///
    /// Fields beyond the limits of the list are decoded but not stored; [`HeaderList::overflowed`]
    /// reports them.
    ///
    /// # Errors
    ///
    /// When the peer broke a rule of HPACK, or sent far more than the list may hold. The list is
    /// then useless, no further block can be decoded, and the connection must be closed.
    /// RFC 7541, sections 2.1 and 3.2.
    pub fn decode(&mut self, block: &[u8], list: &mut HeaderList) -> Result<(), HpackError> {
        list.clear();
        let mut reader = Reader::new(block);
        self.decode_size_updates(&mut reader)?;
        while let Some(first) = reader.byte() {
            match Representation::of(first) {
                Representation::Indexed => self.decode_indexed(first, &mut reader, list)?,
                Representation::Literal { prefix_bits, kind } => {
                    let name_index = reader.integer(first, prefix_bits)?;
                    self.decode_literal(name_index, kind, &mut reader, list)?;
                }
                Representation::SizeUpdate => return Err(HpackError::SizeUpdateMisplaced),
            }
        }
        Ok(())
    }

    /// A number that is different after every change of the dynamic table or its limit.
    ///
    /// If decoding a block left this number unchanged, the block decodes to the same fields, and
    /// need not be decoded again, for as long as the number stays the same.
    #[inline]
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.table.generation()
    }

    /// The fields of the dynamic table, from the newest (index 62) to the oldest.
    pub fn table_fields(&self) -> impl Iterator<Item = Field<'_>> {
        self.table.fields()
    }

    /// Size of the dynamic table in bytes, as RFC 7541, section 4.1 counts it.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        self.table.size_bytes()
    }

    /// Memory held for the dynamic table, bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.table.held_bytes()
    }

    /// RFC 9113, section 4.3.1.
    #[inline]
    fn decode_size_updates(&mut self, reader: &mut Reader<'_>) -> Result<(), HpackError> {
        while let Some(first) = reader.peek()
            && matches!(Representation::of(first), Representation::SizeUpdate)
        {
            self.decode_size_update(reader)?;
        }
        if self.required_update_bytes.is_some() {
            return Err(HpackError::SizeUpdateMissing);
        }
        Ok(())
    }

    /// RFC 7541, section 6.3.
    #[cold]
    fn decode_size_update(&mut self, reader: &mut Reader<'_>) -> Result<(), HpackError> {
        let first = reader.byte().ok_or(HpackError::Truncated)?;
        let max_size_bytes = reader.integer(first, 5)?;
        let lowest_bytes = self.required_update_bytes.take().unwrap_or(self.limit_bytes);
        if max_size_bytes > lowest_bytes {
            return Err(HpackError::SizeUpdateTooLarge);
        }
        self.table.resize(max_size_bytes);
        Ok(())
    }

    #[inline]
    fn decode_indexed(
        &self,
        first: u8,
        reader: &mut Reader<'_>,
        list: &mut HeaderList,
    ) -> Result<(), HpackError> {
        let index = reader.integer(first, 7)?;
        let (joined, name_bytes) = self.joined(index)?;
        list.push_joined(joined, name_bytes)
    }

    /// RFC 9113, section 10.5.1.
    fn decode_literal(
        &mut self,
        name_index: usize,
        kind: LiteralKind,
        reader: &mut Reader<'_>,
        list: &mut HeaderList,
    ) -> Result<(), HpackError> {
        let largest_entry_bytes = self.table.max_size_bytes().saturating_sub(FIELD_OVERHEAD_BYTES);
        let kept_bytes = list.room_bytes().max(largest_entry_bytes);
        let mut draft = list.draft();
        if name_index == 0 {
            append(reader.literal()?, kept_bytes, &mut draft)?;
        } else {
            let (joined, name_bytes) = self.joined(name_index)?;
            draft.bytes().extend_from_slice(&joined[..name_bytes]);
        }
        draft.end_name();
        append(reader.literal()?, kept_bytes, &mut draft)?;
        if kind == LiteralKind::Incremental {
            match draft.whole() {
                Some((name, value)) => self.table.insert(name, value, ()),
                None => self.table.clear(),
            }
        }
        draft.finish(kind == LiteralKind::NeverIndexed)
    }

    /// The field at an index into both tables: name and value joined, and the length of the name.
    /// RFC 7541, sections 2.3.3 and 6.1.
    #[inline]
    fn joined(&self, index: usize) -> Result<(&[u8], usize), HpackError> {
        static_table::joined(index)
            .or_else(|| self.table.joined(index.checked_sub(static_table::LENGTH + 1)?))
            .ok_or(HpackError::InvalidIndex)
    }
}

/// Decodes a string to the end of the draft. Only counts it if the draft would grow beyond
/// `kept_bytes`, since such a field fits neither the list nor the table.
#[inline]
fn append(
    literal: Literal<'_>,
    kept_bytes: usize,
    draft: &mut Draft<'_>,
) -> Result<(), HpackError> {
    let room_bytes = kept_bytes.saturating_sub(draft.written_bytes());
    let length = literal.bytes.len();
    if !literal.is_huffman {
        if length > room_bytes {
            draft.skip(length);
        } else {
            draft.bytes().extend_from_slice(literal.bytes);
        }
        return Ok(());
    }
    let mut most_bytes = huffman::max_decoded_len(length);
    if most_bytes > room_bytes {
        most_bytes = huffman::decoded_len(literal.bytes)?;
        if most_bytes > room_bytes {
            draft.skip(most_bytes);
            return Ok(());
        }
    }
    huffman::decode(literal.bytes, most_bytes, draft.bytes())
}

/// The kind of representation that the first byte selects (RFC 7541, section 6).
enum Representation {
    Indexed,
    Literal { prefix_bits: u32, kind: LiteralKind },
    SizeUpdate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LiteralKind {
    Incremental,
    WithoutIndexing,
    NeverIndexed,
}

impl Representation {
    #[inline]
    fn of(first: u8) -> Self {
        match first.leading_zeros() {
            0 => Self::Indexed,
            1 => Self::Literal { prefix_bits: 6, kind: LiteralKind::Incremental },
            2 => Self::SizeUpdate,
            3 => Self::Literal { prefix_bits: 4, kind: LiteralKind::NeverIndexed },
            _ => Self::Literal { prefix_bits: 4, kind: LiteralKind::WithoutIndexing },
        }
    }
}
