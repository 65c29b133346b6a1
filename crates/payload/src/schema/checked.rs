//! Descriptors as the library that makes a pool of them takes for granted that they are: it ends
//! with a panic, or never, on those that a compiler would not have written.

use super::budget::{DescriptorBudget, Excess};
use super::field_names::set_apart;
use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, EnumValueDescriptorProto,
    FieldDescriptorProto, FieldOptions, FileDescriptorProto, MessageOptions, UninterpretedOption,
};
use std::collections::HashSet;

/// Names of files are in every error about what is in them.
const FILE_NAME_MAX_BYTES: usize = 512;
/// A name in a package is looked for in each of the packages around it.
const PACKAGE_MAX_BYTES: usize = 256;
const PACKAGE_DEPTH_MAX: usize = 32;
/// Values of one enum: each new one is inserted in the order of their numbers.
const ENUM_VALUES_MAX: usize = 32_768;
/// Ranges of one message: each field is compared with all of them.
const EXTENSION_RANGES_MAX: usize = 1_024;
/// Extensions of one message: they are looked for one by one.
const EXTENSIONS_MAX: usize = 4_096;

/// Letters of a text that an error repeats.
const SHOWN_MAX_LETTERS: usize = 80;

/// Why a descriptor is of no use.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotChecked {
    Wrong(String),
    TooMuch(Excess),
}

impl From<String> for NotChecked {
    fn from(reason: String) -> Self {
        Self::Wrong(reason)
    }
}

impl From<Excess> for NotChecked {
    fn from(excess: Excess) -> Self {
        Self::TooMuch(excess)
    }
}

/// Whether the file stands for one that the server does not have: before 1.60, grpc-go describes
/// an import that it cannot find as an empty file.
pub(super) fn is_placeholder(file: &FileDescriptorProto) -> bool {
    !is_known_syntax(file.syntax())
        && file.syntax() != "editions"
        && file.message_type.is_empty()
        && file.enum_type.is_empty()
        && file.service.is_empty()
        && file.extension.is_empty()
}

/// Whether names of files are names, where they are not paths of this machine.
///
/// # Errors
/// The name that is not valid.
pub(super) fn check_file_names(file: &FileDescriptorProto) -> Result<(), String> {
    let is_name = |name: &str| !name.is_empty() && name.len() <= FILE_NAME_MAX_BYTES;
    let mut names = file.dependency.iter().map(String::as_str).chain([file.name()]);
    match names.find(|name| !is_name(name)) {
        Some(name) => Err(format!("{} is not a name of a file", shown(name))),
        None => Ok(()),
    }
}

/// The same file without what neither JSON nor the wire needs, if it is one.
///
/// Options are left out but for the four that change how messages are read: those of others have
/// types of their own, which may be missing.
///
/// # Errors
/// What is wrong with it, with its name.
pub(super) fn checked(
    mut file: FileDescriptorProto,
    budget: &mut DescriptorBudget,
) -> Result<FileDescriptorProto, NotChecked> {
    let name = file.name().to_owned();
    let wrong = |reason: String| NotChecked::Wrong(format!("{name}: {reason}"));
    if !is_known_syntax(file.syntax()) {
        let syntax = shown(file.syntax());
        return Err(wrong(format!(
            "its syntax is {syntax}, and there is proto2, proto3, editions"
        )));
    }
    let package = file.package.take().unwrap_or_default();
    if !is_package(&package) {
        return Err(wrong(format!("{} is not a name of a package", shown(&package))));
    }
    // An empty one is the same as no package, and the library has no place for it.
    let is_proto3 = file.syntax() == "proto3";
    file.syntax = is_proto3.then(|| "proto3".to_owned());
    file.options = None;
    // Their number is that of the imports at most.
    file.public_dependency.sort_unstable();
    file.public_dependency.dedup();
    let mut walk =
        Walk { budget, scope: String::new(), is_proto2: !is_proto3, repeats_a_name: false };
    walk.package(&package)?;
    walk.file(&mut file).map_err(|error| match error {
        NotChecked::Wrong(reason) => wrong(reason),
        excess => excess,
    })?;
    if walk.repeats_a_name {
        // In `proto3`, the library would say that its camel case is that of another.
        file.syntax = None;
    }
    file.package = Some(package).filter(|package| !package.is_empty());
    Ok(file)
}

/// What can only be seen when types are known.
///
/// # Errors
/// What is wrong.
pub(super) fn check_pool(pool: &DescriptorPool) -> Result<(), String> {
    for message in pool.all_messages() {
        let name = message.full_name();
        if message.is_map_entry() && !is_a_map_entry(&message) {
            return Err(format!("{name} is not an entry of a map, and it is declared as one"));
        }
        let mut numbers = HashSet::new();
        for extension in message.extensions() {
            if !numbers.insert(extension.number()) || numbers.len() > EXTENSIONS_MAX {
                let number = extension.number();
                return Err(format!("{name} has too many extensions, or two with number {number}"));
            }
        }
    }
    Ok(())
}

fn is_known_syntax(syntax: &str) -> bool {
    matches!(syntax, "" | "proto2" | "proto3")
}

/// As the official compiler and Go want names to be.
fn is_identifier(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

fn is_package(name: &str) -> bool {
    name.is_empty()
        || name.len() <= PACKAGE_MAX_BYTES
            && name.split('.').count() <= PACKAGE_DEPTH_MAX
            && name.split('.').all(is_identifier)
}

/// The beginning of a text, which may have millions of letters.
fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(SHOWN_MAX_LETTERS).collect();
    format!("{beginning:?}")
}

fn is_a_map_entry(message: &MessageDescriptor) -> bool {
    let (Some(key), Some(value)) = (message.get_field(1), message.get_field(2)) else {
        return false;
    };
    let is_key = !matches!(
        key.kind(),
        Kind::Double | Kind::Float | Kind::Bytes | Kind::Message(_) | Kind::Enum(_)
    );
    let is_single = !key.is_list() && !key.is_map() && !value.is_list() && !value.is_map();
    message.fields().len() == 2 && is_key && is_single && !value.is_group()
}

/// Goes through what a file declares.
struct Walk<'a> {
    budget: &'a mut DescriptorBudget,
    /// The full name of what is around.
    scope: String,
    is_proto2: bool,
    /// Whether a message has two fields of one name.
    repeats_a_name: bool,
}

impl Walk<'_> {
    /// Each package around it has an entry in the table of names.
    fn package(&mut self, package: &str) -> Result<(), Excess> {
        for (end, _) in package.match_indices('.') {
            self.budget.take_name(end)?;
        }
        self.budget.take_name(package.len())?;
        self.scope.push_str(package);
        Ok(())
    }

    fn file(&mut self, file: &mut FileDescriptorProto) -> Result<(), NotChecked> {
        for message in &mut file.message_type {
            self.message(message)?;
        }
        for declared in &mut file.enum_type {
            self.enumeration(declared)?;
        }
        for extension in &mut file.extension {
            self.field(extension)?;
        }
        for service in &mut file.service {
            service.options = None;
            let outer = self.enter(service.name())?;
            for method in &mut service.method {
                method.options = None;
                self.name(method.name())?;
            }
            self.scope.truncate(outer);
        }
        Ok(())
    }

    fn message(&mut self, message: &mut DescriptorProto) -> Result<(), NotChecked> {
        let outer = self.enter(message.name())?;
        check_shape(&self.scope, message)?;
        if message.extension_range.len() > EXTENSION_RANGES_MAX {
            return Err(format!("{} has too many extension ranges", self.scope).into());
        }
        message.reserved_range.clear();
        message.reserved_name.clear();
        message.extension_range.iter_mut().for_each(|range| range.options = None);
        message.options = message.options.take().and_then(|options| kept_of_message(&options));
        for oneof in &mut message.oneof_decl {
            oneof.options = None;
            self.name(oneof.name())?;
        }
        for field in &mut message.field {
            // With it, the number of a field could be that of an extension.
            field.extendee = None;
            self.field(field)?;
            self.oneof_of(field, message.oneof_decl.len())?;
        }
        self.repeats_a_name |= set_apart(message, self.is_proto2);
        for extension in &mut message.extension {
            self.field(extension)?;
        }
        for nested in &mut message.nested_type {
            self.message(nested)?;
        }
        for declared in &mut message.enum_type {
            self.enumeration(declared)?;
        }
        self.scope.truncate(outer);
        Ok(())
    }

    fn field(&mut self, field: &mut FieldDescriptorProto) -> Result<(), NotChecked> {
        self.name(field.name())?;
        let is_declared = matches!(field.r#type(), Type::Message | Type::Group | Type::Enum);
        if is_declared && field.type_name().is_empty() {
            let (name, scope) = (shown(field.name()), shown(&self.scope));
            return Err(format!("{name} in {scope} does not name its message or enum").into());
        }
        // A message is sent without the fields that it does not have: there is no use of it.
        field.default_value = None;
        field.options = field.options.take().and_then(|options| kept_of_field(&options));
        Ok(())
    }

    fn oneof_of(&self, field: &FieldDescriptorProto, oneofs: usize) -> Result<(), String> {
        let Some(place) = field.oneof_index else { return Ok(()) };
        if usize::try_from(place).is_ok_and(|place| place < oneofs) {
            return Ok(());
        }
        let (name, scope) = (shown(field.name()), shown(&self.scope));
        Err(format!("{name} in {scope} is in a oneof that is not there"))
    }

    fn enumeration(&mut self, declared: &mut EnumDescriptorProto) -> Result<(), NotChecked> {
        self.name(declared.name())?;
        if declared.value.len() > ENUM_VALUES_MAX {
            let name = declared.name();
            return Err(format!("{name} has more than {ENUM_VALUES_MAX} values").into());
        }
        declared.reserved_range.clear();
        declared.reserved_name.clear();
        declared.options = declared.options.take().and_then(|options| kept_of_enum(&options));
        declared.value.iter_mut().try_for_each(|value| self.enum_value(value))
    }

    /// Values of an enum are declared next to it, not in it. Where a closed enum of an edition
    /// lacks a zero, one was added with a name that is no identifier.
    fn enum_value(&mut self, value: &mut EnumValueDescriptorProto) -> Result<(), NotChecked> {
        value.options = None;
        let name = value.name();
        match name.strip_suffix(" 0") {
            Some(_) => Ok(self.budget.take_name(self.scope.len() + 1 + name.len())?),
            None => self.name(name),
        }
    }

    /// Takes a name of something in the scope.
    fn name(&mut self, name: &str) -> Result<(), NotChecked> {
        if !is_identifier(name) {
            let (name, scope) = (shown(name), shown(&self.scope));
            return Err(format!("{name} in {scope} is not a name").into());
        }
        Ok(self.budget.take_name(self.scope.len() + 1 + name.len())?)
    }

    /// Returns where the scope ended before.
    fn enter(&mut self, name: &str) -> Result<usize, NotChecked> {
        self.name(name)?;
        let outer = self.scope.len();
        if outer > 0 {
            self.scope.push('.');
        }
        self.scope.push_str(name);
        Ok(outer)
    }
}

/// Options are decoded by the descriptors of them that are among the files, if there are any, and
/// encoded again by what the library knows of them.
fn check_shape(full_name: &str, message: &DescriptorProto) -> Result<(), String> {
    let is_of_options = full_name.starts_with("google.protobuf.") && full_name.contains("Options");
    let known =
        is_of_options.then(|| DescriptorPool::global().get_message_by_name(full_name)).flatten();
    let Some(known) = known else { return Ok(()) };
    let known = known.descriptor_proto();
    let is_extended = |number: i32| {
        message.extension_range.iter().any(|range| (range.start()..range.end()).contains(&number))
    };
    if let Some(field) = known.field.iter().find(|field| is_extended(field.number())) {
        let name = field.name();
        return Err(format!("{full_name} has extensions with the number of protobuf's own {name}"));
    }
    for field in &message.field {
        let same = known.field.iter().find(|other| other.number == field.number);
        let is_same = |other: &FieldDescriptorProto| {
            other.r#type == field.r#type
                && other.type_name().is_empty() == field.type_name().is_empty()
                && is_repeated(other) == is_repeated(field)
        };
        if same.is_some_and(|other| !is_same(other)) {
            let name = field.name();
            return Err(format!("{full_name}.{name} has another type than protobuf's own"));
        }
    }
    Ok(())
}

fn is_repeated(field: &FieldDescriptorProto) -> bool {
    field.label() == Label::Repeated
}

fn kept_of_message(options: &MessageOptions) -> Option<MessageOptions> {
    let written = written(&options.uninterpreted_option, "message_set_wire_format");
    let kept = MessageOptions {
        map_entry: options.map_entry,
        message_set_wire_format: options.message_set_wire_format.or(written),
        ..Default::default()
    };
    (kept != MessageOptions::default()).then_some(kept)
}

fn kept_of_field(options: &FieldOptions) -> Option<FieldOptions> {
    let packed = options.packed.or_else(|| written(&options.uninterpreted_option, "packed"));
    packed.map(|is_so| FieldOptions { packed: Some(is_so), ..Default::default() })
}

fn kept_of_enum(options: &EnumOptions) -> Option<EnumOptions> {
    let written = written(&options.uninterpreted_option, "allow_alias");
    let allow_alias = options.allow_alias.or(written);
    allow_alias.map(|is_so| EnumOptions { allow_alias: Some(is_so), ..Default::default() })
}

/// The value of an option as it stands in a `.proto` file.
fn written(options: &[UninterpretedOption], name: &str) -> Option<bool> {
    let option = options.iter().find(|option| match &option.name[..] {
        [only] => only.name_part == name && !only.is_extension,
        _ => false,
    })?;
    match option.identifier_value() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
