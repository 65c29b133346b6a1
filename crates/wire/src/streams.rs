//! The live streams: found by id, numbered densely by index.

use crate::flow::{Credit, Window};
use crate::stream_state::{RemoteState, StreamState};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// A handle of a stream. After the stream has ended it is stale, and never refers to another.
///
/// `index` is small and dense, and is reused after the stream has ended: use it to keep state of
/// your own in a `Vec`. Only the stream of a [`WholeRequest`](crate::WholeRequest) has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamKey {
    /// The position of the stream among the live ones.
    pub index: u32,
    /// The id on the wire.
    pub id: u32,
}

/// Ids of one side differ by two, RFC 9113 section 5.1.1.
pub(crate) const STREAM_ID_STEP: u32 = 2;

const NO_INDEX: u32 = u32::MAX;

impl StreamKey {
    /// The key of a stream that is not in the table.
    #[inline]
    pub(crate) fn unlisted(id: u32) -> Self {
        Self { index: NO_INDEX, id }
    }

    /// Whether the stream is, or was, in the table.
    #[inline]
    pub fn is_listed(self) -> bool {
        self.index != NO_INDEX
    }
}

const FIRST_SLOTS: usize = 64;
/// Slots per live stream. Beyond this, long-lived streams are displaced instead of growing the
/// index.
const MAX_SLOTS_PER_STREAM: usize = 4;

/// The live streams of one connection. Consecutive ids fall on different slots of the index, so
/// that a lookup is one load; a stream that outlives its neighbours is displaced into a map.
///
/// The default has no slots and allocates nothing: it must be replaced before it is used.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    states: Vec<StreamState>,
    free_indices: Vec<u32>,
    slots: Vec<u32>,
    displaced: BTreeMap<u32, u32>,
}

impl Streams {
    pub fn new() -> Self {
        Self { slots: vec![NO_INDEX; FIRST_SLOTS], ..Self::default() }
    }

    /// Forgets every stream, and keeps the memory that a connection begins with.
    pub fn renew(&mut self) {
        if self.slots.len() > FIRST_SLOTS {
            *self = Self::new();
            return;
        }
        self.states.clear();
        self.free_indices.clear();
        self.slots.clear();
        self.slots.resize(FIRST_SLOTS, NO_INDEX);
        self.displaced.clear();
    }

    /// Memory held for the table, bytes.
    pub fn held_bytes(&self) -> usize {
        self.states.capacity() * size_of::<StreamState>()
            + (self.free_indices.capacity() + self.slots.capacity()) * size_of::<u32>()
            + self.displaced.len() * 2 * size_of::<(u32, u32)>()
    }

    /// Number of live streams.
    #[inline]
    pub fn len(&self) -> usize {
        self.states.len() - self.free_indices.len()
    }

    #[inline]
    fn slot(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.slots.len() - 1)
    }

    /// The live stream with that id.
    #[inline]
    pub fn find(&self, id: u32) -> Option<StreamKey> {
        let index = self.slots[self.slot(id)];
        match self.states.get(index as usize) {
            Some(state) if state.id == id => Some(StreamKey { index, id }),
            _ => self.find_displaced(id),
        }
    }

    fn find_displaced(&self, id: u32) -> Option<StreamKey> {
        self.displaced.get(&id).map(|&index| StreamKey { index, id })
    }

    /// The state of a stream, unless it has ended.
    /// RFC 9113, section 5.1.
    #[inline]
    pub fn state(&mut self, stream: StreamKey) -> Option<&mut StreamState> {
        self.states.get_mut(stream.index as usize).filter(|state| state.id == stream.id)
    }

    /// Whether the stream is alive.
    #[inline]
    pub fn contains(&self, stream: StreamKey) -> bool {
        self.states.get(stream.index as usize).is_some_and(|state| state.id == stream.id)
    }

    /// Adds a stream. `id` must not be that of a live stream, and not 0. `local_closed`: our
    /// direction of it is over already.
    #[inline]
    pub fn insert(
        &mut self,
        id: u32,
        send_window: Window,
        credit: Credit,
        local_closed: bool,
    ) -> StreamKey {
        debug_assert!(id != 0 && self.find(id).is_none());
        let state = StreamState {
            id,
            send_window,
            credit,
            unreleased_bytes: 0,
            remote: RemoteState::AwaitingHead,
            local_closed,
            has_content_length: false,
            cold: None,
        };
        let index = match self.free_indices.pop() {
            Some(index) => {
                self.states[index as usize] = state;
                index
            }
            None => {
                self.states.push(state);
                (self.states.len() - 1) as u32
            }
        };
        self.enter(id, index);
        StreamKey { index, id }
    }

    #[inline]
    fn enter(&mut self, id: u32, index: u32) {
        let slot = self.slot(id);
        if self.slots[slot] != NO_INDEX {
            return self.enter_displacing(id, index);
        }
        self.slots[slot] = index;
    }

    #[cold]
    fn enter_displacing(&mut self, id: u32, index: u32) {
        if self.slots.len() < self.len() * MAX_SLOTS_PER_STREAM {
            self.grow_slots();
        }
        let slot = self.slot(id);
        let occupant = self.slots[slot];
        if occupant != NO_INDEX && occupant != index {
            self.displaced.insert(self.states[occupant as usize].id, occupant);
            // This stream may have been displaced before: now it has its slot, and must be found
            // once.
            self.displaced.remove(&id);
        }
        self.slots[slot] = index;
    }

    fn grow_slots(&mut self) {
        let count = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(count, NO_INDEX);
        self.displaced.clear();
        for index in 0..self.states.len() as u32 {
            let id = self.states[index as usize].id;
            if id == 0 {
                continue;
            }
            let slot = self.slot(id);
            match self.slots[slot] {
                NO_INDEX => self.slots[slot] = index,
                _ => {
                    self.displaced.insert(id, index);
                }
            }
        }
    }

    /// Removes a stream. Its index may be reused at once.
    #[inline]
    pub fn remove(&mut self, stream: StreamKey) {
        debug_assert!(self.contains(stream));
        let slot = self.slot(stream.id);
        if self.slots[slot] == stream.index {
            self.slots[slot] = NO_INDEX;
        } else {
            self.displaced.remove(&stream.id);
        }
        let state = &mut self.states[stream.index as usize];
        state.id = 0;
        state.cold = None;
        self.free_indices.push(stream.index);
    }

    /// All live streams, in no particular order.
    pub fn iter(&mut self) -> impl Iterator<Item = (StreamKey, &mut StreamState)> {
        let live = |(_, state): &(usize, &mut StreamState)| state.id != 0;
        let name = |(index, state): (usize, _)| -> (StreamKey, &mut StreamState) {
            let state: &mut StreamState = state;
            (StreamKey { index: index as u32, id: state.id }, state)
        };
        self.states.iter_mut().enumerate().filter(live).map(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(streams: &mut Streams, id: u32) -> StreamKey {
        streams.insert(id, Window::new(0), Credit::new(0), false)
    }

    #[test]
    fn a_stream_is_found_until_it_ends_and_its_key_is_used_again() {
        let mut streams = Streams::new();
        let first = insert(&mut streams, 1);
        assert_eq!(streams.find(1), Some(first));
        streams.remove(first);
        assert_eq!(streams.find(1), None);
        let third = insert(&mut streams, 3);
        assert_eq!(third.index, first.index);
        assert!(streams.state(first).is_none());
    }

    #[test]
    fn a_long_lived_stream_survives_many_short_ones() {
        let mut streams = Streams::new();
        let old = insert(&mut streams, 1);
        for id in (3..200_000).step_by(2) {
            let young = insert(&mut streams, id);
            assert_eq!(streams.find(1), Some(old));
            assert_eq!(streams.find(id), Some(young));
            streams.remove(young);
        }
        assert!(streams.slots.len() <= FIRST_SLOTS * 2);
        streams.remove(old);
        assert_eq!(streams.find(1), None);
    }

    #[test]
    fn a_stream_that_has_the_index_grow_and_collides_again_is_forgotten_at_its_end() {
        let mut streams = Streams::new();
        let old = insert(&mut streams, 1);
        for id in (3..).step_by(2).take(FIRST_SLOTS / MAX_SLOTS_PER_STREAM) {
            insert(&mut streams, id);
        }
        // The first stream's slot, whether the index has its first size or has grown once.
        let rival = insert(&mut streams, 1 + 2 * 2 * FIRST_SLOTS as u32);
        assert_eq!(streams.slots.len(), 2 * FIRST_SLOTS);
        assert_eq!(streams.find(old.id), Some(old));
        assert_eq!(streams.find(rival.id), Some(rival));
        streams.remove(rival);
        assert_eq!(streams.find(rival.id), None);
        assert_eq!(streams.find(old.id), Some(old));
    }

    #[test]
    fn the_table_agrees_with_a_map_under_random_use() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut streams = Streams::new();
        let mut map = BTreeMap::new();
        let mut next_id = 1;
        for _ in 0..50_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if random % 5 < 2 || map.is_empty() {
                map.insert(next_id, insert(&mut streams, next_id));
                next_id += 2 * (1 + (random >> 32) as u32 % 3);
            } else if random % 5 < 4 {
                let nth = (random >> 32) as usize % map.len();
                let id = *map.keys().nth(nth).unwrap();
                streams.remove(map.remove(&id).unwrap());
            }
            let probe = ((random >> 40) as u32 % (next_id + 2)) | 1;
            assert_eq!(streams.find(probe), map.get(&probe).copied());
            assert_eq!(streams.len(), map.len());
            if map.len() > 400 {
                for (_, stream) in core::mem::take(&mut map) {
                    streams.remove(stream);
                }
            }
        }
        assert_eq!(streams.iter().count(), map.len());
    }
}
