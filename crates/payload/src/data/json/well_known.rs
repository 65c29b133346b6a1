//! Messages of `google.protobuf` that have a form of their own in JSON.

use super::cursor::{Cursor, Found, shown};
use super::entries::{VALUE, write_entries};
use super::failure::Failure;
use super::scalar::{write_bytes, write_field, write_key};
use super::time;
use crate::template::{with_length, write_varint};
use prost::encoding::WireType::{LengthDelimited, Varint};
use prost_reflect::{Kind, MessageDescriptor};

/// A form of its own.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WellKnown {
    /// The fields of the message that is in it, among them.
    Any,
    Empty,
    Timestamp,
    Duration,
    FieldMask,
    Struct,
    Value,
    ListValue,
    /// A message with one field of that kind.
    Wrapper(Kind),
}

impl WellKnown {
    /// `None` for any other message.
    pub fn of(message: &MessageDescriptor) -> Option<Self> {
        Some(match message.full_name().strip_prefix("google.protobuf.")? {
            "Any" => Self::Any,
            "Empty" => Self::Empty,
            "Timestamp" => Self::Timestamp,
            "Duration" => Self::Duration,
            "FieldMask" => Self::FieldMask,
            "Struct" => Self::Struct,
            "Value" => Self::Value,
            "ListValue" => Self::ListValue,
            "BoolValue" => Self::Wrapper(Kind::Bool),
            "Int32Value" => Self::Wrapper(Kind::Int32),
            "Int64Value" => Self::Wrapper(Kind::Int64),
            "UInt32Value" => Self::Wrapper(Kind::Uint32),
            "UInt64Value" => Self::Wrapper(Kind::Uint64),
            "FloatValue" => Self::Wrapper(Kind::Float),
            "DoubleValue" => Self::Wrapper(Kind::Double),
            "StringValue" => Self::Wrapper(Kind::String),
            "BytesValue" => Self::Wrapper(Kind::Bytes),
            _ => return None,
        })
    }

    /// Writes the message, which is not `Any`.
    pub fn write(&self, cursor: &mut Cursor<'_>, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Any | Self::Empty => cursor.object(|_, key| {
                let reason = format!("google.protobuf.Empty has no field {}", key.name);
                Err(Failure::of_name(key.end, reason))
            }),
            Self::Timestamp => write_time(
                cursor,
                "a timestamp as 2006-01-02T15:04:05.999999999Z, from year 1 to year 9999",
                time::timestamp,
                bytes,
            ),
            Self::Duration => write_time(
                cursor,
                "a duration in seconds as 1.999999999s, of at most 315576000000s",
                time::duration,
                bytes,
            ),
            Self::FieldMask => write_field_mask(cursor, bytes),
            Self::Struct => write_struct(cursor, bytes),
            Self::Value => write_value(cursor, bytes),
            Self::ListValue => write_list(cursor, bytes),
            Self::Wrapper(kind) => write_field(cursor, 1, kind, true, bytes),
        }
    }
}

/// Writes `seconds` and `nanos`.
fn write_time(
    cursor: &mut Cursor<'_>,
    expected: &str,
    read: impl FnOnce(&str) -> Option<(i64, i32)>,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let found = cursor.value()?;
    let Found::Text(text) = &found else {
        return Err(cursor.unexpected(&found, expected));
    };
    let (seconds, nanos) = read(text)
        .ok_or_else(|| Failure::new(cursor.at(), format!("{} is not {expected}", shown(text))))?;
    for (number, value) in [(1, seconds), (2, i64::from(nanos))] {
        if value != 0 {
            write_key(number, Varint, bytes);
            write_varint(value as u64, bytes);
        }
    }
    Ok(())
}

fn write_field_mask(cursor: &mut Cursor<'_>, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    let expected = "paths in camel case as fooBar,baz.qux";
    let found = cursor.value()?;
    let Found::Text(text) = &found else {
        return Err(cursor.unexpected(&found, expected));
    };
    let paths = time::field_mask(text).map_err(|wrong| {
        let reason = format!("{} in {} is no path", shown(wrong), shown(text));
        Failure::new(cursor.at(), format!("{reason}, expected {expected}"))
    })?;
    for path in paths {
        write_key(1, LengthDelimited, bytes);
        write_bytes(path.as_bytes(), bytes);
    }
    Ok(())
}

fn write_struct(cursor: &mut Cursor<'_>, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    write_entries(cursor, 1, &Kind::String, bytes, |cursor, bytes| {
        write_key(VALUE, LengthDelimited, bytes);
        with_length(bytes, |bytes| cursor.deeper(|cursor| write_value(cursor, bytes)))
    })
}

fn write_list(cursor: &mut Cursor<'_>, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    cursor.array(|cursor| {
        write_key(1, LengthDelimited, bytes);
        with_length(bytes, |bytes| cursor.deeper(|cursor| write_value(cursor, bytes)))
    })
}

/// Writes the field of `google.protobuf.Value` that is of the value's type.
fn write_value(cursor: &mut Cursor<'_>, bytes: &mut Vec<u8>) -> Result<(), Failure> {
    match cursor.peek() {
        Some(b'n') => {
            cursor.value()?;
            write_key(1, Varint, bytes);
            bytes.push(0);
            Ok(())
        }
        Some(b'-' | b'0'..=b'9') => write_field(cursor, 2, &Kind::Double, false, bytes),
        Some(b'"') => write_field(cursor, 3, &Kind::String, false, bytes),
        Some(b'{') => {
            write_key(5, LengthDelimited, bytes);
            with_length(bytes, |bytes| cursor.deeper(|cursor| write_struct(cursor, bytes)))
        }
        Some(b'[') => {
            write_key(6, LengthDelimited, bytes);
            with_length(bytes, |bytes| cursor.deeper(|cursor| write_list(cursor, bytes)))
        }
        _ => write_field(cursor, 4, &Kind::Bool, false, bytes),
    }
}
