//! Serialized messages: one, or several that each have their length before them.

use super::error::PayloadError;
use prost_reflect::{DynamicMessage, MessageDescriptor};

pub(super) fn messages(
    bytes: &[u8],
    place: &str,
    message: &MessageDescriptor,
) -> Result<Vec<Vec<u8>>, PayloadError> {
    let refused = match DynamicMessage::decode(message.clone(), bytes) {
        Ok(_) => return Ok(vec![bytes.to_vec()]),
        Err(error) => error,
    };
    let fits = |one: &Vec<u8>| DynamicMessage::decode(message.clone(), one.as_slice()).is_ok();
    match split(bytes) {
        Some(several) if several.iter().all(fits) => Ok(several),
        _ => Err(PayloadError::NotBinary {
            place: place.to_owned(),
            message: message.full_name().to_owned(),
            reason: refused.to_string(),
        }),
    }
}

fn split(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let length = prost::encoding::decode_varint(&mut bytes).ok()?;
        let length = usize::try_from(length).ok()?;
        let (message, rest) = bytes.split_at_checked(length)?;
        messages.push(message.to_vec());
        bytes = rest;
    }
    Some(messages)
}
