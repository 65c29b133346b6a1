//! The entries of a map.

use super::cursor::{Cursor, shown};
use super::failure::Failure;
use super::scalar::{write_key, write_map_key};
use crate::template::with_length;
use prost::encoding::WireType;
use prost_reflect::Kind;
use std::collections::HashSet;

/// The number of the key's field in the message that an entry is; the value's comes next.
const KEY: u32 = 1;
/// The number of the value's field.
pub(super) const VALUE: u32 = 2;

/// Writes the entries of a map. `write_entry_value` writes the value's field.
pub(super) fn write_entries<'t>(
    cursor: &mut Cursor<'t>,
    number: u32,
    key_kind: &Kind,
    bytes: &mut Vec<u8>,
    mut write_entry_value: impl FnMut(&mut Cursor<'t>, &mut Vec<u8>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut keys = HashSet::new();
    cursor.object(|cursor, key| {
        write_key(number, WireType::LengthDelimited, bytes);
        with_length(bytes, |bytes| {
            write_key(KEY, key_kind.wire_type(), bytes);
            let start = bytes.len();
            write_map_key(&key.name, key_kind, bytes)
                .map_err(|reason| Failure::new(key.end, reason))?;
            if !keys.insert(bytes[start..].to_vec()) {
                let reason = format!("the key {} is given twice", shown(&key.name));
                return Err(Failure::new(key.end, reason));
            }
            write_entry_value(cursor, bytes).map_err(|failure| failure.within(&key.name))
        })
    })
}
