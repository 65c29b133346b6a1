//! Values as people read them: JSON, with the names that the IDL has.

use super::schema::{ThriftSchema, ThriftType};
use super::value::ThriftValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value, json};

impl ThriftValue {
    /// As JSON, with the names that the type has.
    pub fn to_json(&self, value_type: Option<&ThriftType>, schema: &ThriftSchema) -> Value {
        match (self, value_type) {
            (Self::Bool(value), _) => json!(value),
            (Self::I8(value), _) => json!(value),
            (Self::I16(value), _) => json!(value),
            (Self::I32(value), Some(ThriftType::Enum(place))) => {
                let values = &schema.enums[*place].values;
                let name = values.iter().find(|(_, number)| number == value);
                name.map_or_else(|| json!(value), |(name, _)| json!(name))
            }
            (Self::I32(value), _) => json!(value),
            (Self::I64(value), _) => json!(value),
            (Self::Double(value), _) => {
                Number::from_f64(*value).map_or_else(|| json!(value.to_string()), Value::Number)
            }
            (Self::Binary(bytes), Some(ThriftType::Binary)) => json!(STANDARD.encode(bytes)),
            (Self::Binary(bytes), _) => json!(String::from_utf8_lossy(bytes)),
            (Self::Uuid(bytes), _) => json!(uuid::Uuid::from_bytes(*bytes).to_string()),
            (Self::List(_, elements) | Self::Set(_, elements), value_type) => {
                let element = match value_type {
                    Some(ThriftType::List(element) | ThriftType::Set(element)) => Some(&**element),
                    _ => None,
                };
                elements.iter().map(|value| value.to_json(element, schema)).collect()
            }
            (Self::Map(.., entries), value_type) => {
                let types = match value_type {
                    Some(ThriftType::Map(types)) => Some((&types.0, &types.1)),
                    _ => None,
                };
                let entry = |(key, value): &(Self, Self)| {
                    let json = key.to_json(types.map(|(key, _)| key), schema);
                    let name = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
                    (name, value.to_json(types.map(|(_, value)| value), schema))
                };
                Value::Object(entries.iter().map(entry).collect())
            }
            (Self::Struct(fields), value_type) => {
                let known = match value_type {
                    Some(ThriftType::Struct(place)) => Some(&schema.structs[*place]),
                    _ => None,
                };
                let field = |(id, value): &(i16, Self)| {
                    let field = known.and_then(|known| known.field(*id));
                    let name = field.map_or_else(|| id.to_string(), |field| field.name.clone());
                    (name, value.to_json(field.map(|field| &field.field_type), schema))
                };
                Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
            }
        }
    }
}
