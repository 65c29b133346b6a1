//! Constants of the IDL: the defaults of fields.

use super::document::Constant;
use super::parser::DEPTH_MAX;
use super::resolve::ResolvedIdl;
use crate::thrift::schema::ThriftType;
use crate::thrift::value::ThriftValue;

/// Bytes of text, and names that are compared, that cost as much as a value.
const SPENT_TOGETHER: usize = 64;

impl ResolvedIdl {
    /// The value of a constant that is written in a file, `depth` deep in others.
    ///
    /// # Errors
    /// Why it does not fit the type, in words.
    pub(super) fn value(
        &self,
        file: usize,
        constant: &Constant,
        value_type: &ThriftType,
        depth: usize,
    ) -> Result<ThriftValue, String> {
        if depth > DEPTH_MAX {
            return Err(format!(
                "the constant stands for itself, or for others more than {DEPTH_MAX} deep"
            ));
        }
        self.spend(1)?;
        let depth = depth + 1;
        match (constant, value_type) {
            (Constant::Name(path), _) => self.named_value(file, path, value_type, depth),
            (Constant::Int(whole), _) => whole_number(*whole, value_type),
            (Constant::Double(number), ThriftType::Double) => Ok(ThriftValue::Double(*number)),
            (Constant::Text(text), ThriftType::String | ThriftType::Binary) => {
                self.spend(text.len() / SPENT_TOGETHER)?;
                Ok(ThriftValue::Binary(text.as_bytes().to_vec()))
            }
            (Constant::Text(text), ThriftType::Uuid) => uuid::Uuid::try_parse(text)
                .map(|uuid| ThriftValue::Uuid(uuid.into_bytes()))
                .map_err(|_| "the value is no UUID".to_owned()),
            (Constant::List(values), ThriftType::List(element) | ThriftType::Set(element)) => {
                let values = values
                    .iter()
                    .map(|value| self.value(file, value, element, depth))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(match value_type {
                    ThriftType::Set(_) => ThriftValue::Set(element.wire_kind(), values),
                    _ => ThriftValue::List(element.wire_kind(), values),
                })
            }
            (Constant::Map(entries), ThriftType::Map(types)) => {
                let (key_type, value_type) = &**types;
                let entries = entries
                    .iter()
                    .map(|(key, value)| {
                        let key = self.value(file, key, key_type, depth)?;
                        Ok((key, self.value(file, value, value_type, depth)?))
                    })
                    .collect::<Result<Vec<_>, String>>()?;
                Ok(ThriftValue::Map(key_type.wire_kind(), value_type.wire_kind(), entries))
            }
            (Constant::Map(entries), ThriftType::Struct(place)) => {
                self.struct_value(file, entries, *place, depth)
            }
            _ => {
                empty(constant, value_type).ok_or_else(|| "the value is of another type".to_owned())
            }
        }
    }

    fn struct_value(
        &self,
        file: usize,
        entries: &[(Constant, Constant)],
        place: usize,
        depth: usize,
    ) -> Result<ThriftValue, String> {
        let known = &self.schema.structs[place];
        let mut fields = Vec::new();
        for (name, value) in entries {
            let Constant::Text(name) = name else {
                return Err(format!("the fields of {} are named by strings", known.name));
            };
            let place = known.fields.iter().position(|field| field.name == *name);
            self.spend(place.unwrap_or(0) / SPENT_TOGETHER)?;
            let Some(field) = place.map(|place| &known.fields[place]) else {
                return Err(format!("{} has no field {}", known.name, name.escape_debug()));
            };
            fields.push((field.id, self.value(file, value, &field.field_type, depth)?));
        }
        fields.sort_by_key(|(id, _)| *id);
        match fields.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(_) => Err(format!("a field of {} is there twice", known.name)),
            None => Ok(ThriftValue::Struct(fields)),
        }
    }

    /// A value of an enum, with the enum's name before it, or another constant.
    fn named_value(
        &self,
        file: usize,
        path: &str,
        value_type: &ThriftType,
        depth: usize,
    ) -> Result<ThriftValue, String> {
        let (owner, last) = path.rsplit_once('.').unwrap_or(("", path));
        // As the compiler does, whatever enum is named.
        if let ThriftType::Enum(place) = value_type
            && let Some(number) = self.enum_value(*place, last)?
        {
            return Ok(ThriftValue::I32(number));
        }
        if let Some((file, constant)) = self.constant(file, path) {
            return self.value(file, constant, value_type, depth);
        }
        let place = self.enum_place(file, owner);
        match place.map(|place| self.enum_value(place, last)).transpose()?.flatten() {
            Some(number) => whole_number(i64::from(number), value_type),
            None => Err(self.no_constant(file, path)),
        }
    }

    fn enum_value(&self, place: usize, name: &str) -> Result<Option<i32>, String> {
        let values = &self.schema.enums[place].values;
        let place = values.iter().position(|(known, _)| known == name);
        self.spend(place.unwrap_or(values.len()) / SPENT_TOGETHER)?;
        Ok(place.map(|place| values[place].1))
    }
}

/// An empty map and an empty list are written alike in some files.
fn empty(constant: &Constant, value_type: &ThriftType) -> Option<ThriftValue> {
    match (constant, value_type) {
        (Constant::List(values), ThriftType::Map(types)) if values.is_empty() => {
            Some(ThriftValue::Map(types.0.wire_kind(), types.1.wire_kind(), Vec::new()))
        }
        (Constant::Map(entries), ThriftType::List(element)) if entries.is_empty() => {
            Some(ThriftValue::List(element.wire_kind(), Vec::new()))
        }
        (Constant::Map(entries), ThriftType::Set(element)) if entries.is_empty() => {
            Some(ThriftValue::Set(element.wire_kind(), Vec::new()))
        }
        (Constant::List(values), ThriftType::Struct(_)) if values.is_empty() => {
            Some(ThriftValue::Struct(Vec::new()))
        }
        _ => None,
    }
}

/// A whole number as a value of any type that can be one.
fn whole_number(number: i64, value_type: &ThriftType) -> Result<ThriftValue, String> {
    let too_large = |_| format!("{number} is too large");
    match value_type {
        ThriftType::Bool => Ok(ThriftValue::Bool(number != 0)),
        ThriftType::I8 => number.try_into().map(ThriftValue::I8).map_err(too_large),
        ThriftType::I16 => number.try_into().map(ThriftValue::I16).map_err(too_large),
        ThriftType::I32 | ThriftType::Enum(_) => {
            number.try_into().map(ThriftValue::I32).map_err(too_large)
        }
        ThriftType::I64 => Ok(ThriftValue::I64(number)),
        ThriftType::Double => Ok(ThriftValue::Double(number as f64)),
        _ => Err("the value is of another type".to_owned()),
    }
}
