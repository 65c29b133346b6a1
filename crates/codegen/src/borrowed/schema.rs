//! From descriptors to messages that can be read and written in place, or the reason why not.

use std::collections::{BTreeMap, HashMap};

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

use super::message::{BorrowedMessage, Choice, FieldPlace, FieldValue, MessageField, NumberType};
use super::names::{field_name, type_name};
use crate::choices::qualified;

/// All messages and methods that were compiled together.
pub struct ProtoSchema<'a> {
    files: &'a [FileDescriptorProto],
    messages: HashMap<String, Declared<'a>>,
}

/// A message as it is declared.
#[derive(Clone, Copy)]
struct Declared<'a> {
    file: &'a FileDescriptorProto,
    message: &'a DescriptorProto,
}

/// The names of a method's messages, with a dot before the package.
pub struct BorrowedMethod {
    pub package: String,
    pub request: String,
    pub reply: String,
}

type Messages = BTreeMap<String, BorrowedMessage>;

impl<'a> ProtoSchema<'a> {
    pub fn new(descriptors: &'a FileDescriptorSet) -> Self {
        let mut schema = ProtoSchema { files: &descriptors.file, messages: HashMap::new() };
        for file in &descriptors.file {
            let package = match file.package() {
                "" => String::new(),
                package => format!(".{package}"),
            };
            for message in &file.message_type {
                schema.add(&package, Declared { file, message });
            }
        }
        schema
    }

    fn add(&mut self, scope: &str, declared: Declared<'a>) {
        let name = format!("{scope}.{}", declared.message.name());
        for message in &declared.message.nested_type {
            self.add(&name, Declared { message, ..declared });
        }
        self.messages.insert(name, declared);
    }

    /// The messages of `package.Service/Method`, which exists.
    ///
    /// # Errors
    /// Why they are not borrowed.
    pub fn of_method(&self, wanted: &str) -> Result<BorrowedMethod, String> {
        for file in self.files {
            for service in &file.service {
                let service_name = qualified(file.package(), service.name());
                for method in &service.method {
                    if format!("{service_name}/{}", method.name()) != wanted {
                        continue;
                    }
                    if method.client_streaming() || method.server_streaming() {
                        return Err("it streams".to_owned());
                    }
                    return Ok(BorrowedMethod {
                        package: file.package().to_owned(),
                        request: method.input_type().to_owned(),
                        reply: method.output_type().to_owned(),
                    });
                }
            }
        }
        Err("there is no such method".to_owned())
    }

    /// Adds a message and all within it.
    ///
    /// # Errors
    /// What cannot be read or written in place.
    pub fn collect(&self, name: &str, messages: &mut Messages) -> Result<(), String> {
        self.collect_within(name, &mut Vec::new(), messages)
    }

    fn collect_within(
        &self,
        name: &str,
        path: &mut Vec<String>,
        messages: &mut Messages,
    ) -> Result<(), String> {
        if path.iter().any(|outer| outer == name) {
            return Err(format!("{} contains itself", &name[1..]));
        }
        if messages.contains_key(name) {
            return Ok(());
        }
        let declared = self.messages.get(name).ok_or_else(|| format!("{name} is not known"))?;
        if declared.file.syntax() != "proto3" {
            return Err(format!("{} is not proto3", &name[1..]));
        }
        path.push(name.to_owned());
        for field in &declared.message.field {
            if field.r#type() == Type::Message {
                self.collect_within(field.type_name(), path, messages)?;
            }
        }
        path.pop();
        messages.insert(name.to_owned(), self.message(name, *declared)?);
        Ok(())
    }

    fn message(&self, full_name: &str, declared: Declared<'_>) -> Result<BorrowedMessage, String> {
        let name = self.rust_name(full_name);
        let message = declared.message;
        // What `optional` is in descriptors, a `oneof` of one, stands behind the real ones.
        let is_real = |index: usize| {
            let in_it = |field: &&FieldDescriptorProto| field.oneof_index == Some(index as i32);
            !message.field.iter().filter(in_it).any(|field| field.proto3_optional())
        };
        let choices = message
            .oneof_decl
            .iter()
            .enumerate()
            .filter(|(index, _)| is_real(*index))
            .map(|(_, choice)| Choice {
                name: field_name(choice.name()),
                type_name: name.clone() + &type_name(choice.name()),
            })
            .collect();
        let fields =
            message.field.iter().map(|field| self.field(field)).collect::<Result<_, _>>()?;
        Ok(BorrowedMessage { proto_name: full_name[1..].to_owned(), choices, fields, name })
    }

    fn field(&self, field: &FieldDescriptorProto) -> Result<MessageField, String> {
        let value = match field.r#type() {
            Type::String => FieldValue::Text,
            Type::Bytes => FieldValue::Bytes,
            Type::Message => FieldValue::Message(self.rust_name(field.type_name())),
            Type::Group => return Err(format!("{} is a group", field.name())),
            number => FieldValue::Number(number_type(number)),
        };
        let place = match field.oneof_index {
            _ if field.label() == Label::Repeated => FieldPlace::Repeated,
            Some(index) if !field.proto3_optional() => FieldPlace::OneOf(index as usize),
            Some(_) => FieldPlace::Optional,
            None if matches!(value, FieldValue::Message(_)) => FieldPlace::Optional,
            None => FieldPlace::Implicit,
        };
        let number = field.number() as u32;
        Ok(MessageField { number, name: field_name(field.name()), value, place })
    }

    /// `OrderItem` for `.shop.v1.Order.Item`.
    fn rust_name(&self, full_name: &str) -> String {
        let package = self.messages.get(full_name).map_or("", |found| found.file.package());
        let whole = &full_name[1..];
        whole.strip_prefix(package).unwrap_or(whole).split('.').map(type_name).collect()
    }
}

/// No two of these may have one name in Rust.
///
/// # Errors
/// Which two have.
pub fn check_names(messages: &Messages) -> Result<(), String> {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for message in messages.values() {
        let choices = message.choices.iter().map(|choice| choice.type_name.as_str());
        for name in choices.chain([message.name.as_str()]) {
            if let Some(other) = owners.insert(name, &message.proto_name) {
                return Err(format!(
                    "{other} and {} would both have a {name}View",
                    message.proto_name
                ));
            }
        }
    }
    Ok(())
}

fn number_type(number: Type) -> &'static NumberType {
    macro_rules! number_type {
        ($kind:literal, $rust:literal, $wire_type:literal) => {
            &NumberType { kind: $kind, rust: $rust, wire_type: $wire_type }
        };
    }
    match number {
        Type::Double => number_type!("Double", "f64", 1),
        Type::Float => number_type!("Float", "f32", 5),
        Type::Int64 => number_type!("Int64", "i64", 0),
        Type::Uint64 => number_type!("Uint64", "u64", 0),
        Type::Fixed64 => number_type!("Fixed64", "u64", 1),
        Type::Fixed32 => number_type!("Fixed32", "u32", 5),
        Type::Bool => number_type!("Bool", "bool", 0),
        Type::Uint32 => number_type!("Uint32", "u32", 0),
        Type::Sfixed32 => number_type!("Sfixed32", "i32", 5),
        Type::Sfixed64 => number_type!("Sfixed64", "i64", 1),
        Type::Sint32 => number_type!("Sint32", "i32", 0),
        Type::Sint64 => number_type!("Sint64", "i64", 0),
        // An enumeration is a number, as it is in prost's messages: it may be one that has no name.
        _ => number_type!("Int32", "i32", 0),
    }
}
