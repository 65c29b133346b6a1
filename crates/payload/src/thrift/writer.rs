//! Writes the bytes of both protocols.

use super::spoken::ThriftProtocol;
use super::value::ThriftValue;
use super::wire_kind::{COMPACT_FALSE, STOP, WireKind};

/// A list of fewer elements has their number in the byte of their kind, in the compact protocol.
const LONG_LIST: usize = 15;

/// Appends a value.
pub(super) fn write(value: &ThriftValue, protocol: ThriftProtocol, bytes: &mut Vec<u8>) {
    match value {
        ThriftValue::Bool(truth) => bytes.push(bool_byte(*truth, protocol)),
        ThriftValue::I8(number) => bytes.push(*number as u8),
        ThriftValue::I16(number) => match protocol {
            ThriftProtocol::Binary => bytes.extend(number.to_be_bytes()),
            ThriftProtocol::Compact => zigzag(i64::from(*number), bytes),
        },
        ThriftValue::I32(number) => match protocol {
            ThriftProtocol::Binary => bytes.extend(number.to_be_bytes()),
            ThriftProtocol::Compact => zigzag(i64::from(*number), bytes),
        },
        ThriftValue::I64(number) => match protocol {
            ThriftProtocol::Binary => bytes.extend(number.to_be_bytes()),
            ThriftProtocol::Compact => zigzag(*number, bytes),
        },
        ThriftValue::Double(number) => bytes.extend(match protocol {
            ThriftProtocol::Binary => number.to_be_bytes(),
            ThriftProtocol::Compact => number.to_le_bytes(),
        }),
        ThriftValue::Binary(text) => write_binary(text, protocol, bytes),
        ThriftValue::Uuid(uuid) => bytes.extend(uuid),
        ThriftValue::List(element, elements) | ThriftValue::Set(element, elements) => {
            write_list_head(*element, elements.len(), protocol, bytes);
            elements.iter().for_each(|element| write(element, protocol, bytes));
        }
        ThriftValue::Map(key, value, entries) => {
            write_map_head([*key, *value], entries.len(), protocol, bytes);
            for (key, value) in entries {
                write(key, protocol, bytes);
                write(value, protocol, bytes);
            }
        }
        ThriftValue::Struct(fields) => write_struct(fields, protocol, bytes),
    }
}

/// Appends text or bytes with their length before them.
pub(super) fn write_binary(text: &[u8], protocol: ThriftProtocol, bytes: &mut Vec<u8>) {
    write_count(text.len(), protocol, bytes);
    bytes.extend_from_slice(text);
}

fn write_count(count: usize, protocol: ThriftProtocol, bytes: &mut Vec<u8>) {
    match protocol {
        ThriftProtocol::Binary => bytes.extend((count as u32).to_be_bytes()),
        ThriftProtocol::Compact => varint(count as u64, bytes),
    }
}

fn bool_byte(truth: bool, protocol: ThriftProtocol) -> u8 {
    match protocol {
        ThriftProtocol::Binary => u8::from(truth),
        ThriftProtocol::Compact if truth => WireKind::Bool.in_compact(),
        ThriftProtocol::Compact => COMPACT_FALSE,
    }
}

fn write_list_head(element: WireKind, count: usize, protocol: ThriftProtocol, bytes: &mut Vec<u8>) {
    match protocol {
        ThriftProtocol::Binary => {
            bytes.push(element.in_binary());
            write_count(count, protocol, bytes);
        }
        ThriftProtocol::Compact if count < LONG_LIST => {
            bytes.push((count as u8) << 4 | element.in_compact());
        }
        ThriftProtocol::Compact => {
            bytes.push(0xf0 | element.in_compact());
            write_count(count, protocol, bytes);
        }
    }
}

fn write_map_head(
    [key, value]: [WireKind; 2],
    count: usize,
    protocol: ThriftProtocol,
    bytes: &mut Vec<u8>,
) {
    match protocol {
        ThriftProtocol::Binary => {
            bytes.extend([key.in_binary(), value.in_binary()]);
            write_count(count, protocol, bytes);
        }
        ThriftProtocol::Compact => {
            write_count(count, protocol, bytes);
            if count > 0 {
                bytes.push(key.in_compact() << 4 | value.in_compact());
            }
        }
    }
}

fn write_struct(fields: &[(i16, ThriftValue)], protocol: ThriftProtocol, bytes: &mut Vec<u8>) {
    let mut before = 0;
    for (id, value) in fields {
        write_field_head(*id, before, value, protocol, bytes);
        let is_in_head =
            protocol == ThriftProtocol::Compact && matches!(value, ThriftValue::Bool(_));
        if !is_in_head {
            write(value, protocol, bytes);
        }
        before = *id;
    }
    bytes.push(STOP);
}

/// In the compact protocol the head of a field has the step from the id before it, and the value of
/// a bool.
fn write_field_head(
    id: i16,
    before: i16,
    value: &ThriftValue,
    protocol: ThriftProtocol,
    bytes: &mut Vec<u8>,
) {
    if protocol == ThriftProtocol::Binary {
        bytes.push(value.wire_kind().in_binary());
        bytes.extend(id.to_be_bytes());
        return;
    }
    let kind = match value {
        ThriftValue::Bool(truth) => bool_byte(*truth, protocol),
        value => value.wire_kind().in_compact(),
    };
    match i32::from(id) - i32::from(before) {
        step @ 1..=15 => bytes.push((step as u8) << 4 | kind),
        _ => {
            bytes.push(kind);
            zigzag(i64::from(id), bytes);
        }
    }
}

/// Appends a whole number of the compact protocol.
pub(super) fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Small numbers are short, whatever their sign.
fn zigzag(value: i64, bytes: &mut Vec<u8>) {
    varint((value << 1 ^ value >> 63) as u64, bytes);
}
