//! The dynamic table (RFC 7541, sections 2.3.2 and 4).

use super::{FIELD_OVERHEAD_BYTES, Field};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Smallest byte store, so that it does not grow with each of the first few fields.
const FIRST_STORE_BYTES: usize = 256;

/// A first-in first-out table of fields, indexed from the newest.
///
/// The bytes of all entries are in one store, oldest first. Inserting appends; evicting only moves
/// the start. When the store is full, the live bytes move to its front, at most once for every
/// table's worth of inserted bytes. Once the store has grown to twice the table's size, inserting
/// allocates nothing.
#[derive(Debug)]
pub(super) struct DynamicTable<Key> {
    entries: VecDeque<Entry<Key>>,
    store: Vec<u8>,
    /// Position of the first byte of the store, counted from the first byte ever stored, so that
    /// entries need no change when bytes move. It wraps; only differences matter.
    store_position: usize,
    size_bytes: usize,
    max_size_bytes: usize,
    generation: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<Key> {
    position: usize,
    name_bytes: usize,
    value_bytes: usize,
    key: Key,
}

impl<Key> Entry<Key> {
    #[inline]
    fn size_bytes(&self) -> usize {
        self.name_bytes + self.value_bytes + FIELD_OVERHEAD_BYTES
    }
}

impl<Key: Copy> DynamicTable<Key> {
    pub(super) const fn new(max_size_bytes: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            store: Vec::new(),
            store_position: 0,
            size_bytes: 0,
            max_size_bytes,
            generation: 0,
        }
    }

    /// A number that is different after every change of the table.
    #[inline]
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Invalidates everything cached about the table.
    #[inline]
    pub(super) fn advance_generation(&mut self) {
        self.generation = self.generation.wrapping_add(1);
    }

    #[inline]
    pub(super) fn max_size_bytes(&self) -> usize {
        self.max_size_bytes
    }

    #[inline]
    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Memory held for the entries, bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.store.capacity() + self.entries.capacity() * size_of::<Entry<Key>>()
    }

    /// The entry `age` insertions ago: its name and value joined, and the length of the name.
    #[inline]
    pub(super) fn joined(&self, age: usize) -> Option<(&[u8], usize)> {
        let entry = self.entries.get(age)?;
        Some((self.bytes(entry), entry.name_bytes))
    }

    /// Whether the entry `age` insertions ago is this field.
    #[inline]
    pub(super) fn is_field(&self, age: usize, name: &[u8], value: &[u8]) -> bool {
        self.joined(age).is_some_and(|(joined, name_bytes)| {
            name_bytes == name.len() && joined.starts_with(name) && joined[name_bytes..] == *value
        })
    }

    /// Whether the entry `age` insertions ago has this name.
    #[inline]
    pub(super) fn is_name(&self, age: usize, name: &[u8]) -> bool {
        self.joined(age).is_some_and(|(joined, name_bytes)| joined[..name_bytes] == *name)
    }

    /// Keys from the newest entry to the oldest.
    #[inline]
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.entries.iter().map(|entry| entry.key)
    }

    /// All entries from the newest to the oldest.
    pub(super) fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        self.entries.iter().map(|entry| {
            let (name, value) = self.bytes(entry).split_at(entry.name_bytes);
            Field { name, value, never_indexed: false }
        })
    }

    /// Inserts a field and evicts what no longer fits; a field larger than the table empties it
    /// (RFC 7541, section 4.4).
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8], key: Key) {
        let (name_bytes, value_bytes) = (name.len(), value.len());
        let added_bytes = name_bytes + value_bytes + FIELD_OVERHEAD_BYTES;
        let Some(allowed_bytes) = self.max_size_bytes.checked_sub(added_bytes) else {
            return self.clear();
        };
        self.evict_to(allowed_bytes);
        self.make_room(name_bytes + value_bytes);
        let position = self.store_position.wrapping_add(self.store.len());
        self.store.extend_from_slice(name);
        self.store.extend_from_slice(value);
        self.entries.push_front(Entry { position, name_bytes, value_bytes, key });
        self.size_bytes += added_bytes;
        self.advance_generation();
    }

    /// Changes the size of the table and evicts what no longer fits.
    pub(super) fn resize(&mut self, max_size_bytes: usize) {
        if max_size_bytes != self.max_size_bytes {
            self.max_size_bytes = max_size_bytes;
            self.evict_to(max_size_bytes);
            self.advance_generation();
        }
    }

    /// Resets the table to empty, with this size, and keeps its allocations. Everything cached
    /// about it becomes invalid.
    pub(super) fn renew(&mut self, max_size_bytes: usize) {
        self.entries.clear();
        self.store.clear();
        self.size_bytes = 0;
        self.max_size_bytes = max_size_bytes;
        self.advance_generation();
    }

    /// Evicts all entries.
    pub(super) fn clear(&mut self) {
        self.evict_to(0);
    }

    fn evict_to(&mut self, allowed_bytes: usize) {
        while self.size_bytes > allowed_bytes
            && let Some(oldest) = self.entries.pop_back()
        {
            self.size_bytes -= oldest.size_bytes();
            self.advance_generation();
        }
    }

    /// Makes room in the store for `added_bytes` more, which the table's size allows.
    fn make_room(&mut self, added_bytes: usize) {
        if self.store.len() + added_bytes <= self.store.capacity() {
            return;
        }
        self.drop_dead_bytes();
        // At twice the live bytes, the next move comes after as many insertions, in bytes, as it
        // copies.
        let wanted_bytes = (2 * (self.store.len() + added_bytes)).max(FIRST_STORE_BYTES);
        if wanted_bytes > self.store.capacity() {
            self.store.reserve_exact(wanted_bytes - self.store.len());
        }
    }

    fn drop_dead_bytes(&mut self) {
        let dead_bytes = match self.entries.back() {
            Some(oldest) => self.offset(oldest),
            None => self.store.len(),
        };
        self.store.copy_within(dead_bytes.., 0);
        self.store.truncate(self.store.len() - dead_bytes);
        self.store_position = self.store_position.wrapping_add(dead_bytes);
    }

    #[inline]
    fn bytes(&self, entry: &Entry<Key>) -> &[u8] {
        let start = self.offset(entry);
        &self.store[start..start + entry.name_bytes + entry.value_bytes]
    }

    #[inline]
    fn offset(&self, entry: &Entry<Key>) -> usize {
        entry.position.wrapping_sub(self.store_position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(table: &DynamicTable<()>) -> Vec<Vec<u8>> {
        table.fields().map(|field| field.name.to_vec()).collect()
    }

    #[test]
    fn the_newest_entry_has_age_zero_and_the_oldest_leaves_first() {
        let mut table = DynamicTable::new(3 * 34);
        for name in [b"a", b"b", b"c", b"d"] {
            table.insert(name, b"1", ());
        }
        assert_eq!(names(&table), [b"d", b"c", b"b"]);
        assert_eq!(table.joined(0), Some((&b"d1"[..], 1)));
        assert_eq!(table.joined(2), Some((&b"b1"[..], 1)));
        assert_eq!(table.joined(3), None);
        assert_eq!(table.size_bytes(), 3 * 34);
    }

    #[test]
    fn a_field_larger_than_the_table_empties_it() {
        let mut table = DynamicTable::new(40);
        table.insert(b"a", b"", ());
        table.insert(b"a", &[0; 40], ());
        assert_eq!((table.size_bytes(), names(&table).len()), (0, 0));
    }

    #[test]
    fn a_smaller_size_evicts_and_a_larger_one_does_not_bring_back() {
        let mut table = DynamicTable::new(200);
        table.insert(b"a", b"", ());
        table.insert(b"b", b"", ());
        table.resize(33);
        table.resize(200);
        assert_eq!(names(&table), [b"b"]);
    }

    #[test]
    fn the_generation_tells_every_change_and_no_other_call() {
        let mut table = DynamicTable::new(70);
        let mut seen = alloc::vec![table.generation()];
        table.insert(b"a", b"", ());
        seen.push(table.generation());
        table.insert(b"b", b"", ());
        seen.push(table.generation());
        table.insert(b"c", b"", ());
        seen.push(table.generation());
        table.resize(40);
        seen.push(table.generation());
        table.insert(b"d", &[0; 99], ());
        seen.push(table.generation());
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
        table.resize(40);
        table.clear();
        assert_eq!(seen.last(), Some(&table.generation()));
    }

    #[test]
    fn a_full_table_inserts_without_allocating() {
        let mut table = DynamicTable::new(512);
        let value = [b'v'; 300];
        let insert = |table: &mut DynamicTable<()>, round: usize| {
            table.insert(b"name", &value[..round * 37 % 300], ());
        };
        (0..1000).for_each(|round| insert(&mut table, round));
        let before = (table.store.capacity(), table.entries.capacity());
        for round in 1000..5000 {
            insert(&mut table, round);
            let (joined, _) = table.joined(0).expect("just inserted");
            assert_eq!(joined.len(), 4 + round * 37 % 300);
        }
        assert_eq!((table.store.capacity(), table.entries.capacity()), before);
        assert!(table.store.capacity() <= 2 * 512, "{}", table.store.capacity());
    }

    #[test]
    fn positions_may_wrap() {
        let mut table = DynamicTable::new(200);
        table.store_position = usize::MAX - 150;
        for round in 0..100_u8 {
            table.insert(b"name", &[round; 40], ());
            let oldest = table.fields().last().expect("just inserted");
            assert_eq!(oldest.value, [round.saturating_sub(1); 40]);
        }
    }
}
