//! Messages, field by field, from JSON to protobuf's encoding.

use super::any::{self, AnyType, TYPE};
use super::cursor::{Cursor, Key};
use super::entries::write_entries;
use super::failure::Failure;
use super::field::{Field, Shape};
use super::given::Given;
use super::scalar;
use super::well_known::WellKnown;
use crate::template::with_length;
use prost::encoding::WireType::{EndGroup, LengthDelimited, StartGroup};
use prost_reflect::{Kind, MessageDescriptor};

/// Whether a message has to have its required fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completeness {
    Whole,
    Partial,
}

/// Writes the message that comes next.
pub(super) fn write_message(
    cursor: &mut Cursor<'_>,
    message: &MessageDescriptor,
    completeness: Completeness,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    cursor.deeper(|cursor| match WellKnown::of(message) {
        Some(WellKnown::Any) => write_any(cursor, message, bytes),
        Some(form) => form.write(cursor, bytes),
        None => write_fields(cursor, message, completeness, bytes),
    })
}

fn write_fields(
    cursor: &mut Cursor<'_>,
    message: &MessageDescriptor,
    completeness: Completeness,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let start = bytes.len();
    let mut given = Given::default();
    cursor.object(|cursor, key| {
        write_member(cursor, key, message, completeness, &mut given, bytes)
    })?;
    if completeness == Completeness::Whole {
        let missing = given.missing(message);
        if !missing.is_empty() {
            let reason = format!("required fields missing: {}", missing.join(", "));
            return Err(Failure::new(cursor.at(), reason));
        }
    }
    given.sort(start, bytes);
    Ok(())
}

/// Writes the field of that name, once it is certain that it was not given before.
fn write_member(
    cursor: &mut Cursor<'_>,
    key: &Key<'_>,
    message: &MessageDescriptor,
    completeness: Completeness,
    given: &mut Given,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let field = Field::find(message, key)?;
    if given.has(field.number) {
        return Err(Failure::new(key.end, "it is given twice").within(&key.name));
    }
    let start = bytes.len();
    if field.has_null() || !cursor.take_null() {
        if let Err(oneof) = given.take_oneof(&field) {
            let reason = format!("another field of oneof {oneof} is given too");
            return Err(Failure::new(key.end, reason).within(&key.name));
        }
        write_field(cursor, &field, completeness, bytes)
            .map_err(|failure| failure.within(&key.name))?;
    }
    given.add(field.number, start..bytes.len());
    Ok(())
}

fn write_field(
    cursor: &mut Cursor<'_>,
    field: &Field,
    completeness: Completeness,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    match (field.shape, &field.kind) {
        (Shape::Map, Kind::Message(entry)) => {
            let key = entry.map_entry_key_field().kind();
            // Generated code writes the key and the value of an entry whatever they are.
            let value = Field { is_implicit: false, ..Field::from(entry.map_entry_value_field()) };
            write_entries(cursor, field.number, &key, bytes, |cursor, bytes| {
                write_one(cursor, &value, completeness, bytes)
            })
        }
        (Shape::Packed, kind) => {
            let start = bytes.len();
            let mut is_empty = true;
            scalar::write_key(field.number, LengthDelimited, bytes);
            with_length(bytes, |bytes| {
                cursor.array(|cursor| {
                    is_empty = false;
                    scalar::write_value(cursor, kind, bytes)
                })
            })?;
            if is_empty {
                bytes.truncate(start);
            }
            Ok(())
        }
        (Shape::List, _) => cursor.array(|cursor| write_one(cursor, field, completeness, bytes)),
        (Shape::One | Shape::Map, _) => write_one(cursor, field, completeness, bytes),
    }
}

/// Writes one value of a field with its key.
fn write_one(
    cursor: &mut Cursor<'_>,
    field: &Field,
    completeness: Completeness,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Kind::Message(message) = &field.kind else {
        return scalar::write_field(cursor, field.number, &field.kind, field.is_implicit, bytes);
    };
    if field.is_group {
        scalar::write_key(field.number, StartGroup, bytes);
        write_message(cursor, message, completeness, bytes)?;
        scalar::write_key(field.number, EndGroup, bytes);
        return Ok(());
    }
    scalar::write_key(field.number, LengthDelimited, bytes);
    with_length(bytes, |bytes| write_message(cursor, message, completeness, bytes))
}

/// Writes a `google.protobuf.Any`: the type's URL and the message that is in it, which may lack
/// required fields.
fn write_any(
    cursor: &mut Cursor<'_>,
    message: &MessageDescriptor,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let Some(of) = any::find_type(cursor.clone(), message.parent_pool())? else {
        return cursor.skip().map(drop);
    };
    scalar::write_key(1, LengthDelimited, bytes);
    scalar::write_bytes(of.url.as_bytes(), bytes);
    let start = bytes.len();
    scalar::write_key(2, LengthDelimited, bytes);
    let value = bytes.len();
    with_length(bytes, |bytes| match WellKnown::of(&of.message) {
        Some(form) => write_any_value(cursor, &of, &form, bytes),
        None => write_any_fields(cursor, &of, bytes),
    })?;
    // An empty message is no value.
    if bytes[value..] == [0] {
        bytes.truncate(start);
    }
    Ok(())
}

/// The fields of the message stand next to its type.
fn write_any_fields(
    cursor: &mut Cursor<'_>,
    of: &AnyType<'_>,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let start = bytes.len();
    let mut given = Given::default();
    cursor.object(|cursor, key| match &*key.name {
        TYPE => cursor.skip().map(drop),
        _ => write_member(cursor, key, &of.message, Completeness::Partial, &mut given, bytes),
    })?;
    given.sort(start, bytes);
    Ok(())
}

/// The form of its own of a message stands under `value`.
fn write_any_value(
    cursor: &mut Cursor<'_>,
    of: &AnyType<'_>,
    form: &WellKnown,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let mut is_given = false;
    cursor.object(|cursor, key| match &*key.name {
        TYPE => cursor.skip().map(drop),
        "value" if is_given => Err(Failure::new(key.end, "it is given twice").within("value")),
        "value" => {
            is_given = true;
            write_message(cursor, &of.message, Completeness::Partial, bytes)
                .map_err(|failure| failure.within("value"))
        }
        name => {
            let of = of.message.full_name();
            let reason = format!("{of} stands under value, and there is no field {name}");
            Err(Failure::of_name(key.end, reason))
        }
    })?;
    // An empty message needs none.
    if !is_given && *form != WellKnown::Empty {
        let reason = format!("there is no value for {}", of.message.full_name());
        return Err(Failure::new(cursor.at(), reason));
    }
    Ok(())
}
