//! JSON to message bytes by the canonical mapping, with errors that say where and what.

use super::error::DataError;
use crate::error_text::suggestion;
use prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use std::{fmt, slice};

/// The messages of a JSON text, of which there is at least one.
pub(super) fn messages(text: &str, message: &MessageDescriptor) -> Result<Vec<Vec<u8>>, DataError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let read = if text.trim_start().starts_with('[') {
        tracked.deserialize_seq(Several(message))
    } else {
        One(message).deserialize(tracked).map(|one| vec![one])
    };
    let messages = read
        .and_then(|messages| json.end().map(|()| messages))
        .map_err(|error| explain(&error, &track.path(), text, message))?;
    if messages.is_empty() { Err(DataError::NoMessages) } else { Ok(messages) }
}

struct One<'a>(&'a MessageDescriptor);

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Vec<u8>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Vec<u8>, D::Error> {
        DynamicMessage::deserialize(self.0.clone(), json).map(|message| message.encode_to_vec())
    }
}

struct Several<'a>(&'a MessageDescriptor);

impl<'de> Visitor<'de> for Several<'_> {
    type Value = Vec<Vec<u8>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut messages = Vec::new();
        while let Some(message) = list.next_element_seed(One(self.0))? {
            messages.push(message);
        }
        Ok(messages)
    }
}

/// Where the reading stopped, and why: at a wrong name, if there is one that explains it.
fn explain(
    error: &serde_json::Error,
    path: &serde_path_to_error::Path,
    text: &str,
    message: &MessageDescriptor,
) -> DataError {
    let (field, reason) = match find_unknown(error, text, message) {
        Some(unknown) => (String::new(), unknown.text),
        None => (named(path), reason(error)),
    };
    DataError::NotAMessage { line: error.line(), column: error.column(), field, reason }
}

fn named(path: &serde_path_to_error::Path) -> String {
    match path.to_string().as_str() {
        // The library does not know where it was.
        "." | "?" => String::new(),
        field => format!(", field {field}"),
    }
}

/// The library's words without the place, which the error has in fields of its own.
fn reason(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    words
        .strip_suffix(&place)
        .unwrap_or(&words)
        .replace("expected a map", "expected an object in {}")
}

/// The wrong name that the library refused, with the names that would have been right.
fn find_unknown(
    error: &serde_json::Error,
    text: &str,
    message: &MessageDescriptor,
) -> Option<Unknown> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut found = Vec::new();
    let several = value.as_array().map_or(slice::from_ref(&value), Vec::as_slice);
    several.iter().for_each(|one| unknown_in_message(one, message, &mut found));
    let words = error.to_string();
    found.into_iter().find(|unknown| words.contains(&format!("'{}'", unknown.name)))
}

/// A name in the data that its type does not have, and what to say of it.
struct Unknown {
    name: String,
    text: String,
}

impl Unknown {
    fn new(kind: &str, name: &str, owner: &str, known: impl Iterator<Item = String>) -> Self {
        let text = format!("{owner} has no {kind} {name}{}", suggestion(name, known));
        Self { name: name.to_owned(), text }
    }
}

fn unknown_in_message(value: &Value, message: &MessageDescriptor, found: &mut Vec<Unknown>) {
    // These have a JSON form of their own; their fields do not appear in it.
    if message.full_name().starts_with("google.protobuf.") {
        return;
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let field =
            message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name));
        match field {
            Some(field) => unknown_in_field(value, &field, found),
            None => {
                let known = message.fields().map(|field| field.name().to_owned());
                found.push(Unknown::new("field", name, message.full_name(), known));
            }
        }
    }
}

fn unknown_in_field(value: &Value, field: &FieldDescriptor, found: &mut Vec<Unknown>) {
    let kind = field.kind();
    match (value, &kind) {
        (Value::Object(entries), Kind::Message(entry)) if field.is_map() => {
            let kind = entry.map_entry_value_field().kind();
            entries.values().for_each(|value| unknown_in_value(value, &kind, found));
        }
        (Value::Array(values), _) if field.is_list() => {
            values.iter().for_each(|value| unknown_in_value(value, &kind, found));
        }
        _ => unknown_in_value(value, &kind, found),
    }
}

fn unknown_in_value(value: &Value, kind: &Kind, found: &mut Vec<Unknown>) {
    match (value, kind) {
        (value, Kind::Message(message)) => unknown_in_message(value, message, found),
        (Value::String(name), Kind::Enum(choices)) if choices.get_value_by_name(name).is_none() => {
            let known = choices.values().map(|value| value.name().to_owned());
            found.push(Unknown::new("value", name, choices.full_name(), known));
        }
        _ => {}
    }
}
