//! Arguments from JSON, in the manner of protobuf's mapping, with errors that say where and what.

use super::schema::{StructKind, ThriftSchema, ThriftStruct, ThriftType};
use super::spoken::ThriftProtocol;
use super::value::ThriftValue;
use super::writer;
use crate::data::DataError;
use crate::data::json::{Cursor, Failure, Found, NoInteger, base64_value, each, integer};
use crate::error_text::suggestion;
use std::collections::HashSet;
use std::fmt;

/// The arguments of each call of a JSON text, at least one.
pub(super) fn arguments(
    text: &str,
    schema: &ThriftSchema,
    arguments: usize,
) -> Result<Vec<ThriftValue>, DataError> {
    let one = ThriftType::Struct(arguments);
    each(text, |cursor| Typed { schema, value_type: &one }.read(cursor))
}

/// A value of that type.
#[derive(Clone, Copy)]
struct Typed<'a> {
    schema: &'a ThriftSchema,
    value_type: &'a ThriftType,
}

impl<'a> Typed<'a> {
    fn of(self, value_type: &'a ThriftType) -> Self {
        Self { value_type, ..self }
    }

    fn read(self, cursor: &mut Cursor<'_>) -> Result<ThriftValue, Failure> {
        match (self.value_type, cursor.peek()) {
            (ThriftType::Struct(place), Some(b'{')) => {
                cursor.deeper(|cursor| self.fields(&self.schema.structs[*place], cursor))
            }
            (ThriftType::Map(types), Some(b'{')) => {
                cursor.deeper(|cursor| self.entries(&types.0, &types.1, cursor))
            }
            (ThriftType::List(element) | ThriftType::Set(element), Some(b'[')) => {
                cursor.deeper(|cursor| self.elements(element, cursor))
            }
            _ => {
                let found = cursor.value()?;
                self.plain(&found).map_err(|reason| Failure::new(cursor.at(), reason))
            }
        }
    }

    /// A value without others in it, or why it does not fit.
    fn plain(self, found: &Found<'_>) -> Result<ThriftValue, String> {
        match found {
            Found::Bool(truth) if *self.value_type == ThriftType::Bool => {
                Ok(ThriftValue::Bool(*truth))
            }
            Found::Bool(truth) => Err(self.unfit(truth)),
            Found::Number(number) => self.number(number),
            Found::Text(text) => self.text(text),
            Found::Null => Err(self.unfit("null")),
            Found::Array => Err(self.unfit("a list")),
            Found::Object => Err(self.unfit("an object")),
        }
    }

    fn number(self, written: &str) -> Result<ThriftValue, String> {
        if *self.value_type == ThriftType::Double {
            let number = written.parse().ok().filter(|number: &f64| number.is_finite());
            return number.map(ThriftValue::Double).ok_or_else(|| self.too_large(written));
        }
        match integer(written) {
            Ok(exact) if self.is_whole() => self.whole(exact),
            Err(NoInteger::TooLarge) if self.is_whole() => Err(self.too_large(written)),
            _ => Err(self.unfit(written)),
        }
    }

    /// A whole number of a type that has a range.
    fn whole(self, number: i128) -> Result<ThriftValue, String> {
        match self.value_type {
            ThriftType::I8 => number.try_into().map(ThriftValue::I8).ok(),
            ThriftType::I16 => number.try_into().map(ThriftValue::I16).ok(),
            ThriftType::I64 => number.try_into().map(ThriftValue::I64).ok(),
            _ => number.try_into().map(ThriftValue::I32).ok(),
        }
        .ok_or_else(|| self.too_large(number))
    }

    fn is_whole(self) -> bool {
        use ThriftType::{Enum, I8, I16, I32, I64};
        matches!(self.value_type, I8 | I16 | I32 | I64 | Enum(_))
    }

    /// A string, or the key of a map.
    fn text(self, text: &str) -> Result<ThriftValue, String> {
        let unfit = || self.unfit(format_args!("{text:?}"));
        match self.value_type {
            ThriftType::String => Ok(ThriftValue::Binary(text.as_bytes().to_vec())),
            ThriftType::Binary => base64_value(text).map(ThriftValue::Binary).ok_or_else(unfit),
            ThriftType::Uuid => uuid::Uuid::try_parse(text)
                .map(|uuid| ThriftValue::Uuid(uuid.into_bytes()))
                .map_err(|_| unfit()),
            ThriftType::Enum(place) => self.choice(*place, text),
            ThriftType::Double => text.parse().map(ThriftValue::Double).map_err(|_| unfit()),
            _ if self.is_whole() => match text.parse() {
                Ok(number) => self.whole(number),
                Err(_) => Err(unfit()),
            },
            _ => Err(unfit()),
        }
    }

    fn choice(self, place: usize, name: &str) -> Result<ThriftValue, String> {
        let known = &self.schema.enums[place];
        let value = known.values.iter().find(|(known, _)| known == name);
        let number = value.map(|(_, number)| *number).or_else(|| name.parse().ok());
        number.map(ThriftValue::I32).ok_or_else(|| {
            let values = known.values.iter().map(|(name, _)| name.clone());
            format!("{} has no value {name}{}", known.name, suggestion(name, values))
        })
    }

    /// The key of a map, which is a string in JSON.
    fn key(self, text: &str) -> Result<ThriftValue, String> {
        use ThriftType::{Bool, List, Map, Set, Struct};
        match (self.value_type, text) {
            (Bool, "true") => Ok(ThriftValue::Bool(true)),
            (Bool, "false") => Ok(ThriftValue::Bool(false)),
            (Struct(_) | List(_) | Set(_) | Map(_), _) => {
                Err(format!("JSON has no map whose keys are {self}"))
            }
            _ => self.text(text),
        }
    }

    fn elements(
        self,
        element: &'a ThriftType,
        cursor: &mut Cursor<'_>,
    ) -> Result<ThriftValue, Failure> {
        let mut elements = Vec::new();
        let mut known = HashSet::new();
        let is_set = matches!(self.value_type, ThriftType::Set(_));
        cursor.array(|cursor| {
            let value = self.of(element).read(cursor)?;
            if is_set && !known.insert(comparable(&value)) {
                return Err(Failure::new(cursor.at(), "an element of the set is there twice"));
            }
            elements.push(value);
            Ok(())
        })?;
        let kind = element.wire_kind();
        Ok(match is_set {
            true => ThriftValue::Set(kind, elements),
            false => ThriftValue::List(kind, elements),
        })
    }

    fn entries(
        self,
        key_type: &'a ThriftType,
        value_type: &'a ThriftType,
        cursor: &mut Cursor<'_>,
    ) -> Result<ThriftValue, Failure> {
        let mut entries = Vec::new();
        let mut known = HashSet::new();
        cursor.object(|cursor, name| {
            let wrong = |reason| Failure::new(name.end, reason);
            let key = self.of(key_type).key(&name.name).map_err(wrong)?;
            if !known.insert(comparable(&key)) {
                return Err(wrong(format!("the key {:?} is there twice", name.name)));
            }
            let value = self.of(value_type).read(cursor);
            entries.push((key, value.map_err(|failure| failure.within(&name.name))?));
            Ok(())
        })?;
        Ok(ThriftValue::Map(key_type.wire_kind(), value_type.wire_kind(), entries))
    }

    fn fields(
        self,
        known: &'a ThriftStruct,
        cursor: &mut Cursor<'_>,
    ) -> Result<ThriftValue, Failure> {
        let mut given = HashSet::new();
        let mut fields = Vec::new();
        cursor.object(|cursor, name| {
            let wrong = |reason| Failure::new(name.end, reason);
            let field = known.fields.iter().find(|field| field.name == name.name);
            let field = field.ok_or_else(|| wrong(unknown_field(known, &name.name)))?;
            if !given.insert(field.id) {
                return Err(wrong(format!("{} is there twice", name.name)));
            }
            // As if it were not there.
            if !cursor.take_null() {
                let value = self.of(&field.field_type).read(cursor);
                fields.push((field.id, value.map_err(|failure| failure.within(&name.name))?));
            }
            Ok(())
        })?;
        complete(known, fields).map_err(|reason| Failure::new(cursor.at(), reason))
    }

    fn unfit(self, what: impl fmt::Display) -> String {
        format!("{what} is not {self}")
    }

    fn too_large(self, number: impl fmt::Display) -> String {
        format!("{number} is too large for {self}")
    }
}

/// What is expected, for an error message.
impl fmt::Display for Typed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value_type {
            ThriftType::Bool => write!(formatter, "true or false"),
            ThriftType::I8 => write!(formatter, "an i8"),
            ThriftType::I16 => write!(formatter, "an i16"),
            ThriftType::I32 => write!(formatter, "an i32"),
            ThriftType::I64 => write!(formatter, "an i64"),
            ThriftType::Double => write!(formatter, "a double"),
            ThriftType::String => write!(formatter, "a string"),
            ThriftType::Binary => write!(formatter, "bytes in base64"),
            ThriftType::Uuid => write!(formatter, "a UUID"),
            ThriftType::Enum(place) => {
                write!(formatter, "a value of {}", self.schema.enums[*place].name)
            }
            ThriftType::Struct(place) => {
                let known = &self.schema.structs[*place];
                let of = match known.kind {
                    StructKind::Arguments => "the arguments of ",
                    _ => "",
                };
                write!(formatter, "an object in {{}} with {of}{}", known.name)
            }
            ThriftType::List(_) => write!(formatter, "a list in []"),
            ThriftType::Set(_) => write!(formatter, "a set in []"),
            ThriftType::Map(_) => write!(formatter, "a map in {{}}"),
        }
    }
}

/// The bytes of a value, by which it is known again.
fn comparable(value: &ThriftValue) -> Vec<u8> {
    let mut bytes = Vec::new();
    match value {
        // Where keys are compared as numbers, -0.0 is 0.0.
        ThriftValue::Double(0.0) => bytes.push(0),
        value => writer::write(value, ThriftProtocol::Binary, &mut bytes),
    }
    bytes
}

fn unknown_field(known: &ThriftStruct, name: &str) -> String {
    let kind = if known.kind == StructKind::Arguments { "argument" } else { "field" };
    let names = known.fields.iter().map(|field| field.name.clone());
    format!("{} has no {kind} {name}{}", known.name, suggestion(name, names))
}

/// The fields that are given, and the defaults of the others, by ascending id; or what is missing.
fn complete(
    known: &ThriftStruct,
    mut fields: Vec<(i16, ThriftValue)>,
) -> Result<ThriftValue, String> {
    if known.kind == StructKind::Union {
        return match fields.len() {
            1 => Ok(ThriftValue::Struct(fields)),
            _ => Err(format!("{} is a union: give one of its fields", known.name)),
        };
    }
    for field in &known.fields {
        let is_given = fields.iter().any(|(id, _)| *id == field.id);
        match &field.default {
            _ if is_given => {}
            Some(default) => fields.push((field.id, default.clone())),
            None if field.is_required && known.kind == StructKind::Arguments => {
                return Err(format!("the argument {} of {} is missing", field.name, known.name));
            }
            None if field.is_required => {
                return Err(format!("{} requires {}, which is missing", known.name, field.name));
            }
            None => {}
        }
    }
    fields.sort_by_key(|(id, _)| *id);
    Ok(ThriftValue::Struct(fields))
}
