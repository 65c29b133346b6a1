//! Names of fields that differ for the official compiler, and that the library that makes a pool of
//! descriptors takes for one name.
//!
//! In `proto2`, two fields may have one name in JSON: there the first of them is meant. In `proto3`
//! and in editions they may if an option says so, and names may differ in case and underscores
//! alone, which the library refuses. The later field gets a name with a mark, and is found by the
//! name before it.

use prost_reflect::{FieldDescriptor, MessageDescriptor};
use prost_types::DescriptorProto;
use std::collections::HashSet;

/// What begins the mark: the official compiler takes it in no name.
const MARK: char = '\0';

/// Marks the names of fields that the library would refuse next to those before them. Returns
/// whether two fields have the very same name, which remains an error.
pub(super) fn set_apart(message: &mut DescriptorProto, is_proto2: bool) -> bool {
    let mut names = HashSet::new();
    let mut json_names = HashSet::new();
    let mut camel_cases = HashSet::new();
    let mut repeats_a_name = false;
    for (place, field) in message.field.iter_mut().enumerate() {
        let name = field.name().to_owned();
        if !names.insert(name.clone()) {
            repeats_a_name = true;
            continue;
        }
        let json_name = field.json_name.clone().unwrap_or_else(|| in_json(&name));
        let marked = format!("{name}{MARK}{place}");
        if !is_proto2 && !camel_cases.insert(in_camel_case(&name)) {
            field.name = Some(marked.clone());
            field.json_name = Some(json_name.clone());
        }
        if !json_names.insert(json_name) {
            field.json_name = Some(marked);
        }
    }
    repeats_a_name
}

/// The field that a name in JSON stands for, as the official readers look for it: the first with
/// that name in JSON, or else the one that has it in the `.proto` file.
pub(crate) fn find_in_json(message: &MessageDescriptor, name: &str) -> Option<FieldDescriptor> {
    if name.contains(MARK) {
        return None;
    }
    message
        .get_field_by_json_name(name)
        .or_else(|| message.get_field_by_name(name))
        .or_else(|| message.fields().find(|field| unmarked(field.name()) == name))
}

/// A name by which [`find_in_json`] finds a field that it has found by another.
pub(crate) fn name_in_json(field: &FieldDescriptor) -> &str {
    match field.json_name() {
        marked if marked.contains(MARK) => unmarked(field.name()),
        name => name,
    }
}

/// The name of a field as its `.proto` file has it.
pub(crate) fn unmarked(name: &str) -> &str {
    name.split(MARK).next().unwrap_or(name)
}

/// As the official compiler makes it, and the library where a descriptor has none.
fn in_json(name: &str) -> String {
    let mut json_name = String::with_capacity(name.len());
    let mut is_new_word = false;
    for letter in name.chars() {
        match letter {
            '_' => is_new_word = true,
            _ if std::mem::take(&mut is_new_word) => json_name.push(letter.to_ascii_uppercase()),
            _ => json_name.push(letter),
        }
    }
    json_name
}

/// What the library compares.
fn in_camel_case(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').map(|letter| letter.to_ascii_lowercase()).collect()
}
