//! The request messages of a run: from JSON or from serialized bytes, made once, before the first
//! call.

mod error;
mod json;

pub use error::PayloadError;

use prost_reflect::{DynamicMessage, MessageDescriptor};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

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

/// The serialized request messages, without the five-byte prefix of gRPC. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    messages: Vec<Vec<u8>>,
}

impl Payload {
    /// Reads the data as request messages of the type `message`. `input` is standard input.
    ///
    /// # Errors
    /// [`PayloadError`] naming the place in the data that is wrong.
    pub fn read(
        source: &DataSource,
        message: &MessageDescriptor,
        templates: Templates,
        input: &mut impl Read,
    ) -> Result<Payload, PayloadError> {
        match source {
            DataSource::Nothing => Ok(Payload { messages: vec![Vec::new()] }),
            DataSource::Json(text) => Payload::from_json(text, "-d", message, templates),
            DataSource::JsonFile(file) => {
                let text = utf8(read_file(file)?, &place_of(file))?;
                Payload::from_json(&text, &place_of(file), message, templates)
            }
            DataSource::JsonInput => {
                let text = utf8(read_input(input)?, STANDARD_INPUT)?;
                Payload::from_json(&text, STANDARD_INPUT, message, templates)
            }
            DataSource::BinaryFile(file) => {
                Payload::from_binary(&read_file(file)?, &place_of(file), message)
            }
            DataSource::BinaryInput => {
                Payload::from_binary(&read_input(input)?, STANDARD_INPUT, message)
            }
        }
    }

    /// Messages from JSON: an object is one message, an array is several to be sent in turn.
    /// `place` is what errors call the data.
    ///
    /// # Errors
    /// [`PayloadError`] with line, column and field.
    pub fn from_json(
        text: &str,
        place: &str,
        message: &MessageDescriptor,
        templates: Templates,
    ) -> Result<Payload, PayloadError> {
        if templates == Templates::Refuse
            && let Some(template) = find_template(text)
        {
            return Err(PayloadError::Template { place: place.to_owned(), template });
        }
        Payload::of(json::messages(text, place, message)?, place)
    }

    /// Messages from their serialized form: one message, or several that each have their length
    /// before them as a varint. As in ghz, bytes that can be one message are one message.
    ///
    /// # Errors
    /// [`PayloadError::NotBinary`] when the bytes are neither.
    pub fn from_binary(
        bytes: &[u8],
        place: &str,
        message: &MessageDescriptor,
    ) -> Result<Payload, PayloadError> {
        Payload::of(split_binary(bytes, place, message)?, place)
    }

    fn of(messages: Vec<Vec<u8>>, place: &str) -> Result<Payload, PayloadError> {
        if messages.is_empty() {
            return Err(PayloadError::NoMessages { place: place.to_owned() });
        }
        Ok(Payload { messages })
    }

    /// All messages, in the order in which they are sent; after the last comes the first again.
    pub fn messages(&self) -> &[Vec<u8>] {
        &self.messages
    }

    /// All messages, for a plan.
    pub(crate) fn into_messages(self) -> Vec<Vec<u8>> {
        self.messages
    }
}

const STANDARD_INPUT: &str = "standard input";

fn place_of(file: &Path) -> String {
    file.display().to_string()
}

fn read_file(file: &Path) -> Result<Vec<u8>, PayloadError> {
    fs::read(file).map_err(|error| PayloadError::unreadable(&place_of(file), &error))
}

fn read_input(input: &mut impl Read) -> Result<Vec<u8>, PayloadError> {
    let mut bytes = Vec::new();
    input
        .read_to_end(&mut bytes)
        .map_err(|error| PayloadError::unreadable(STANDARD_INPUT, &error))?;
    Ok(bytes)
}

fn utf8(bytes: Vec<u8>, place: &str) -> Result<String, PayloadError> {
    String::from_utf8(bytes).map_err(|_| PayloadError::NotUtf8 { place: place.to_owned() })
}

/// The first `{{...}}` of the text. Outside of strings JSON never has two opening braces in a row.
pub(crate) fn find_template(text: &str) -> Option<String> {
    /// As much of an unclosed template as an error message shows.
    const SHOWN_CHARS: usize = 40;
    let from = &text[text.find("{{")?..];
    let end = from.find("}}").map_or(from.len(), |end| end + 2);
    Some(from[..end].chars().take(SHOWN_CHARS).collect())
}

/// One message or, where the bytes cannot be one, several that each have their length before them.
fn split_binary(
    bytes: &[u8],
    place: &str,
    message: &MessageDescriptor,
) -> Result<Vec<Vec<u8>>, PayloadError> {
    let refused = match DynamicMessage::decode(message.clone(), bytes) {
        Ok(_) => return Ok(vec![bytes.to_vec()]),
        Err(error) => error,
    };
    let fits = |one: &Vec<u8>| DynamicMessage::decode(message.clone(), one.as_slice()).is_ok();
    match split_by_length(bytes) {
        Some(several) if several.iter().all(fits) => Ok(several),
        _ => Err(PayloadError::NotBinary {
            place: place.to_owned(),
            message: message.full_name().to_owned(),
            reason: refused.to_string(),
        }),
    }
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
