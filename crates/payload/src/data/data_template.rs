//! Request messages that differ from call to call.

use super::error::DataError;
use super::json;
use crate::template::{
    CallFacts, CallTemplateError, Compiled, Engine, Language, MARK, MessageParts, Piece, Variable,
    pieces,
};
use prost_reflect::{MessageDescriptor, MethodDescriptor};
use serde::de::IgnoredAny;

/// [`MARK`] as JSON escapes it, in small letters.
const ESCAPED_MARK: &str = "\\uf8ff";

/// A template of one message or several.
#[derive(Clone, Debug)]
pub struct DataTemplate {
    form: Form,
    message: MessageDescriptor,
}

#[derive(Clone, Debug)]
enum Form {
    /// Each message with gaps for its variables.
    Parts(Vec<MessageParts>),
    /// JSON that is rendered and read for each call.
    Engine(Engine),
}

/// What data with `{{` in it gives.
pub(super) enum CompiledData {
    /// The JSON of every call.
    Constant(String),
    /// Another message in each call.
    Template(DataTemplate),
}

/// Compiles JSON with templates in it. `calls_functions`: whether functions may be called besides
/// those of Go.
pub(super) fn compile(
    text: &str,
    method: &MethodDescriptor,
    calls_functions: bool,
) -> Result<CompiledData, DataError> {
    let language = Language::new(method, calls_functions);
    let message = method.input();
    let pieces = match Engine::compile(text, &language)? {
        Compiled::Engine(engine) => {
            return Ok(CompiledData::Template(DataTemplate {
                form: Form::Engine(engine),
                message,
            }));
        }
        Compiled::Pieces(pieces) => pieces,
    };
    if pieces::are_constant(&pieces) {
        return Ok(CompiledData::Constant(of_first_call(&pieces)));
    }
    // What is a message has no more parts than there may be messages.
    let parts = is_message(&pieces, &message).then(|| message_parts(&pieces, &message)).flatten();
    let form = match parts {
        Some(parts) => Form::Parts(parts),
        None => Form::Engine(Engine::new(text, &language)?),
    };
    Ok(CompiledData::Template(DataTemplate { form, message }))
}

impl DataTemplate {
    /// Appends the message of a call: messages are taken in turn.
    ///
    /// # Errors
    /// [`DataError`] where what was rendered is no message.
    #[inline]
    pub fn write(&self, facts: &CallFacts<'_>, bytes: &mut Vec<u8>) -> Result<(), DataError> {
        match &self.form {
            Form::Parts(messages) => {
                let index = (facts.number % messages.len() as u64) as usize;
                Ok(messages[index].write(facts, bytes)?)
            }
            Form::Engine(_) => {
                let messages = self.messages(facts)?;
                let index = (facts.number % messages.len() as u64) as usize;
                bytes.extend_from_slice(&messages[index]);
                Ok(())
            }
        }
    }

    /// All messages of a call, at least one.
    ///
    /// # Errors
    /// [`DataError`] where what was rendered is no message.
    pub fn messages(&self, facts: &CallFacts<'_>) -> Result<Vec<Vec<u8>>, DataError> {
        match &self.form {
            Form::Parts(messages) => {
                let written = |message: &MessageParts| {
                    let mut bytes = Vec::new();
                    message.write(facts, &mut bytes).map(|()| bytes)
                };
                Ok(messages.iter().map(written).collect::<Result<_, CallTemplateError>>()?)
            }
            Form::Engine(engine) => json::messages(&engine.render(facts)?, &self.message),
        }
    }

    /// Whether each call costs no more than writing its variables.
    pub fn is_compiled(&self) -> bool {
        matches!(self.form, Form::Parts(_))
    }
}

/// The text of the first call.
fn of_first_call(pieces: &[Piece]) -> String {
    let mut text = Vec::new();
    pieces::write(pieces, &CallFacts::default(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Whether the first call's JSON is a message. If not, the engine says what is wrong with it: a
/// field that is given twice, or a required one that is missing.
fn is_message(pieces: &[Piece], message: &MessageDescriptor) -> bool {
    json::messages(&of_first_call(pieces), message).is_ok()
}

/// The messages with gaps, where the pieces are such: JSON whose values have variables in them.
fn message_parts(pieces: &[Piece], message: &MessageDescriptor) -> Option<Vec<MessageParts>> {
    let (json, variables) = marked_json(pieces)?;
    serde_json::from_str::<IgnoredAny>(&json).ok()?;
    let parts = |json: &str| MessageParts::new(json, message, &variables);
    if json.trim_start().starts_with('[') {
        let messages = json::elements(&json)?;
        return (!messages.is_empty()).then(|| messages.into_iter().map(parts).collect())?;
    }
    Some(vec![parts(&json)?])
}

/// The JSON with a mark in place of each variable, and the variables in order. A variable outside
/// of a string is a value of its own: its mark is a string.
fn marked_json(pieces: &[Piece]) -> Option<(String, Vec<Variable>)> {
    let mut json = String::new();
    let mut variables = Vec::new();
    let mut place = JsonPlace::Outside;
    for piece in pieces {
        match piece {
            Piece::Text(text) if has_mark(text) => return None,
            Piece::Text(text) => {
                place = text.bytes().fold(place, JsonPlace::after);
                json.push_str(text);
            }
            Piece::Variable(variable) => {
                let quote = if place == JsonPlace::Outside { "\"" } else { "" };
                json.push_str(&format!("{quote}{MARK}{}{MARK}{quote}", variables.len()));
                variables.push(*variable);
            }
        }
    }
    Some((json, variables))
}

/// Whether somebody else wrote a mark, as a letter or as JSON escapes it.
fn has_mark(text: &str) -> bool {
    text.contains(MARK) || text.to_ascii_lowercase().contains(ESCAPED_MARK)
}

/// Where in JSON a text has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonPlace {
    Outside,
    InString,
    /// Behind a backslash in a string.
    Escaped,
}

impl JsonPlace {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Outside, b'"') | (Self::Escaped, _) => Self::InString,
            (Self::InString, b'"') | (Self::Outside, _) => Self::Outside,
            (Self::InString, b'\\') => Self::Escaped,
            (Self::InString, _) => Self::InString,
        }
    }
}
