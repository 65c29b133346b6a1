//! Serialized messages field by field, without the structs that decoding makes of them.

use prost::DecodeError;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// One field of a message, as it is on the wire.
#[derive(Clone, Copy, Debug)]
pub struct WireField<'a> {
    /// Its number in the message's type.
    pub number: u32,
    /// What a field with a length holds: text, bytes, a message or packed numbers.
    pub payload: Option<&'a [u8]>,
    /// All of it, with its key.
    pub encoded: &'a [u8],
}

/// The fields of a serialized message, in their order. After an error there is nothing more.
pub fn fields(message: &[u8]) -> impl Iterator<Item = Result<WireField<'_>, DecodeError>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = first(rest);
        rest = field.as_ref().map_or(&[], |field| &rest[field.encoded.len()..]);
        Some(field)
    })
}

/// What the fields of that number hold, in their order.
pub fn payloads(message: &[u8], number: u32) -> impl Iterator<Item = Result<&[u8], DecodeError>> {
    fields(message).filter_map(move |field| match field {
        Ok(field) if field.number != number => None,
        Ok(field) => field.payload.map(Ok),
        Err(error) => Some(Err(error)),
    })
}

fn first(message: &[u8]) -> Result<WireField<'_>, DecodeError> {
    let mut value = message;
    let (number, wire_type) = decode_key(&mut value)?;
    let mut rest = value;
    skip_field(wire_type, number, &mut rest, DecodeContext::default())?;
    let payload = if wire_type == WireType::LengthDelimited {
        decode_varint(&mut value)?;
        Some(&value[..value.len() - rest.len()])
    } else {
        None
    };
    Ok(WireField { number, payload, encoded: &message[..message.len() - rest.len()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_with_what_they_hold() {
        let message = b"\x08\x96\x01\x12\x03abc\x1b\x08\x01\x1c\x12\x00";
        let read: Vec<_> = fields(message).map(Result::unwrap).collect();
        let numbers: Vec<_> = read.iter().map(|field| field.number).collect();
        assert_eq!(numbers, [1, 2, 3, 2]);
        assert_eq!(read[0].encoded, b"\x08\x96\x01");
        assert_eq!(read[2].payload, None);
        let texts: Vec<_> = payloads(message, 2).map(Result::unwrap).collect();
        assert_eq!(texts, [&b"abc"[..], b""]);
    }

    #[test]
    fn a_cut_message_ends_with_one_error() {
        for cut in [&b"\x12\x05abc"[..], b"\x08", b"\x12", b"\x1b\x08\x01", b"\x07", b"\x12\xff"] {
            let read: Vec<_> = fields(cut).collect();
            assert!(matches!(read[..], [Err(_)]), "{cut:?}");
        }
    }
}
