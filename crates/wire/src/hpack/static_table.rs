//! The static table (RFC 7541, appendix A).

use super::lookup_hash::hash;

/// A field of the static table, its name and value joined.
pub(super) struct StaticField {
    joined: &'static str,
    name_bytes: usize,
}

macro_rules! static_fields {
    ($($name:literal [$($value:literal),*],)*) => {
        [$($(StaticField { joined: concat!($name, $value), name_bytes: $name.len() },)*)*]
    };
}

/// Number of entries: the dynamic table begins at the next index.
pub(super) const LENGTH: usize = 61;

/// Each name with its values, in the order of the RFC.
static FIELDS: [StaticField; LENGTH] = static_fields! {
    ":authority" [""], ":method" ["GET", "POST"], ":path" ["/", "/index.html"],
    ":scheme" ["http", "https"], ":status" ["200", "204", "206", "304", "400", "404", "500"],
    "accept-charset" [""], "accept-encoding" ["gzip, deflate"], "accept-language" [""],
    "accept-ranges" [""], "accept" [""], "access-control-allow-origin" [""], "age" [""],
    "allow" [""], "authorization" [""], "cache-control" [""], "content-disposition" [""],
    "content-encoding" [""], "content-language" [""], "content-length" [""],
    "content-location" [""], "content-range" [""], "content-type" [""], "cookie" [""],
    "date" [""], "etag" [""], "expect" [""], "expires" [""], "from" [""], "host" [""],
    "if-match" [""], "if-modified-since" [""], "if-none-match" [""], "if-range" [""],
    "if-unmodified-since" [""], "last-modified" [""], "link" [""], "location" [""],
    "max-forwards" [""], "proxy-authenticate" [""], "proxy-authorization" [""], "range" [""],
    "referer" [""], "refresh" [""], "retry-after" [""], "server" [""], "set-cookie" [""],
    "strict-transport-security" [""], "transfer-encoding" [""], "user-agent" [""], "vary" [""],
    "via" [""], "www-authenticate" [""],
};

/// The name and value at an index of the table, joined, and the length of the name.
#[inline]
pub(super) fn joined(index: usize) -> Option<(&'static [u8], usize)> {
    let field = FIELDS.get(index.wrapping_sub(1))?;
    Some((field.joined.as_bytes(), field.name_bytes))
}

/// The lowest index with this name, whose hash is `name_hash`.
#[inline]
pub(super) fn find_name(name: &[u8], name_hash: u32) -> Option<usize> {
    let mut slot = first_slot(name_hash);
    loop {
        let index = usize::from(INDEX_BY_HASH[slot]);
        let field = FIELDS.get(index.wrapping_sub(1))?;
        if field.name() == name {
            return Some(index);
        }
        slot = next_slot(slot);
    }
}

/// The index of this field, where `name_index` is the lowest with its name.
#[inline]
pub(super) fn find_value(name_index: usize, value: &[u8]) -> Option<usize> {
    let same_name = &FIELDS[name_index - 1..][..usize::from(RUN_LENGTHS[name_index - 1])];
    let offset = same_name.iter().position(|field| field.value() == value)?;
    Some(name_index + offset)
}

impl StaticField {
    #[inline]
    const fn name(&self) -> &'static [u8] {
        self.joined.as_bytes().split_at(self.name_bytes).0
    }

    #[inline]
    const fn value(&self) -> &'static [u8] {
        self.joined.as_bytes().split_at(self.name_bytes).1
    }
}

/// Slots of the name index: a power of two, four times the number of names, so that most names are
/// found at the first slot.
const SLOTS: usize = 256;

/// The lowest index of each name, at the slot of its hash or the next free one; 0 is free.
static INDEX_BY_HASH: [u8; SLOTS] = index_by_hash();

/// How many entries from here on have the same name.
static RUN_LENGTHS: [u8; LENGTH] = run_lengths();

#[inline]
const fn first_slot(name_hash: u32) -> usize {
    (name_hash >> 24) as usize
}

#[inline]
const fn next_slot(slot: usize) -> usize {
    (slot + 1) % SLOTS
}

const fn index_by_hash() -> [u8; SLOTS] {
    let mut slots = [0; SLOTS];
    let mut position = 0;
    while position < LENGTH {
        let mut slot = first_slot(hash(FIELDS[position].name()));
        while slots[slot] != 0 {
            slot = next_slot(slot);
        }
        slots[slot] = position as u8 + 1;
        position += RUN_LENGTHS[position] as usize;
    }
    slots
}

const fn run_lengths() -> [u8; LENGTH] {
    let mut lengths = [1; LENGTH];
    let mut position = LENGTH - 1;
    while position > 0 {
        position -= 1;
        if equal(FIELDS[position].name(), FIELDS[position + 1].name()) {
            lengths[position] = lengths[position + 1] + 1;
        }
    }
    lengths
}

const fn equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut position = 0;
    while position < left.len() {
        if left[position] != right[position] {
            return false;
        }
        position += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &[u8], value: &[u8]) -> Option<(usize, Option<usize>)> {
        let name_index = find_name(name, hash(name))?;
        Some((name_index, find_value(name_index, value)))
    }

    #[test]
    fn every_entry_is_found_at_its_own_index() {
        for (position, field) in FIELDS.iter().enumerate() {
            let found = find(field.name(), field.value());
            assert_eq!(found.and_then(|(_, index)| index), Some(position + 1), "{}", field.joined);
        }
    }

    #[test]
    fn a_known_name_with_another_value_is_found_at_its_lowest_index() {
        assert_eq!(find(b":status", b"302"), Some((8, None)));
        assert_eq!(find(b":path", b"/index.html"), Some((4, Some(5))));
        assert_eq!(find(b"www-authenticate", b"x"), Some((61, None)));
    }

    #[test]
    fn unknown_names_are_not_found() {
        for name in [&b""[..], b"te", b":statu", b"grpc-status", b"cookie2", b"Accept"] {
            assert_eq!(find(name, b""), None);
        }
    }

    #[test]
    fn no_search_looks_at_more_than_three_names() {
        for field in &FIELDS {
            let mut slot = first_slot(hash(field.name()));
            let mut looked_at = 1;
            while FIELDS[usize::from(INDEX_BY_HASH[slot]) - 1].name() != field.name() {
                slot = next_slot(slot);
                looked_at += 1;
            }
            assert!(looked_at <= 3, "{}: {looked_at}", field.joined);
        }
    }

    #[test]
    fn there_is_no_index_zero_and_none_behind_the_last() {
        assert_eq!(joined(0), None);
        assert_eq!(joined(LENGTH), Some((&b"www-authenticate"[..], 16)));
        assert_eq!(joined(LENGTH + 1), None);
    }
}
