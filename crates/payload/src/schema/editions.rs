//! Schemas in an edition of Protocol Buffers, which the descriptor library does not know: each file
//! becomes one in `proto3` whose messages have the same bytes.
//!
//! An edition says by features what `proto2` and `proto3` said once for a file: which fields have
//! presence, whether lists of numbers are packed, and whether a message stands behind its length or
//! between two keys. A file, its messages and their fields may each say otherwise than what they
//! stand in. `proto3` says it of each field: by `optional`, `required`, `packed` and groups, of
//! which the library takes the second and the last there too. What enumerations do with unknown
//! numbers concerns readers alone.

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet,
};
use std::collections::HashSet;

/// The `syntax` of files in an edition.
const EDITIONS: &str = "editions";
const READ_AS: &str = "proto3";
/// Their numbers in `descriptor.proto`. The features that matter here have one default in all.
const KNOWN: [(i32, &str); 3] = [(1000, "2023"), (1001, "2024"), (1002, "2026")];

/// `FeatureSet`: what a file, a message or a field says of the bytes in it.
#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Features {
    #[prost(enumeration = "FieldPresence", optional, tag = "1")]
    field_presence: Option<i32>,
    #[prost(enumeration = "RepeatedFieldEncoding", optional, tag = "3")]
    repeated_field_encoding: Option<i32>,
    #[prost(enumeration = "MessageEncoding", optional, tag = "5")]
    message_encoding: Option<i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
enum FieldPresence {
    Unknown = 0,
    Explicit = 1,
    Implicit = 2,
    LegacyRequired = 3,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
enum RepeatedFieldEncoding {
    Unknown = 0,
    Packed = 1,
    Expanded = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
enum MessageEncoding {
    Unknown = 0,
    LengthPrefixed = 1,
    Delimited = 2,
}

/// The descriptors' own messages, of which only the features are read. `prost-types` does not have
/// them.
#[derive(Clone, PartialEq, prost::Message)]
struct FeaturesOfSet {
    #[prost(message, repeated, tag = "1")]
    file: Vec<FeaturesOfFile>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FeaturesOfFile {
    #[prost(message, repeated, tag = "4")]
    message_type: Vec<FeaturesOfMessage>,
    #[prost(message, repeated, tag = "7")]
    extension: Vec<FeaturesOfField>,
    #[prost(message, optional, tag = "8")]
    options: Option<OptionsOfFile>,
    #[prost(int32, tag = "14")]
    edition: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct FeaturesOfMessage {
    #[prost(message, repeated, tag = "2")]
    field: Vec<FeaturesOfField>,
    #[prost(message, repeated, tag = "3")]
    nested_type: Vec<FeaturesOfMessage>,
    #[prost(message, repeated, tag = "6")]
    extension: Vec<FeaturesOfField>,
    #[prost(message, optional, tag = "7")]
    options: Option<OptionsOfMessage>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct FeaturesOfField {
    #[prost(message, optional, tag = "8")]
    options: Option<OptionsOfField>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct OptionsOfFile {
    #[prost(message, optional, tag = "50")]
    features: Option<Features>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct OptionsOfMessage {
    #[prost(message, optional, tag = "12")]
    features: Option<Features>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct OptionsOfField {
    #[prost(message, optional, tag = "21")]
    features: Option<Features>,
}

impl Features {
    const DEFAULT: Self = Self {
        field_presence: Some(FieldPresence::Explicit as i32),
        repeated_field_encoding: Some(RepeatedFieldEncoding::Packed as i32),
        message_encoding: Some(MessageEncoding::LengthPrefixed as i32),
    };

    /// These, but where something within them says otherwise.
    fn with(self, inner: Option<Features>) -> Self {
        let inner = inner.unwrap_or_default();
        Self {
            field_presence: inner.field_presence.or(self.field_presence),
            repeated_field_encoding: inner.repeated_field_encoding.or(self.repeated_field_encoding),
            message_encoding: inner.message_encoding.or(self.message_encoding),
        }
    }
}

/// The same files without editions; `None` where no file has one.
///
/// # Errors
/// The file whose edition is not known.
pub(super) fn set_without_editions(bytes: &[u8]) -> Result<Option<FileDescriptorSet>, String> {
    let Ok(mut set) = FileDescriptorSet::decode(bytes) else {
        return Ok(None);
    };
    if !set.file.iter().any(|file| file.syntax() == EDITIONS) {
        return Ok(None);
    }
    let features = FeaturesOfSet::decode(bytes).map_err(|error| error.to_string())?;
    for (file, features) in set.file.iter_mut().zip(&features.file) {
        resolve_file(file, features)?;
    }
    Ok(Some(set))
}

/// The same file, whose bytes these are, without an edition.
///
/// # Errors
/// That its edition is not known.
pub(super) fn file_without_edition(
    mut file: FileDescriptorProto,
    bytes: &[u8],
) -> Result<FileDescriptorProto, String> {
    if file.syntax() == EDITIONS {
        let features = FeaturesOfFile::decode(bytes).map_err(|error| error.to_string())?;
        resolve_file(&mut file, &features)?;
    }
    Ok(file)
}

fn resolve_file(file: &mut FileDescriptorProto, of_file: &FeaturesOfFile) -> Result<(), String> {
    if file.syntax() != EDITIONS {
        return Ok(());
    }
    if !KNOWN.iter().any(|(number, _)| *number == of_file.edition) {
        let known = KNOWN.map(|(_, name)| name).join(", ");
        return Err(format!(
            "{} is in edition {}, and editions {known} are known",
            file.name(),
            of_file.edition
        ));
    }
    file.syntax = Some(READ_AS.to_owned());
    let features =
        Features::DEFAULT.with(of_file.options.as_ref().and_then(|options| options.features));
    let scope = match file.package() {
        "" => String::new(),
        package => format!(".{package}"),
    };
    for (message, of_message) in file.message_type.iter_mut().zip(&of_file.message_type) {
        resolve_message(message, of_message, features, &scope);
    }
    resolve_fields(&mut file.extension, &of_file.extension, features);
    file.enum_type.iter_mut().for_each(begin_with_zero);
    Ok(())
}

fn resolve_message(
    message: &mut DescriptorProto,
    of_message: &FeaturesOfMessage,
    outer: Features,
    scope: &str,
) {
    let features = outer.with(of_message.options.as_ref().and_then(|options| options.features));
    let scope = format!("{scope}.{}", message.name());
    let is_entry = |message: &DescriptorProto| {
        message.options.as_ref().is_some_and(|options| options.map_entry())
    };
    let entries: HashSet<String> = message
        .nested_type
        .iter()
        .filter(|nested| is_entry(nested))
        .map(|nested| format!("{scope}.{}", nested.name()))
        .collect();
    let prefixed = |features: Features| Features {
        message_encoding: Some(MessageEncoding::LengthPrefixed as i32),
        ..features
    };
    let (in_entry, fields) = (is_entry(message), message.field.iter_mut());
    for (field, of_field) in fields.zip(&of_message.field) {
        let own = features.with(of_field.options.as_ref().and_then(|options| options.features));
        // Maps, and the messages in them, are never delimited.
        let is_of_map = in_entry || entries.contains(field.type_name());
        resolve_field(field, if is_of_map { prefixed(own) } else { own });
    }
    resolve_fields(&mut message.extension, &of_message.extension, features);
    for (nested, of_nested) in message.nested_type.iter_mut().zip(&of_message.nested_type) {
        resolve_message(nested, of_nested, features, &scope);
    }
    message.enum_type.iter_mut().for_each(begin_with_zero);
}

/// Extensions, which all stand in the same place.
fn resolve_fields(
    fields: &mut [FieldDescriptorProto],
    of_fields: &[FeaturesOfField],
    outer: Features,
) {
    for (field, of_field) in fields.iter_mut().zip(of_fields) {
        let own = of_field.options.as_ref().and_then(|options| options.features);
        resolve_field(field, outer.with(own));
    }
}

fn resolve_field(field: &mut FieldDescriptorProto, features: Features) {
    let is_message = matches!(field.r#type(), Type::Message | Type::Group);
    if is_message && features.message_encoding() == MessageEncoding::Delimited {
        field.set_type(Type::Group);
    }
    if field.label() == Label::Repeated {
        let is_number = !is_message && !matches!(field.r#type(), Type::String | Type::Bytes);
        if is_number {
            let is_packed = features.repeated_field_encoding() == RepeatedFieldEncoding::Packed;
            field.options.get_or_insert_default().packed = Some(is_packed);
        }
        return;
    }
    match features.field_presence() {
        // A field of a `oneof` has presence, and no message goes without.
        _ if field.oneof_index.is_some() => {}
        FieldPresence::LegacyRequired => {
            field.set_label(Label::Required);
            field.proto3_optional = Some(true);
        }
        FieldPresence::Implicit => {}
        FieldPresence::Explicit | FieldPresence::Unknown => {
            field.proto3_optional = Some(!is_message);
        }
    }
}

/// In `proto3` the first value of an enumeration is zero. A closed one may lack it: it gets one
/// with a name that nobody can write in JSON.
fn begin_with_zero(choices: &mut EnumDescriptorProto) {
    let zero = choices.value.iter().position(|value| value.number() == 0);
    let first = match zero {
        Some(0) => return,
        Some(place) => choices.value.remove(place),
        None => EnumValueDescriptorProto {
            name: Some(format!("{} 0", choices.name())),
            number: Some(0),
            options: None,
        },
    };
    choices.value.insert(0, first);
}
