//! Constants of the IDL: the defaults of fields.

use super::resolve::{Meaning, ResolvedIdl, written};
use crate::thrift::schema::ThriftType;
use crate::thrift::value::ThriftValue;
use pilota_thrift_parser::{ConstValue, Path as IdlPath};

/// Constants may stand in each other, and for each other, so deep.
const DEPTH_MAX: u32 = 64;

impl ResolvedIdl {
    /// The value of a constant that is written in a file, `depth` deep in others.
    ///
    /// # Errors
    /// Why it is none of that type, in words.
    pub(super) fn value(
        &self,
        number: usize,
        constant: &ConstValue,
        value_type: &ThriftType,
        depth: u32,
    ) -> Result<ThriftValue, String> {
        if depth == DEPTH_MAX {
            return Err("the constant stands for itself".to_owned());
        }
        let depth = depth + 1;
        match (constant, value_type) {
            (ConstValue::Path(path), _) => self.named_value(number, path, value_type, depth),
            (ConstValue::Bool(truth), ThriftType::Bool) => Ok(ThriftValue::Bool(*truth)),
            (ConstValue::Int(whole), _) => whole_number(whole.0, value_type),
            (ConstValue::Double(text), ThriftType::Double) => text
                .0
                .parse()
                .map(ThriftValue::Double)
                .map_err(|_| format!("{} is no number", text.0)),
            (ConstValue::String(text), ThriftType::String | ThriftType::Binary) => {
                Ok(ThriftValue::Binary(text.as_bytes().to_vec()))
            }
            (ConstValue::List(values), ThriftType::List(element) | ThriftType::Set(element)) => {
                let values = values
                    .iter()
                    .map(|value| self.value(number, value, element, depth))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(match value_type {
                    ThriftType::Set(_) => ThriftValue::Set(element.wire_kind(), values),
                    _ => ThriftValue::List(element.wire_kind(), values),
                })
            }
            (ConstValue::Map(entries), ThriftType::Map(types)) => {
                let (key_type, value_type) = &**types;
                let entries = entries
                    .iter()
                    .map(|(key, value)| {
                        let key = self.value(number, key, key_type, depth)?;
                        Ok((key, self.value(number, value, value_type, depth)?))
                    })
                    .collect::<Result<Vec<_>, String>>()?;
                Ok(ThriftValue::Map(key_type.wire_kind(), value_type.wire_kind(), entries))
            }
            // An empty map and an empty list are written alike in some files.
            (ConstValue::List(values), ThriftType::Map(types)) if values.is_empty() => {
                Ok(ThriftValue::Map(types.0.wire_kind(), types.1.wire_kind(), Vec::new()))
            }
            (ConstValue::Map(entries), ThriftType::Struct(place)) => {
                self.struct_value(number, entries, *place, depth)
            }
            _ => Err("the value is of another type".to_owned()),
        }
    }

    fn struct_value(
        &self,
        number: usize,
        entries: &[(ConstValue, ConstValue)],
        place: usize,
        depth: u32,
    ) -> Result<ThriftValue, String> {
        let known = &self.schema.structs[place];
        let mut fields = Vec::new();
        for (name, value) in entries {
            let ConstValue::String(name) = name else {
                return Err(format!("the fields of {} are named by strings", known.name));
            };
            let field = known
                .fields
                .iter()
                .find(|field| field.name == **name)
                .ok_or_else(|| format!("{} has no field {}", known.name, &**name))?;
            fields.push((field.id, self.value(number, value, &field.field_type, depth)?));
        }
        fields.sort_by_key(|(id, _)| *id);
        Ok(ThriftValue::Struct(fields))
    }

    /// Another constant, or a value of an enum with the enum's name before it.
    fn named_value(
        &self,
        number: usize,
        path: &IdlPath,
        value_type: &ThriftType,
        depth: u32,
    ) -> Result<ThriftValue, String> {
        if let Some((file, Meaning::Constant(constant))) = self.meaning(number, path) {
            return self.value(file, constant, value_type, depth);
        }
        let unknown = || format!("there is no constant {}", written(path));
        let (last, before) = path.segments.split_last().ok_or_else(unknown)?;
        let owner: IdlPath = before.iter().cloned().collect();
        let Some((_, Meaning::Enum(place))) = self.meaning(number, &owner) else {
            return Err(unknown());
        };
        let values = &self.schema.enums[*place].values;
        let value = values.iter().find(|(name, _)| *name == **last).ok_or_else(unknown)?;
        whole_number(i64::from(value.1), value_type)
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
