//! The request messages of a run: from JSON or from serialized bytes, made once, before the first
//! call. With templates in the JSON it is a template that is made, and each call has its own.

mod data_template;
mod error;
mod json;

pub use data_template::DataTemplate;
pub use error::{DataError, PayloadError};

use crate::error_text::Unreadable;
use crate::template::CallFacts;
use data_template::CompiledData;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};
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

/// What `{{` in data and metadata means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Templates {
    /// A template, with variables and functions.
    #[default]
    Functions,
    /// A template, which may call no functions but those of Go's language itself.
    Variables,
    /// Text like any other.
    Literal,
}

impl Templates {
    /// Whether a text is a template.
    pub(crate) fn are_in(self, text: &str) -> bool {
        self != Self::Literal && text.contains("{{")
    }

    /// Whether templates may call functions.
    pub(crate) fn call_functions(self) -> bool {
        self == Self::Functions
    }
}

/// The request messages of a run.
#[derive(Clone, Debug)]
pub struct RequestData {
    /// Serialized messages without the five-byte prefix of gRPC, at least one. After the last comes
    /// the first again. With a template, those of the first call.
    pub messages: Vec<Vec<u8>>,
    /// Where they differ from call to call.
    pub template: Option<DataTemplate>,
}

/// Reads the data as requests of that method. `input` is standard input.
///
/// # Errors
/// [`PayloadError`] naming the place in the data that is wrong.
pub fn read(
    source: &DataSource,
    method: &MethodDescriptor,
    templates: Templates,
    input: &mut impl Read,
) -> Result<RequestData, PayloadError> {
    let constant = |messages| RequestData { messages, template: None };
    let (read, place) = match source {
        DataSource::Nothing => return Ok(constant(vec![Vec::new()])),
        DataSource::Json(text) => return from_template(text, "-d", method, templates),
        DataSource::JsonFile(file) | DataSource::BinaryFile(file) => {
            (fs::read(file), file.display().to_string())
        }
        DataSource::JsonInput | DataSource::BinaryInput => {
            let mut bytes = Vec::new();
            (input.read_to_end(&mut bytes).map(|_| bytes), "standard input".to_owned())
        }
    };
    let bytes = read.map_err(|error| Unreadable::new(&place, &error))?;
    if let DataSource::BinaryFile(_) | DataSource::BinaryInput = source {
        return from_binary(&bytes, &place, &method.input()).map(constant);
    }
    match str::from_utf8(&bytes) {
        Ok(text) => from_template(text, &place, method, templates),
        Err(_) => Err(DataError::NotUtf8.at(&place)),
    }
}

/// Requests from JSON in which there may be templates.
fn from_template(
    text: &str,
    place: &str,
    method: &MethodDescriptor,
    templates: Templates,
) -> Result<RequestData, PayloadError> {
    let constant = |text: &str| {
        let messages = from_json(text, place, &method.input())?;
        Ok(RequestData { messages, template: None })
    };
    if !templates.are_in(text) {
        return constant(text);
    }
    let compiled = data_template::compile(text, method, templates.call_functions())
        .map_err(|error| error.at(place))?;
    match compiled {
        CompiledData::Constant(text) => constant(&text),
        CompiledData::Template(template) => {
            let messages =
                template.messages(&CallFacts::default()).map_err(|error| error.at(place))?;
            Ok(RequestData { messages, template: Some(template) })
        }
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
) -> Result<Vec<Vec<u8>>, PayloadError> {
    json::messages(text, message).map_err(|error| error.at(place))
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
    split_binary(bytes, message).and_then(at_least_one).map_err(|error| error.at(place))
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
    several.filter(|several| several.iter().all(|one| decoded(one).is_ok())).ok_or_else(|| {
        DataError::NotBinary {
            message: message.full_name().to_owned(),
            reason: refused.to_string(),
        }
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
