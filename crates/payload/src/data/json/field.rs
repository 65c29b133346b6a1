//! A field or an extension of a message, as its values are written.

use super::cursor::Key;
use super::failure::Failure;
use crate::error_text::suggestion;
use crate::schema::field_names::{find_in_json, unmarked};
use prost_reflect::{
    ExtensionDescriptor, FieldDescriptor, Kind, MessageDescriptor, OneofDescriptor,
};

/// What is to be known of a field to write its values.
pub(super) struct Field {
    pub number: u32,
    pub kind: Kind,
    pub shape: Shape,
    /// Whether its messages are between two keys instead of behind their length.
    pub is_group: bool,
    /// Whether the default is as good as no value, and is not written.
    pub is_implicit: bool,
    pub oneof: Option<OneofDescriptor>,
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    One,
    /// A list, each value with its key.
    List,
    /// A list of numbers behind one key.
    Packed,
    Map,
}

impl Field {
    /// The field of that name: as JSON writes it, as its `.proto` file does, or of an extension in
    /// brackets.
    ///
    /// # Errors
    /// The names that would have been right.
    pub fn find(message: &MessageDescriptor, key: &Key<'_>) -> Result<Self, Failure> {
        let name = &*key.name;
        let field = find_in_json(message, name).or_else(|| group_of_type(message, name));
        if let Some(field) = field {
            return Ok(Self::from(field));
        }
        let owner = message.full_name();
        let extension = extension(message, name);
        if extension.is_some() && is_message_set(message) {
            let reason = format!("{owner} is a MessageSet, which has no JSON");
            return Err(Failure::of_name(key.end, reason));
        }
        extension.map(Self::from).ok_or_else(|| {
            let known = message.fields().map(|field| unmarked(field.name()).to_owned());
            let reason = format!("{owner} has no field {name}{}", suggestion(name, known));
            Failure::of_name(key.end, reason)
        })
    }

    /// Whether `null` is a value of it, and not the absence of one.
    pub fn has_null(&self) -> bool {
        match &self.kind {
            Kind::Message(message) => message.full_name() == "google.protobuf.Value",
            Kind::Enum(choices) => choices.full_name() == "google.protobuf.NullValue",
            _ => false,
        }
    }
}

/// The field of a group goes by the name of its type as well.
fn group_of_type(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    let is_meant = |field: &FieldDescriptor| match field.kind() {
        Kind::Message(group) => {
            field.is_group()
                && group.name() == name
                && group.name().to_lowercase() == unmarked(field.name())
                && group.parent_message().as_ref() == Some(message)
        }
        _ => false,
    };
    message.fields().find(is_meant)
}

fn extension(message: &MessageDescriptor, name: &str) -> Option<ExtensionDescriptor> {
    name.starts_with('[').then(|| message.get_extension_by_json_name(name)).flatten()
}

/// Its extensions have another encoding than those of other messages.
fn is_message_set(message: &MessageDescriptor) -> bool {
    let options = message.descriptor_proto().options.as_ref();
    options.is_some_and(|options| options.message_set_wire_format())
}

impl From<FieldDescriptor> for Field {
    fn from(field: FieldDescriptor) -> Self {
        let shape = match (field.is_map(), field.is_list()) {
            (true, _) => Shape::Map,
            (_, true) if field.is_packed() => Shape::Packed,
            (_, true) => Shape::List,
            _ => Shape::One,
        };
        Self {
            number: field.number(),
            kind: field.kind(),
            shape,
            is_group: field.is_group(),
            is_implicit: shape == Shape::One && !field.supports_presence(),
            oneof: field.containing_oneof(),
        }
    }
}

impl From<ExtensionDescriptor> for Field {
    fn from(field: ExtensionDescriptor) -> Self {
        let shape = match field.is_list() {
            true if field.is_packed() => Shape::Packed,
            true => Shape::List,
            false => Shape::One,
        };
        Self {
            number: field.number(),
            kind: field.kind(),
            shape,
            is_group: field.is_group(),
            is_implicit: false,
            oneof: None,
        }
    }
}
