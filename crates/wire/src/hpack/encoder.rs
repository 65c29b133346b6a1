//! From fields to a header block.

use super::dynamic_table::DynamicTable;
use super::{DEFAULT_TABLE_BYTES, FIELD_OVERHEAD_BYTES, Field, first_table_bytes};
use super::{huffman, integer, lookup_hash, static_table};
use alloc::vec::Vec;

/// What a field may leave in the tables of the peer and of the hops behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Indexing {
    /// Insert the field into the dynamic table: it will be sent again.
    Incremental,
    /// Refer to the tables where they contain the field, but insert nothing: its value varies.
    Without,
    /// Never refer to the field as a whole, and oblige forwarders to do the same: it is a secret
    /// that must not be guessed from the size of a block (RFC 7541, section 7.1.3).
    Never,
}

/// The sending end of HPACK on one connection.
#[derive(Debug)]
pub struct Encoder {
    table: DynamicTable<Key>,
    /// The largest table that we use, whatever the peer allows.
    own_limit_bytes: usize,
    /// The smallest size of the table since the last block, if its size has changed.
    pending_update_bytes: Option<usize>,
}

/// The hashes by which a field is looked up in the dynamic table.
#[derive(Clone, Copy, Debug)]
struct Key {
    name: u32,
    field: u32,
}

/// What the tables contain of a field: the index of the whole field or of its name.
enum Found {
    Field(usize),
    Name(usize),
    Nothing,
}

impl Encoder {
    /// An encoder that uses a dynamic table of up to `max_table_bytes`, but of no more than
    /// [`DEFAULT_TABLE_BYTES`] until the peer's SETTINGS allow more.
    ///
    /// A table smaller than the default is announced at the start of the first block.
    #[must_use]
    pub const fn new(max_table_bytes: usize) -> Self {
        Self {
            table: DynamicTable::new(first_table_bytes(max_table_bytes)),
            own_limit_bytes: max_table_bytes,
            pending_update_bytes: first_update_bytes(max_table_bytes),
        }
    }

    /// Resets the encoder for a new connection with the same limit, and keeps its allocations.
    pub(crate) fn renew(&mut self) {
        self.table.renew(first_table_bytes(self.own_limit_bytes));
        self.pending_update_bytes = first_update_bytes(self.own_limit_bytes);
    }

    /// Memory held for the dynamic table, bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.table.held_bytes()
    }

    /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE, in bytes.
    ///
    /// Call it between blocks and before acknowledging the SETTINGS. The next
    /// [`begin_block`](Self::begin_block) announces the size in use.
    /// RFC 7541, sections 4.2 and 6.3.
    pub fn set_peer_limit(&mut self, max_table_bytes: usize) {
        let size_bytes = max_table_bytes.min(self.own_limit_bytes);
        if size_bytes == self.table.max_size_bytes() {
            return;
        }
        self.table.resize(size_bytes);
        let lowest_bytes = self.pending_update_bytes.unwrap_or(size_bytes);
        self.pending_update_bytes = Some(lowest_bytes.min(size_bytes));
    }

    /// Begins a header block; must be called before its first [`field`](Self::field).
    ///
    /// Appends the size updates that are due: the lowest size since the last block and the one in
    /// use, if they differ (RFC 7541, section 4.2). A block that carries an update changes the
    /// [`generation`](Self::generation) and must not be sent twice.
    /// RFC 9113, section 4.3.1.
    #[inline]
    pub fn begin_block(&mut self, out: &mut Vec<u8>) {
        if let Some(lowest_bytes) = self.pending_update_bytes.take() {
            self.write_size_update(lowest_bytes, out);
        }
    }

    /// Appends one field.
    ///
    /// A field larger than the table is not inserted, whatever `indexing` says.
    /// RFC 7541, section 6.2.3.
    pub fn field(&mut self, name: &[u8], value: &[u8], indexing: Indexing, out: &mut Vec<u8>) {
        let key = Key::of(name, value);
        let name_index = match self.find(name, value, key) {
            Found::Field(index) if indexing != Indexing::Never => {
                return integer::encode(index, 7, 0x80, out);
            }
            Found::Field(index) | Found::Name(index) => index,
            Found::Nothing => 0,
        };
        match indexing {
            Indexing::Incremental if self.fits(name, value) => {
                integer::encode(name_index, 6, 0x40, out);
                self.table.insert(name, value, key);
            }
            Indexing::Incremental | Indexing::Without => integer::encode(name_index, 4, 0x00, out),
            Indexing::Never => integer::encode(name_index, 4, 0x10, out),
        }
        if name_index == 0 {
            write_string(name, out);
        }
        write_string(value, out);
    }

    /// A number that is different after every change of the dynamic table, when a size update
    /// becomes due, and when it is written.
    ///
    /// If writing a block, from [`begin_block`](Self::begin_block) on, left this number unchanged,
    /// the block may be copied and sent again for as long as the number stays the same.
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

    #[cold]
    fn write_size_update(&mut self, lowest_bytes: usize, out: &mut Vec<u8>) {
        let size_bytes = self.table.max_size_bytes();
        if lowest_bytes < size_bytes {
            integer::encode(lowest_bytes, 5, 0x20, out);
        }
        integer::encode(size_bytes, 5, 0x20, out);
        self.table.advance_generation();
    }

    #[inline]
    fn fits(&self, name: &[u8], value: &[u8]) -> bool {
        name.len() + value.len() + FIELD_OVERHEAD_BYTES <= self.table.max_size_bytes()
    }

    #[inline]
    fn find(&self, name: &[u8], value: &[u8], key: Key) -> Found {
        let static_name = static_table::find_name(name, key.name);
        if let Some(index) = static_name
            && let Some(index) = static_table::find_value(index, value)
        {
            return Found::Field(index);
        }
        match (self.find_dynamic(name, value, key), static_name) {
            (Found::Name(_) | Found::Nothing, Some(index)) => Found::Name(index),
            (found, _) => found,
        }
    }

    #[inline]
    fn find_dynamic(&self, name: &[u8], value: &[u8], key: Key) -> Found {
        let mut found = Found::Nothing;
        for (age, candidate) in self.table.keys().enumerate() {
            let index = static_table::LENGTH + 1 + age;
            if candidate.field == key.field && self.table.is_field(age, name, value) {
                return Found::Field(index);
            }
            let is_new_name = candidate.name == key.name && matches!(found, Found::Nothing);
            if is_new_name && self.table.is_name(age, name) {
                found = Found::Name(index);
            }
        }
        found
    }
}

/// The size update that the first block must carry: for a table smaller than the default.
const fn first_update_bytes(own_limit_bytes: usize) -> Option<usize> {
    if own_limit_bytes < DEFAULT_TABLE_BYTES { Some(own_limit_bytes) } else { None }
}

impl Key {
    #[inline]
    fn of(name: &[u8], value: &[u8]) -> Self {
        let name = lookup_hash::hash(name);
        Self { name, field: lookup_hash::join(name, lookup_hash::hash(value)) }
    }
}

/// Appends a string literal, Huffman-coded where that is shorter (RFC 7541, section 5.2).
#[inline]
fn write_string(text: &[u8], out: &mut Vec<u8>) {
    let encoded_bytes = huffman::encoded_len(text);
    if encoded_bytes < text.len() {
        integer::encode(encoded_bytes, 7, 0x80, out);
        huffman::encode(text, out);
    } else {
        write_plain_string(text, out);
    }
}

/// Appends a string literal without Huffman coding (RFC 7541, section 5.2).
#[inline]
pub(crate) fn write_plain_string(text: &[u8], out: &mut Vec<u8>) {
    integer::encode(text.len(), 7, 0x00, out);
    out.extend_from_slice(text);
}
