//! What can be wrong with the data of a run, each in one line.

use crate::error_text::{Suggestion, reason};
use std::io;

/// Why there is no payload. Always the user's fault or the file's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// The data cannot be read.
    #[error("cannot read {place}: {reason}")]
    Unreadable {
        /// The file, or "standard input".
        place: String,
        /// What the system said.
        reason: String,
    },
    /// JSON data that is not UTF-8.
    #[error("{place} is not text in UTF-8: serialized messages are given with -B")]
    NotUtf8 {
        /// Where the data came from.
        place: String,
    },
    /// An empty array or an empty file.
    #[error("{place} has no message: {{}} is the empty one")]
    NoMessages {
        /// Where the data came from.
        place: String,
    },
    /// The data is not JSON, or a value does not fit its field.
    #[error("{place}, line {line} column {column}{}: {reason}", named(.field))]
    NotAMessage {
        /// Where the data came from.
        place: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The field, such as `request.pets[1].color`; empty where no field is to blame.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A field or an enum value that the message does not have.
    #[error("{place}, line {line} column {column}: {owner} has no {kind} {name}{suggestion}")]
    NameUnknown {
        /// Where the data came from.
        place: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// `field` or `value`.
        kind: &'static str,
        /// The name as it was given.
        name: String,
        /// The message or enum type that does not have it.
        owner: String,
        /// What could have been meant.
        suggestion: Suggestion,
    },
    /// `{{` in string data.
    #[error(
        "{place} has the template {template}, and templates are not supported yet: \
         --disable-template-data sends it as literal text"
    )]
    Template {
        /// Where the data came from.
        place: String,
        /// The template.
        template: String,
    },
    /// The bytes are not a serialized message nor length-prefixed ones.
    #[error(
        "{place} is neither a serialized {message} nor several with their lengths before them: \
         {reason}"
    )]
    NotBinary {
        /// Where the data came from.
        place: String,
        /// The message type.
        message: String,
        /// What the decoder said about them as one message.
        reason: String,
    },
}

impl PayloadError {
    pub(super) fn unreadable(place: &str, error: &io::Error) -> PayloadError {
        PayloadError::Unreadable { place: place.to_owned(), reason: reason(error) }
    }
}

fn named(field: &str) -> String {
    if field.is_empty() {
        return String::new();
    }
    format!(", field {field}")
}
