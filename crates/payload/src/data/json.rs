//! JSON to message bytes as protobuf's JSON guide maps it, with errors that say where and what.
//!
//! A text is read twice: serde_json says whether it is JSON, and a cursor walks it along the
//! message's fields and writes their bytes. Numbers are as exact as they are written, and what is
//! given twice is seen. Where the guide leaves a choice, Go's `protojson` makes it;
//! `conformance/tests/protojson` compares the two.

mod any;
mod cursor;
mod entries;
mod failure;
mod field;
mod given;
mod message;
mod number;
mod scalar;
mod time;
mod well_known;

use super::error::{DataError, MESSAGES_MAX};
use cursor::words;
pub(crate) use cursor::{Cursor, Found};
pub(crate) use failure::Failure;
use given::Given;
use message::{Completeness, write_message};
pub(crate) use number::{NoInteger, integer};
use prost_reflect::MessageDescriptor;
pub(crate) use scalar::base64_value;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;

/// The messages of a JSON text, at least one.
pub(super) fn messages(text: &str, message: &MessageDescriptor) -> Result<Vec<Vec<u8>>, DataError> {
    each(text, |cursor| {
        let mut bytes = Vec::new();
        write_message(cursor, message, Completeness::Whole, &mut bytes)?;
        Ok(bytes)
    })
}

/// What `read` makes of a JSON text or, where that is an array, of each element; at least one.
pub(crate) fn each<T>(
    text: &str,
    read: impl FnMut(&mut Cursor<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, DataError> {
    let not_json = serde_json::from_str::<IgnoredAny>(text).err();
    // It has better words where it reads what it skips otherwise.
    let not_json = not_json.map(|error| serde_json::from_str::<Value>(text).err().unwrap_or(error));
    match (read_each(text, read), not_json) {
        (Err(failure), not_json) => Err(explain(failure, text, not_json)),
        (Ok(_), Some(error)) => Err(explain(Failure::not_json(text.len()), text, Some(error))),
        (Ok(all), None) if all.is_empty() => Err(DataError::NoMessages),
        (Ok(all), None) => Ok(all),
    }
}

fn read_each<T>(
    text: &str,
    mut read: impl FnMut(&mut Cursor<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut cursor = Cursor::new(text);
    let mut all = Vec::new();
    let mut add = |cursor: &mut Cursor<'_>| {
        if all.len() == MESSAGES_MAX {
            return Err(Failure::of_name(cursor.at(), too_many_messages()));
        }
        all.push(read(cursor)?);
        Ok(())
    };
    if cursor.peek() == Some(b'[') {
        cursor.array(&mut add)?;
    } else {
        add(&mut cursor)?;
    }
    Ok(all)
}

fn too_many_messages() -> String {
    let advice = "give fewer, they are sent in turn again and again";
    format!("there are more than {MESSAGES_MAX} messages: {advice}")
}

/// The message without any field, unless it has to have some.
pub(super) fn empty_message(message: &MessageDescriptor) -> Result<Vec<Vec<u8>>, DataError> {
    match Given::default().missing(message).as_slice() {
        [] => Ok(vec![Vec::new()]),
        missing => Err(DataError::FieldsMissing(missing.join(", "))),
    }
}

/// Where the reading stopped, and why.
fn explain(failure: Failure, text: &str, not_json: Option<serde_json::Error>) -> DataError {
    let field = failure.field();
    let (line, column) = place(text, failure.at);
    let (line, column, reason) = match (not_json, failure.reason) {
        // What is wrong as JSON comes first where it stands first. Its column may be the next.
        (Some(error), reason)
            if reason.is_none() || (error.line(), error.column()) <= (line, column + 1) =>
        {
            (error.line(), error.column(), words(&error))
        }
        (_, reason) => (line, column, reason.unwrap_or_else(|| "it is not JSON".to_owned())),
    };
    DataError::NotAMessage { line, column, field, reason }
}

/// Line and column of the last of `at` bytes, as serde_json counts them.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    (line, before.len() - line_start)
}

/// Some fields of a message: required ones may be missing. `None` where it is no message.
pub(crate) fn part_of_message(text: &str, message: &MessageDescriptor) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut cursor = Cursor::new(text);
    write_message(&mut cursor, message, Completeness::Partial, &mut bytes).ok()?;
    Some(bytes)
}

/// The members of an object in JSON, each with its value as it is written.
pub fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let mut members = Vec::new();
    let mut cursor = Cursor::new(object);
    let all = cursor.object(|cursor, key| {
        members.push((key.name.clone(), cursor.skip()?));
        Ok(())
    });
    all.ok().map(|()| members)
}

/// The elements of an array in JSON, as they are written.
pub fn elements(array: &str) -> Option<Vec<&str>> {
    let mut elements = Vec::new();
    let all = Cursor::new(array).array(|cursor| {
        elements.push(cursor.skip()?);
        Ok(())
    });
    all.ok().map(|()| elements)
}
