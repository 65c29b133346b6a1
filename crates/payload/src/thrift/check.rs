//! Whether bytes are a struct as the IDL says, found out without building it.

use super::reader::{Fault, FieldHead, Reader, nested};
use super::schema::{StructKind, ThriftSchema, ThriftStruct, ThriftType};
use super::wire_kind::WireKind;

/// Required fields of a struct beyond this number are not looked for.
const REQUIRED_MAX: usize = 128;

/// Passes over the struct `of` of the schema.
///
/// # Errors
/// What is wrong with it.
#[inline]
pub(super) fn check_struct(
    reader: &mut Reader<'_>,
    schema: &ThriftSchema,
    of: usize,
    depth: u32,
) -> Result<(), Fault> {
    let known = &schema.structs[of];
    let (mut before, mut likely, mut came, mut count) = (0, 0, 0_u128, 0);
    while let Some(head) = reader.field_head(before)? {
        before = head.id;
        count += 1;
        let Some(place) = known.place(head.id, likely) else {
            reader.skip(head.kind, head.truth, nested(depth)?)?;
            continue;
        };
        check_field(reader, schema, (of, place), head, depth)?;
        likely = place + 1;
        came |= 1_u128.checked_shl(place as u32).unwrap_or(0);
    }
    if known.kind == StructKind::Union && count != 1 {
        return Err(Fault::NoUnion(of, count));
    }
    missing(known, came).map_or(Ok(()), |place| Err(Fault::Missing(of, place)))
}

/// Passes over the value of a field, which is behind its head.
#[inline]
pub(super) fn check_field(
    reader: &mut Reader<'_>,
    schema: &ThriftSchema,
    (of, place): (usize, usize),
    head: FieldHead,
    depth: u32,
) -> Result<(), Fault> {
    let field_type = &schema.structs[of].fields[place].field_type;
    if field_type.wire_kind() != head.kind {
        return Err(Fault::WrongKind(of, place, head.kind));
    }
    check_value(reader, schema, field_type, head.truth, nested(depth)?)
}

/// The first required field that is not among those that came, by its place.
#[inline]
fn missing(known: &ThriftStruct, came: u128) -> Option<usize> {
    known
        .fields
        .iter()
        .take(REQUIRED_MAX)
        .enumerate()
        .find(|(place, field)| field.is_required && came >> place & 1 == 0)
        .map(|(place, _)| place)
}

#[inline]
fn check_value(
    reader: &mut Reader<'_>,
    schema: &ThriftSchema,
    value_type: &ThriftType,
    truth: Option<bool>,
    depth: u32,
) -> Result<(), Fault> {
    match value_type {
        ThriftType::Struct(of) => check_struct(reader, schema, *of, depth),
        ThriftType::List(element) | ThriftType::Set(element) => {
            let (kind, count) = reader.list_head()?;
            if count > 0 {
                same(kind, element)?;
            }
            (0..count).try_for_each(|_| check_value(reader, schema, element, None, nested(depth)?))
        }
        ThriftType::Map(types) => {
            let (key_kind, value_kind, count) = reader.map_head()?;
            let (key, value) = &**types;
            if count > 0 {
                same(key_kind, key)?;
                same(value_kind, value)?;
            }
            (0..count).try_for_each(|_| {
                check_value(reader, schema, key, None, nested(depth)?)?;
                check_value(reader, schema, value, None, nested(depth)?)
            })
        }
        plain => reader.skip(plain.wire_kind(), truth, depth),
    }
}

fn same(kind: WireKind, value_type: &ThriftType) -> Result<(), Fault> {
    if kind == value_type.wire_kind() { Ok(()) } else { Err(Fault::WrongElements(kind)) }
}
