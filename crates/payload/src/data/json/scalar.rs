//! Numbers, strings, bytes and enumerations, from JSON to protobuf's encoding.

use super::cursor::{Cursor, Found, shown};
use super::failure::Failure;
use super::number::{self, NoInteger};
use crate::error_text::suggestion;
use crate::template::write_varint;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use prost::encoding::WireType;
use prost_reflect::{EnumDescriptor, Kind};

/// Writes a field with one value; with `is_implicit` only if that is not the default.
pub(super) fn write_field(
    cursor: &mut Cursor<'_>,
    number: u32,
    kind: &Kind,
    is_implicit: bool,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let start = bytes.len();
    write_key(number, kind.wire_type(), bytes);
    let value = bytes.len();
    write_value(cursor, kind, bytes)?;
    // The default of each type is written in zeros, and -0.0 is not.
    if is_implicit && bytes[value..].iter().all(|byte| *byte == 0) {
        bytes.truncate(start);
    }
    Ok(())
}

/// Writes the key of a field.
pub(super) fn write_key(number: u32, wire_type: WireType, bytes: &mut Vec<u8>) {
    prost::encoding::encode_key(number, wire_type, bytes);
}

/// Writes bytes behind their length.
pub(super) fn write_bytes(value: &[u8], bytes: &mut Vec<u8>) {
    write_varint(value.len() as u64, bytes);
    bytes.extend_from_slice(value);
}

/// Writes a value without its key.
pub(super) fn write_value(
    cursor: &mut Cursor<'_>,
    kind: &Kind,
    bytes: &mut Vec<u8>,
) -> Result<(), Failure> {
    let found = cursor.value()?;
    let failure = |reason| Failure::new(cursor.at(), reason);
    match (kind, &found) {
        (Kind::String, Found::Text(text)) => write_bytes(text.as_bytes(), bytes),
        (Kind::Bool, Found::Bool(value)) => bytes.push(u8::from(*value)),
        (Kind::Bytes, Found::Text(text)) => {
            let value = base64_value(text)
                .ok_or_else(|| failure(format!("{} is not base64", shown(text))))?;
            write_bytes(&value, bytes);
        }
        (Kind::Float | Kind::Double, Found::Number(text)) => {
            write_float(text, kind, bytes).map_err(failure)?;
        }
        (Kind::Float | Kind::Double, Found::Text(text)) => {
            write_float_text(text, kind, bytes).map_err(failure)?;
        }
        (Kind::Enum(choices), Found::Text(name)) => {
            let number = choice(choices, name).map_err(|why| Failure::of_name(cursor.at(), why))?;
            write_varint(i64::from(number) as u64, bytes);
        }
        (Kind::Enum(choices), Found::Null) if choices.full_name() == NULL_VALUE => bytes.push(0),
        (kind, Found::Number(text)) if is_integer(kind) => {
            write_integer(text, kind, bytes).map_err(failure)?;
        }
        (kind, Found::Text(text)) if is_integer(kind) => {
            if !number::is_number(text) {
                let reason = format!("invalid digit found in string: {}", shown(text));
                return Err(failure(reason + " is no integer"));
            }
            write_integer(text, kind, bytes).map_err(failure)?;
        }
        _ => return Err(cursor.unexpected(&found, expected(kind))),
    }
    Ok(())
}

const NULL_VALUE: &str = "google.protobuf.NullValue";

fn is_integer(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::String | Kind::Bytes | Kind::Bool | Kind::Float | Kind::Double | Kind::Message(_)
    )
}

fn expected(kind: &Kind) -> &'static str {
    match kind {
        Kind::String => "a string",
        Kind::Bytes => "a string in base64",
        Kind::Bool => "true or false",
        Kind::Enum(_) => "the name of a value",
        Kind::Float | Kind::Double => "a number",
        _ => "an integer",
    }
}

fn no_fit(number: &str, kind: &Kind) -> String {
    format!("{number} does not fit its field ({kind:?})")
}

fn write_float(number: &str, kind: &Kind, bytes: &mut Vec<u8>) -> Result<(), String> {
    let is_finite = if let Kind::Float = kind {
        let value: f32 = number.parse().map_err(|_| no_fit(number, kind))?;
        bytes.extend(value.to_le_bytes());
        value.is_finite()
    } else {
        let value: f64 = number.parse().map_err(|_| no_fit(number, kind))?;
        bytes.extend(value.to_le_bytes());
        value.is_finite()
    };
    if is_finite { Ok(()) } else { Err(no_fit(number, kind)) }
}

fn write_float_text(text: &str, kind: &Kind, bytes: &mut Vec<u8>) -> Result<(), String> {
    let value = match text {
        "NaN" => f32::NAN,
        "Infinity" => f32::INFINITY,
        "-Infinity" => f32::NEG_INFINITY,
        _ if number::is_number(text) => return write_float(text, kind, bytes),
        _ => return Err(format!("{} is no number, NaN, Infinity or -Infinity", shown(text))),
    };
    match kind {
        Kind::Float => bytes.extend(value.to_le_bytes()),
        _ => bytes.extend(f64::from(value).to_le_bytes()),
    }
    Ok(())
}

fn write_integer(number: &str, kind: &Kind, bytes: &mut Vec<u8>) -> Result<(), String> {
    let value = number::integer(number).map_err(|why| match why {
        NoInteger::Fraction => format!("{number} is no integer"),
        NoInteger::TooLarge => no_fit(number, kind),
    })?;
    encode_integer(value, kind, bytes).ok_or_else(|| no_fit(number, kind))
}

/// Writes an integer as a field of that kind has it; `None` if it does not fit.
fn encode_integer(value: i128, kind: &Kind, bytes: &mut Vec<u8>) -> Option<()> {
    match kind {
        Kind::Int32 | Kind::Enum(_) => {
            write_varint(i64::from(i32::try_from(value).ok()?) as u64, bytes);
        }
        Kind::Int64 => write_varint(i64::try_from(value).ok()? as u64, bytes),
        Kind::Uint32 => write_varint(u64::from(u32::try_from(value).ok()?), bytes),
        Kind::Uint64 => write_varint(u64::try_from(value).ok()?, bytes),
        Kind::Sint32 => {
            let value = i32::try_from(value).ok()?;
            write_varint(u64::from(((value << 1) ^ (value >> 31)) as u32), bytes);
        }
        Kind::Sint64 => {
            let value = i64::try_from(value).ok()?;
            write_varint(((value << 1) ^ (value >> 63)) as u64, bytes);
        }
        Kind::Fixed32 => bytes.extend(u32::try_from(value).ok()?.to_le_bytes()),
        Kind::Fixed64 => bytes.extend(u64::try_from(value).ok()?.to_le_bytes()),
        Kind::Sfixed32 => bytes.extend(i32::try_from(value).ok()?.to_le_bytes()),
        Kind::Sfixed64 => bytes.extend(i64::try_from(value).ok()?.to_le_bytes()),
        _ => return None,
    }
    Some(())
}

/// Writes the key of a map's entry, without the key of its field. In JSON it is always a string.
pub(super) fn write_map_key(text: &str, kind: &Kind, bytes: &mut Vec<u8>) -> Result<(), String> {
    let is_unsigned = matches!(kind, Kind::Uint32 | Kind::Uint64 | Kind::Fixed32 | Kind::Fixed64);
    let is_signed = text.starts_with(['+', '-']);
    let written = match (kind, text) {
        (Kind::String, _) => {
            write_bytes(text.as_bytes(), bytes);
            Some(())
        }
        (Kind::Bool, "true" | "false") => {
            bytes.push(u8::from(text == "true"));
            Some(())
        }
        (Kind::Bool, _) => None,
        _ if is_unsigned && is_signed => None,
        _ => text.parse().ok().and_then(|value| encode_integer(value, kind, bytes)),
    };
    written.ok_or_else(|| format!("{} is no key of this map ({kind:?})", shown(text)))
}

/// The number of a value by its name.
///
/// # Errors
/// The names that would have been right.
fn choice(choices: &EnumDescriptor, name: &str) -> Result<i32, String> {
    // A name with a space in it is nobody's: `editions` gave it.
    let is_anybodys = |name: &str| !name.contains(' ');
    match choices.get_value_by_name(name) {
        Some(value) if is_anybodys(name) => Ok(value.number()),
        _ => {
            let known = choices.values().map(|value| value.name().to_owned());
            let suggestion = suggestion(name, known.filter(|name| is_anybodys(name)));
            Err(format!("{} has no value {name}{suggestion}", choices.full_name()))
        }
    }
}

/// Base64 in one of its two alphabets, padded or not. What a last letter has beyond the last byte
/// and ends of lines do not matter.
pub(crate) fn base64_value(text: &str) -> Option<Vec<u8>> {
    let is_padded = text.len().is_multiple_of(4);
    let padding = if is_padded {
        DecodePaddingMode::RequireCanonical
    } else {
        DecodePaddingMode::RequireNone
    };
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(padding);
    let is_url_safe = text.contains(['-', '_']);
    let alphabet = if is_url_safe { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
    let engine = GeneralPurpose::new(alphabet, config);
    if text.contains(['\r', '\n']) {
        return engine.decode(text.replace(['\r', '\n'], "")).ok();
    }
    engine.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_in_all_its_forms() {
        for (text, value) in [
            ("", &b""[..]),
            ("YQ==", b"a"),
            ("YQ", b"a"),
            ("YR", b"a"),
            ("-_8=", b"\xfb\xff"),
            ("+/8", b"\xfb\xff"),
            ("YWFh\nYWFhYWFh", b"aaaaaaaaa"),
        ] {
            assert_eq!(base64_value(text).as_deref(), Some(value), "{text}");
        }
        for text in ["Y", "YQ=", "-/8", "YQ==YQ==", "YW!E", "Y Q="] {
            assert_eq!(base64_value(text), None, "{text}");
        }
    }
}
