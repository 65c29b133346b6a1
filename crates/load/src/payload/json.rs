//! JSON to message bytes by the canonical mapping, with errors that say where and what.

use super::error::PayloadError;
use crate::error_text::Suggestion;
use prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

pub(super) fn messages(
    text: &str,
    place: &str,
    message: &MessageDescriptor,
) -> Result<Vec<Vec<u8>>, PayloadError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let read = if text.trim_start().starts_with('[') {
        tracked.deserialize_seq(Several(message))
    } else {
        One(message).deserialize(tracked).map(|one| vec![one])
    };
    let complete = read.and_then(|messages| json.end().map(|()| messages));
    complete.map_err(|error| Failure { text, place, error: &error }.explain(track.path(), message))
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

struct Failure<'a> {
    text: &'a str,
    place: &'a str,
    error: &'a serde_json::Error,
}

impl Failure<'_> {
    fn explain(
        &self,
        path: serde_path_to_error::Path,
        message: &MessageDescriptor,
    ) -> PayloadError {
        if let Some(unknown) = self.find_unknown(message) {
            return self.unknown(unknown);
        }
        let field = path.to_string();
        PayloadError::NotAMessage {
            place: self.place.to_owned(),
            line: self.error.line(),
            column: self.error.column(),
            field: if field == "." { String::new() } else { field },
            reason: self.reason(),
        }
    }

    /// The library's words without the place, which the error has in fields of its own.
    fn reason(&self) -> String {
        let words = self.error.to_string();
        let place = format!(" at line {} column {}", self.error.line(), self.error.column());
        let words = words.strip_suffix(&place).unwrap_or(&words);
        words.replace("expected a map", "expected an object in {}")
    }

    /// The wrong name that the library refused, with the names that would have been right.
    fn find_unknown(&self, message: &MessageDescriptor) -> Option<Unknown> {
        let value: Value = serde_json::from_str(self.text).ok()?;
        let mut found = Vec::new();
        match &value {
            Value::Array(several) => {
                several.iter().for_each(|one| unknown_in_message(one, message, &mut found));
            }
            one => unknown_in_message(one, message, &mut found),
        }
        let words = self.error.to_string();
        found.into_iter().find(|unknown| words.contains(&format!("'{}'", unknown.name)))
    }

    fn unknown(&self, unknown: Unknown) -> PayloadError {
        PayloadError::NameUnknown {
            place: self.place.to_owned(),
            line: self.error.line(),
            column: self.error.column(),
            kind: unknown.kind,
            suggestion: Suggestion::among(&unknown.name, unknown.known),
            name: unknown.name,
            owner: unknown.owner,
        }
    }
}

/// A name in the data that its type does not have.
struct Unknown {
    kind: &'static str,
    name: String,
    owner: String,
    known: Vec<String>,
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
            None => found.push(Unknown {
                kind: "field",
                name: name.clone(),
                owner: message.full_name().to_owned(),
                known: message.fields().map(|field| field.name().to_owned()).collect(),
            }),
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
            found.push(Unknown {
                kind: "value",
                name: name.clone(),
                owner: choices.full_name().to_owned(),
                known: choices.values().map(|value| value.name().to_owned()).collect(),
            });
        }
        _ => {}
    }
}
