//! The request messages of a run: from JSON or from serialized bytes, made once, before the first
//! call.

mod error;
mod json;

pub use error::{DataError, DataTemplateError, PayloadError};

use crate::error_text::Unreadable;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use std::fs;
use std::io::Read;
use std::path::PathBuf;

/// Where the request messages come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DataSource {
    /// Nowhere: every request is the empty message.
    #[default]
    Nothing,
    /// JSON on the command line.
    Json(String),
    /// JSON in a file.
    JsonFile(PathBuf),
    /// JSON on standard input.
    JsonInput,
    /// Serialized messages in a file.
    BinaryFile(PathBuf),
    /// Serialized messages on standard input.
    BinaryInput,
}

/// What `{{` in data means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Templates {
    /// A template, which is refused: sending its literal text would measure something else.
    #[default]
    Refuse,
    /// Text like any other.
    Literal,
}

impl Templates {
    /// Refuses the first `{{...}}` of the text, unless it is text like any other. Outside of
    /// strings JSON never has two opening braces in a row.
    pub(crate) fn check(self, text: &str) -> Result<(), DataTemplateError> {
        /// As much of an unclosed template as an error message shows.
        const SHOWN_CHARS: usize = 40;
        match text.find("{{") {
            Some(start) if self == Self::Refuse => {
                let from = &text[start..];
                let end = from.find("}}").map_or(from.len(), |end| end + 2);
                Err(DataTemplateError(from[..end].chars().take(SHOWN_CHARS).collect()))
            }
            _ => Ok(()),
        }
    }
}

/// Reads the data as request messages of the type `message`, serialized and without the five-byte
/// prefix of gRPC. There is at least one; after the last comes the first again. `input` is standard
/// input.
///
/// # Errors
/// [`PayloadError`] naming the place in the data that is wrong.
pub fn read(
    source: &DataSource,
    message: &MessageDescriptor,
    templates: Templates,
    input: &mut impl Read,
) -> Result<Vec<Vec<u8>>, PayloadError> {
    let (bytes, place) = match source {
        DataSource::Nothing => return Ok(vec![Vec::new()]),
        DataSource::Json(text) => return from_json(text, "-d", message, templates),
        DataSource::JsonFile(file) | DataSource::BinaryFile(file) => {
            (fs::read(file), file.display().to_string())
        }
        DataSource::JsonInput | DataSource::BinaryInput => {
            let mut bytes = Vec::new();
            (input.read_to_end(&mut bytes).map(|_| bytes), "standard input".to_owned())
        }
    };
    let bytes = bytes.map_err(|error| Unreadable::new(&place, &error))?;
    if let DataSource::BinaryFile(_) | DataSource::BinaryInput = source {
        return from_binary(&bytes, &place, message);
    }
    match str::from_utf8(&bytes) {
        Ok(text) => from_json(text, &place, message, templates),
        Err(_) => Err(DataError::NotUtf8.at(&place)),
    }
}

/// Messages from JSON: an object is one message, an array is several to be sent in turn. `place` is
/// what errors call the data.
///
/// # Errors
/// [`PayloadError`] with line, column and field.
pub fn from_json(
    text: &str,
    place: &str,
    message: &MessageDescriptor,
    templates: Templates,
) -> Result<Vec<Vec<u8>>, PayloadError> {
    let checked = templates.check(text).map_err(DataError::Template);
    let read = checked.and_then(|()| json::messages(text, message));
    read.and_then(at_least_one).map_err(|error| error.at(place))
}

/// Messages from their serialized form: one message, or several that each have their length before
/// them as a varint. As in ghz, bytes that can be one message are one message.
///
/// # Errors
/// [`PayloadError`] when the bytes are neither.
pub fn from_binary(
    bytes: &[u8],
    place: &str,
    message: &MessageDescriptor,
) -> Result<Vec<Vec<u8>>, PayloadError> {
    let read = split_binary(bytes, message);
    read.and_then(at_least_one).map_err(|error| error.at(place))
}

fn at_least_one(messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, DataError> {
    if messages.is_empty() { Err(DataError::NoMessages) } else { Ok(messages) }
}

/// One message or, where the bytes cannot be one, several that each have their length before them.
fn split_binary(bytes: &[u8], message: &MessageDescriptor) -> Result<Vec<Vec<u8>>, DataError> {
    let decoded = |bytes: &[u8]| DynamicMessage::decode(message.clone(), bytes);
    let Err(refused) = decoded(bytes) else {
        return Ok(vec![bytes.to_vec()]);
    };
    let several = split_by_length(bytes);
    let fitting = several.filter(|several| several.iter().all(|one| decoded(one).is_ok()));
    fitting.ok_or_else(|| DataError::NotBinary {
        message: message.full_name().to_owned(),
        reason: refused.to_string(),
    })
}

fn split_by_length(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
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
