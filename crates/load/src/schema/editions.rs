//! Schemas in an edition of Protocol Buffers, which the descriptor library does not know: they are
//! read as what they are on the wire.
//!
//! An edition says by features what `proto2` and `proto3` said once for a file. Whatever these
//! features are, the bytes of a message are those that `proto2` gives it, but for two things:
//! lists of numbers may be packed or not, and every reader takes both; and a field may be delimited
//! like a group, which is refused here.

use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage};
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use serde_json::Value;

/// The `syntax` of files in an edition.
const EDITIONS: &str = "editions";
const READ_AS: &str = "proto2";

/// The same files without editions; `None` where no file has one.
///
/// # Errors
/// What in them cannot be read so.
pub(super) fn set_without_editions(bytes: &[u8]) -> Result<Option<FileDescriptorSet>, String> {
    let Ok(mut set) = FileDescriptorSet::decode(bytes) else {
        return Ok(None);
    };
    if !set.file.iter().any(|file| file.syntax() == EDITIONS) {
        return Ok(None);
    }
    check_fields("google.protobuf.FileDescriptorSet", bytes)?;
    for file in set.file.iter_mut().filter(|file| file.syntax() == EDITIONS) {
        file.syntax = Some(READ_AS.to_owned());
    }
    Ok(Some(set))
}

/// The same file, whose bytes these are, without an edition.
///
/// # Errors
/// What in it cannot be read so.
pub(super) fn file_without_edition(
    file: FileDescriptorProto,
    bytes: &[u8],
) -> Result<FileDescriptorProto, String> {
    if file.syntax() != EDITIONS {
        return Ok(file);
    }
    check_fields("google.protobuf.FileDescriptorProto", bytes)?;
    Ok(FileDescriptorProto { syntax: Some(READ_AS.to_owned()), ..file })
}

/// The features of fields are in options that only the newer descriptor of descriptors has.
fn check_fields(kind: &str, bytes: &[u8]) -> Result<(), String> {
    let kind = DescriptorPool::global().get_message_by_name(kind);
    let json = kind
        .and_then(|kind| DynamicMessage::decode(kind, bytes).ok())
        .and_then(|message| serde_json::to_value(message).ok());
    if json.is_some_and(|json| has_value(&json, "messageEncoding", "DELIMITED")) {
        return Err("a field with features.message_encoding = DELIMITED is not supported".into());
    }
    Ok(())
}

fn has_value(json: &Value, key: &str, text: &str) -> bool {
    match json {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| (name == key && value == text) || has_value(value, key, text)),
        Value::Array(values) => values.iter().any(|value| has_value(value, key, text)),
        _ => false,
    }
}
