//! Arguments from JSON, in the manner of protobuf's mapping, with errors that say where and what.

use super::decimals::Decimals;
use super::schema::{StructKind, ThriftSchema, ThriftStruct, ThriftType};
use super::spoken::ThriftProtocol;
use super::value::ThriftValue;
use super::writer;
use crate::data::DataError;
use crate::data::json::{NoInteger, integer};
use crate::error_text::suggestion;
use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

/// The arguments of each call of a JSON text, at least one.
pub(super) fn arguments(
    text: &str,
    schema: &ThriftSchema,
    arguments: usize,
) -> Result<Vec<ThriftValue>, DataError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let one = ThriftType::Struct(arguments);
    let decimals = Decimals::of(text);
    let seed = Typed { schema, value_type: &one, decimals: &decimals };
    let read = if text.trim_start().starts_with('[') {
        tracked.deserialize_seq(Several(seed))
    } else {
        seed.deserialize(tracked).map(|one| vec![one])
    };
    let calls = read
        .and_then(|calls| json.end().map(|()| calls))
        .map_err(|error| explain(&error, &track.path()))?;
    if calls.is_empty() { Err(DataError::NoMessages) } else { Ok(calls) }
}

fn explain(error: &serde_json::Error, path: &serde_path_to_error::Path) -> DataError {
    let words = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = words.strip_suffix(&place).unwrap_or(&words).to_owned();
    let field = match path.to_string().as_str() {
        "." | "?" => String::new(),
        field => format!(", field {field}"),
    };
    DataError::NotAMessage { line: error.line(), column: error.column(), field, reason }
}

/// A value of that type.
#[derive(Clone, Copy)]
struct Typed<'a> {
    schema: &'a ThriftSchema,
    value_type: &'a ThriftType,
    decimals: &'a Decimals<'a>,
}

impl<'a> Typed<'a> {
    fn of(self, value_type: &'a ThriftType) -> Self {
        Self { value_type, ..self }
    }

    /// A whole number of a type that has a range.
    fn whole(self, number: i128) -> Option<ThriftValue> {
        match self.value_type {
            ThriftType::I8 => number.try_into().map(ThriftValue::I8).ok(),
            ThriftType::I16 => number.try_into().map(ThriftValue::I16).ok(),
            ThriftType::I32 | ThriftType::Enum(_) => number.try_into().map(ThriftValue::I32).ok(),
            ThriftType::I64 => number.try_into().map(ThriftValue::I64).ok(),
            ThriftType::Double => Some(ThriftValue::Double(number as f64)),
            _ => None,
        }
    }

    fn is_whole(self) -> bool {
        use ThriftType::{Enum, I8, I16, I32, I64};
        matches!(self.value_type, I8 | I16 | I32 | I64 | Enum(_))
    }

    fn number<E: Error>(self, number: i128) -> Result<ThriftValue, E> {
        if !self.is_whole() && *self.value_type != ThriftType::Double {
            return Err(self.unfit(&number.to_string()));
        }
        self.whole(number).ok_or_else(|| E::custom(format!("{number} is too large for {self}")))
    }

    /// A string, or the key of a map.
    fn text<E: Error>(self, text: &str) -> Result<ThriftValue, E> {
        let unfit = || self.unfit(&format!("{text:?}"));
        match self.value_type {
            ThriftType::String => Ok(ThriftValue::Binary(text.as_bytes().to_vec())),
            ThriftType::Binary => base64(text).map(ThriftValue::Binary).ok_or_else(unfit),
            ThriftType::Uuid => uuid::Uuid::try_parse(text)
                .map(|uuid| ThriftValue::Uuid(uuid.into_bytes()))
                .map_err(|_| unfit()),
            ThriftType::Enum(place) => self.choice(*place, text),
            ThriftType::Double => text.parse().map(ThriftValue::Double).map_err(|_| unfit()),
            _ if self.is_whole() => match text.parse::<i128>() {
                Ok(number) => self.number(number),
                Err(_) => Err(unfit()),
            },
            _ => Err(unfit()),
        }
    }

    fn choice<E: Error>(self, place: usize, name: &str) -> Result<ThriftValue, E> {
        let known = &self.schema.enums[place];
        let number = known
            .values
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, number)| *number)
            .or_else(|| name.parse().ok());
        number.map(ThriftValue::I32).ok_or_else(|| {
            let values = known.values.iter().map(|(name, _)| name.clone());
            E::custom(format!("{} has no value {name}{}", known.name, suggestion(name, values)))
        })
    }

    /// The key of a map, which is a string in JSON.
    fn key<E: Error>(self, text: &str) -> Result<ThriftValue, E> {
        match (self.value_type, text) {
            (ThriftType::Bool, "true") => Ok(ThriftValue::Bool(true)),
            (ThriftType::Bool, "false") => Ok(ThriftValue::Bool(false)),
            (ThriftType::Struct(_) | ThriftType::List(_) | ThriftType::Set(_), _)
            | (ThriftType::Map(_), _) => {
                Err(E::custom(format!("JSON has no map whose keys are {self}")))
            }
            _ => self.text(text),
        }
    }

    fn unfit<E: Error>(self, what: &str) -> E {
        E::custom(format!("{what} is not {self}"))
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

/// Bytes in base64, with either alphabet, padded or not.
fn base64(text: &str) -> Option<Vec<u8>> {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    [STANDARD, URL_SAFE]
        .iter()
        .map(|alphabet| GeneralPurpose::new(alphabet, config).decode(text))
        .find_map(Result::ok)
}

impl<'de> DeserializeSeed<'de> for Typed<'_> {
    type Value = ThriftValue;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<ThriftValue, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Typed<'_> {
    type Value = ThriftValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<ThriftValue, E> {
        match self.value_type {
            ThriftType::Bool => Ok(ThriftValue::Bool(truth)),
            _ => Err(self.unfit(&truth.to_string())),
        }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<ThriftValue, E> {
        self.number(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<ThriftValue, E> {
        self.number(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<ThriftValue, E> {
        let written = self.decimals.next_of(number);
        match self.value_type {
            ThriftType::Double => Ok(ThriftValue::Double(number)),
            _ if self.is_whole() => match integer(&written) {
                Ok(exact) => self.number(exact),
                Err(NoInteger::Fraction) => Err(self.unfit(&written)),
                Err(NoInteger::TooLarge) => {
                    Err(E::custom(format!("{written} is too large for {self}")))
                }
            },
            _ => Err(self.unfit(&number.to_string())),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<ThriftValue, E> {
        self.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ThriftValue, A::Error> {
        let (ThriftType::List(element) | ThriftType::Set(element)) = self.value_type else {
            return Err(self.unfit("a list"));
        };
        let mut elements = Vec::new();
        let mut known = HashSet::new();
        let is_set = matches!(self.value_type, ThriftType::Set(_));
        while let Some(value) = list.next_element_seed(self.of(element))? {
            if is_set && !known.insert(comparable(&value)) {
                return Err(A::Error::custom("an element of the set is there twice"));
            }
            elements.push(value);
        }
        let kind = element.wire_kind();
        Ok(match self.value_type {
            ThriftType::Set(_) => ThriftValue::Set(kind, elements),
            _ => ThriftValue::List(kind, elements),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<ThriftValue, A::Error> {
        match self.value_type {
            ThriftType::Struct(place) => self.fields(&self.schema.structs[*place], object),
            ThriftType::Map(types) => self.entries(&types.0, &types.1, object),
            _ => Err(self.unfit("an object")),
        }
    }
}

impl<'a> Typed<'a> {
    fn entries<'de, A: MapAccess<'de>>(
        self,
        key_type: &'a ThriftType,
        value_type: &'a ThriftType,
        mut object: A,
    ) -> Result<ThriftValue, A::Error> {
        let mut entries = Vec::new();
        let mut known = HashSet::new();
        while let Some(name) = object.next_key::<String>()? {
            let key = self.of(key_type).key(&name)?;
            if !known.insert(comparable(&key)) {
                return Err(A::Error::custom(format!("the key {name:?} is there twice")));
            }
            entries.push((key, object.next_value_seed(self.of(value_type))?));
        }
        Ok(ThriftValue::Map(key_type.wire_kind(), value_type.wire_kind(), entries))
    }

    fn fields<'de, A: MapAccess<'de>>(
        self,
        known: &'a ThriftStruct,
        mut object: A,
    ) -> Result<ThriftValue, A::Error> {
        let mut given: Vec<(i16, Option<ThriftValue>)> = Vec::new();
        while let Some(name) = object.next_key::<String>()? {
            let Some(field) = known.fields.iter().find(|field| field.name == name) else {
                return Err(unknown_field(known, &name));
            };
            if given.iter().any(|(id, _)| *id == field.id) {
                return Err(A::Error::custom(format!("{name} is there twice")));
            }
            let value = object.next_value_seed(OrNull(self.of(&field.field_type)))?;
            given.push((field.id, value));
        }
        complete(known, given)
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

fn unknown_field<E: Error>(known: &ThriftStruct, name: &str) -> E {
    let kind = if known.kind == StructKind::Arguments { "argument" } else { "field" };
    let names = known.fields.iter().map(|field| field.name.clone());
    E::custom(format!("{} has no {kind} {name}{}", known.name, suggestion(name, names)))
}

/// The fields that are given, and the defaults of the others, by ascending id.
fn complete<E: Error>(
    known: &ThriftStruct,
    given: Vec<(i16, Option<ThriftValue>)>,
) -> Result<ThriftValue, E> {
    let mut fields: Vec<_> =
        given.into_iter().filter_map(|(id, value)| Some((id, value?))).collect();
    if known.kind == StructKind::Union {
        return if fields.len() == 1 {
            Ok(ThriftValue::Struct(fields))
        } else {
            let said = format!("{} is a union: give one of its fields", known.name);
            Err(E::custom(said))
        };
    }
    for field in &known.fields {
        let is_given = fields.iter().any(|(id, _)| *id == field.id);
        match &field.default {
            _ if is_given => {}
            Some(default) => fields.push((field.id, default.clone())),
            None if field.is_required && known.kind == StructKind::Arguments => {
                let said = format!("the argument {} of {} is missing", field.name, known.name);
                return Err(E::custom(said));
            }
            None if field.is_required => {
                let said = format!("{} requires {}, which is missing", known.name, field.name);
                return Err(E::custom(said));
            }
            None => {}
        }
    }
    fields.sort_by_key(|(id, _)| *id);
    Ok(ThriftValue::Struct(fields))
}

/// A value, or `null` for none.
struct OrNull<'a>(Typed<'a>);

impl<'de> DeserializeSeed<'de> for OrNull<'_> {
    type Value = Option<ThriftValue>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for OrNull<'_> {
    type Value = Option<ThriftValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        self.0.deserialize(json).map(Some)
    }
}

/// The calls of an array.
struct Several<'a>(Typed<'a>);

impl<'de> Visitor<'de> for Several<'_> {
    type Value = Vec<ThriftValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "arguments of calls")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut calls = Vec::new();
        while let Some(call) = list.next_element_seed(self.0)? {
            calls.push(call);
        }
        Ok(calls)
    }
}
