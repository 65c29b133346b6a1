//! The request messages of a run: from JSON or from serialized bytes, made once, before the first
//! call. With templates in the JSON it is a template that is made, and each call has its own.

mod data_template;
mod error;
pub(crate) mod json;

pub use data_template::DataTemplate;
pub use error::{DataError, PayloadError};
pub use json::{elements, members};

use crate::given_file;
use crate::template::CallFacts;
use bookend_contract::input;
use data_template::CompiledData;
use error::MESSAGES_MAX;
use prost_reflect::{
    DynamicMessage, MessageDescriptor, MethodDescriptor, ReflectMessage as _, Value,
};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Required fields without a value that an error names: a list may lack one in each of its
/// messages.
const MISSING_NAMED: usize = 8;

/// What an error says before what is wrong with the message then.
const NO_DATA: &str = "without -d the message is empty";

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

impl DataSource {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::JsonFile(file) | Self::BinaryFile(file) => Some(file),
            _ => None,
        }
    }

    /// The JSON of its file, or of standard input, and what errors call the place.
    pub(crate) fn read_text(
        &self,
        standard_input: &mut impl Read,
    ) -> Result<(String, String), PayloadError> {
        let (bytes, place) = given_file::data(self.file(), standard_input)?;
        match input::decoded(bytes) {
            Ok(text) => Ok((text, place)),
            Err(error) => Err(DataError::NotText(error.to_string()).at(&place)),
        }
    }
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
    pub fn call_functions(self) -> bool {
        self == Self::Functions
    }
}

/// The request messages of a run.
#[derive(Clone, Debug)]
pub struct RequestData {
    /// Serialized messages without the five-byte prefix of gRPC, at least one unless requests are
    /// streams. After the last comes the first again. With a template, those of the first call.
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
    match source {
        DataSource::Nothing => {
            let messages = json::empty_message(&method.input());
            messages.map(constant).map_err(|error| error.at(NO_DATA))
        }
        DataSource::Json(text) => from_template(text, "-d", method, templates),
        DataSource::JsonFile(_) | DataSource::JsonInput => {
            let (text, place) = source.read_text(input)?;
            from_template(&text, &place, method, templates)
        }
        DataSource::BinaryFile(_) | DataSource::BinaryInput => {
            let (bytes, place) = given_file::data(source.file(), input)?;
            from_binary(&bytes, &place, &method.input()).map(constant)
        }
    }
}

/// All data on standard input, where it is read once for several runs.
///
/// # Errors
/// [`PayloadError::Unreadable`]: the system's reason, or that there is more than is kept.
pub fn standard_input(input: &mut impl Read) -> Result<Vec<u8>, PayloadError> {
    Ok(given_file::data(None, input)?.0)
}

/// Requests from JSON in which there may be templates.
fn from_template(
    text: &str,
    place: &str,
    method: &MethodDescriptor,
    templates: Templates,
) -> Result<RequestData, PayloadError> {
    let constant = |text: &str| {
        let messages = match json::messages(text, &method.input()) {
            // An empty list is a stream that ends before its first message.
            Err(DataError::NoMessages) if method.is_client_streaming() => Vec::new(),
            read => read.map_err(|error| error.at(place))?,
        };
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
    let Err(refused) = check_binary(bytes, message) else {
        return Ok(vec![bytes.to_vec()]);
    };
    let is_message = |one: &Vec<u8>| check_binary(one, message).is_ok();
    let several = split_by_length(bytes)?;
    several.filter(|several| several.iter().all(is_message)).ok_or(refused)
}

/// Whether bytes are a message with all its required fields.
fn check_binary(bytes: &[u8], message: &MessageDescriptor) -> Result<(), DataError> {
    let decoded = DynamicMessage::decode(message.clone(), bytes);
    let decoded = decoded.map_err(|error| DataError::NotBinary {
        message: message.full_name().to_owned(),
        reason: error.to_string(),
    })?;
    let mut missing = Vec::new();
    add_missing(&decoded, &mut missing);
    if missing.is_empty() { Ok(()) } else { Err(DataError::FieldsMissing(missing.join(", "))) }
}

/// Adds the full names of required fields without a value, in a message and those within it.
fn add_missing(message: &DynamicMessage, missing: &mut Vec<String>) {
    let descriptor = message.descriptor();
    let required = descriptor.fields().filter(|field| field.is_required());
    for field in required.filter(|field| !message.has_field(field)) {
        let name = field.full_name();
        if missing.len() < MISSING_NAMED && missing.iter().all(|known| known != name) {
            missing.push(name.to_owned());
        }
    }
    for (_, value) in message.fields() {
        let values = match value {
            Value::List(values) => values.iter().collect(),
            Value::Map(entries) => entries.values().collect(),
            value => vec![value],
        };
        for message in values.into_iter().filter_map(Value::as_message) {
            add_missing(message, missing);
        }
    }
}

/// `None`: that is not what the bytes are.
fn split_by_length(mut bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, DataError> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let Some((message, rest)) = split_first(bytes) else {
            return Ok(None);
        };
        if messages.len() == MESSAGES_MAX {
            return Err(DataError::TooManyMessages(MESSAGES_MAX));
        }
        messages.push(message.to_vec());
        bytes = rest;
    }
    Ok(Some(messages))
}

fn split_first(mut bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = prost::encoding::decode_varint(&mut bytes).ok()?;
    bytes.split_at_checked(usize::try_from(length).ok()?)
}
