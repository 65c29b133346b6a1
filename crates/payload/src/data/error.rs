//! What can be wrong with the data of a run, each in one line.

use crate::error_text::Unreadable;
use crate::template::CallTemplateError;
use bookend_contract::input;
use thiserror::Error;

/// Messages of one run: each takes some 50 bytes of memory on top of its own, and may consist of
/// only a length of one byte, or `{}`.
pub(super) const MESSAGES_MAX: usize = 1 << 22;

/// Why there is no payload. Always the user's fault or the file's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PayloadError {
    /// The data cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The data is not what it should be.
    #[error("{place}{error}")]
    Data {
        /// Where the data came from.
        place: String,
        /// What is wrong with it.
        error: DataError,
    },
}

/// What is wrong with data. `Display` follows the name of the place that the data came from.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataError {
    /// JSON data that is not UTF-8, and what it is instead.
    #[error(": {0}; serialized messages are given with -B")]
    NotText(String),
    /// An empty array or an empty file.
    #[error(" has no message: {{}} is the empty one")]
    NoMessages,
    /// More messages than are kept.
    #[error(" has more than {0} messages: give fewer, they are sent in turn again and again")]
    TooManyMessages(usize),
    /// The data is not JSON, a value does not fit its field, or the type has no such name.
    #[error(", line {line} column {column}{}: {}", input::reason(field), input::reason(reason))]
    NotAMessage {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The field, such as `, field request.pets[1].color`; empty where no field is to blame.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No data, or serialized messages, without fields that have to be there.
    #[error(": required fields missing: {0}")]
    FieldsMissing(String),
    /// A template that does not work.
    #[error(", {0}")]
    Template(#[from] CallTemplateError),
    /// The bytes are not a serialized message nor length-prefixed ones.
    #[error(
        " is neither a serialized {message} nor several with their lengths before them: {reason}"
    )]
    NotBinary {
        /// The message type.
        message: String,
        /// What the decoder said about them as one message.
        reason: String,
    },
}

impl DataError {
    pub(super) fn at(self, place: &str) -> PayloadError {
        PayloadError::Data { place: place.to_owned(), error: self }
    }
}
