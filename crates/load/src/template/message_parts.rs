//! A serialized message with gaps, into which the variables of each call are written.
//!
//! The message is given as JSON in which marks stand for variables. Fields without one are
//! serialized once; of the others, the parts are kept in the order of the wire (the protobuf
//! encoding guide): the key of the field, a length where it has one, the value.

use super::encoding::{with_length, write_varint};
use super::error::CallTemplateError;
use super::pieces::{self, Piece};
use super::variables::{CallFacts, Variable};
use prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value};

/// The letter before and after the number of a variable. It belongs to nobody (Unicode, private use
/// area), and a text that has it is no message with gaps.
pub(crate) const MARK: char = '\u{f8ff}';

/// The wire types of the protobuf encoding guide.
const VARINT: u64 = 0;
const LENGTH_DELIMITED: u64 = 2;

/// A serialized message with gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageParts {
    /// The fields that are the same in every call.
    constant: Vec<u8>,
    fields: Vec<FieldPart>,
}

/// A field that differs from call to call: its key, and its value.
#[derive(Clone, Debug)]
struct FieldPart {
    key: Vec<u8>,
    value: ValuePart,
}

#[derive(Clone, Debug)]
enum ValuePart {
    Text(Vec<Piece>),
    Integer {
        variable: Variable,
        encoding: IntegerEncoding,
    },
    Message(MessageParts),
    /// One of several values of a field, the same in every call. It has its key with it.
    Constant(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntegerEncoding {
    Signed32,
    Unsigned32,
    Signed64,
    ZigZag32,
    ZigZag64,
}

impl MessageParts {
    /// The parts of a message in JSON in which each mark stands for one of the variables; `None`
    /// where that cannot be: the engine has to render it, and says what is wrong with it.
    pub fn new(json: &Value, message: &MessageDescriptor, variables: &[Variable]) -> Option<Self> {
        // These have a JSON form of their own; their fields do not appear in it.
        if message.full_name().starts_with("google.protobuf.") {
            return None;
        }
        let mut constant = Map::new();
        let mut fields = Vec::new();
        for (name, value) in json.as_object()? {
            if name.contains(MARK) {
                return None;
            }
            if !has_mark(value) {
                constant.insert(name.clone(), value.clone());
                continue;
            }
            let field =
                message.get_field_by_json_name(name).or_else(|| message.get_field_by_name(name))?;
            add_field(&field, value, variables, &mut fields)?;
        }
        let constant =
            DynamicMessage::deserialize(message.clone(), Value::Object(constant)).ok()?;
        Some(Self { constant: constant.encode_to_vec(), fields })
    }

    /// Appends the message of one call.
    ///
    /// # Errors
    /// When a number does not fit its field.
    #[inline]
    pub fn write(
        &self,
        facts: &CallFacts<'_>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), CallTemplateError> {
        bytes.extend_from_slice(&self.constant);
        self.fields.iter().try_for_each(|field| field.write(facts, bytes))
    }
}

impl FieldPart {
    fn new(field: &FieldDescriptor, wire_type: u64, value: ValuePart) -> Self {
        let mut key = Vec::new();
        write_varint(u64::from(field.number()) << 3 | wire_type, &mut key);
        Self { key, value }
    }

    #[inline]
    fn write(&self, facts: &CallFacts<'_>, bytes: &mut Vec<u8>) -> Result<(), CallTemplateError> {
        bytes.extend_from_slice(&self.key);
        match &self.value {
            ValuePart::Text(text) => with_length(bytes, |bytes| {
                pieces::write(text, facts, bytes);
                Ok(())
            }),
            ValuePart::Message(message) => with_length(bytes, |bytes| message.write(facts, bytes)),
            ValuePart::Integer { variable, encoding } => {
                let number = variable.number(facts).unwrap_or(0);
                write_varint(encoding.varint(number)?, bytes);
                Ok(())
            }
            ValuePart::Constant(field) => {
                bytes.extend_from_slice(field);
                Ok(())
            }
        }
    }
}

impl IntegerEncoding {
    fn of(kind: &Kind) -> Option<Self> {
        Some(match kind {
            Kind::Int32 => Self::Signed32,
            Kind::Uint32 => Self::Unsigned32,
            Kind::Int64 | Kind::Uint64 => Self::Signed64,
            Kind::Sint32 => Self::ZigZag32,
            Kind::Sint64 => Self::ZigZag64,
            _ => return None,
        })
    }

    #[inline]
    fn varint(self, number: i64) -> Result<u64, CallTemplateError> {
        let too_large =
            || CallTemplateError { line: 1, reason: format!("{number} does not fit its field") };
        Ok(match self {
            Self::Signed64 => number as u64,
            Self::ZigZag64 => ((number << 1) ^ (number >> 63)) as u64,
            Self::Unsigned32 => u64::from(u32::try_from(number).map_err(|_| too_large())?),
            Self::Signed32 => i64::from(i32::try_from(number).map_err(|_| too_large())?) as u64,
            Self::ZigZag32 => {
                let number = i32::try_from(number).map_err(|_| too_large())?;
                u64::from(((number << 1) ^ (number >> 31)) as u32)
            }
        })
    }
}

fn has_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MARK),
        Value::Array(values) => values.iter().any(has_mark),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.contains(MARK) || has_mark(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn add_field(
    field: &FieldDescriptor,
    value: &Value,
    variables: &[Variable],
    fields: &mut Vec<FieldPart>,
) -> Option<()> {
    match value {
        Value::Object(_) if field.is_map() => None,
        Value::Array(values) if field.is_list() => {
            for value in values {
                fields.push(if has_mark(value) {
                    part(field, value, variables)?
                } else {
                    constant_part(field, value)?
                });
            }
            Some(())
        }
        value if !field.is_list() => {
            fields.push(part(field, value, variables)?);
            Some(())
        }
        _ => None,
    }
}

fn part(field: &FieldDescriptor, value: &Value, variables: &[Variable]) -> Option<FieldPart> {
    match (field.kind(), value) {
        (Kind::Message(message), Value::Object(_)) if !field.is_group() => {
            let parts = MessageParts::new(value, &message, variables)?;
            Some(FieldPart::new(field, LENGTH_DELIMITED, ValuePart::Message(parts)))
        }
        (Kind::String, Value::String(text)) => {
            let text = ValuePart::Text(marked_pieces(text, variables)?);
            Some(FieldPart::new(field, LENGTH_DELIMITED, text))
        }
        (kind, Value::String(text)) => {
            let encoding = IntegerEncoding::of(&kind)?;
            let [Piece::Variable(variable)] = marked_pieces(text, variables)?[..] else {
                return None;
            };
            variable.number(&CallFacts::default())?;
            Some(FieldPart::new(field, VARINT, ValuePart::Integer { variable, encoding }))
        }
        _ => None,
    }
}

/// One of several values of a field, without marks.
fn constant_part(field: &FieldDescriptor, value: &Value) -> Option<FieldPart> {
    let only = Map::from_iter([(field.json_name().to_owned(), Value::from(vec![value.clone()]))]);
    let message = field.parent_message().clone();
    let message = DynamicMessage::deserialize(message, Value::Object(only)).ok()?;
    Some(FieldPart { key: Vec::new(), value: ValuePart::Constant(message.encode_to_vec()) })
}

/// The pieces of a text with marks.
fn marked_pieces(text: &str, variables: &[Variable]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    for (place, part) in text.split(MARK).enumerate() {
        if place % 2 == 1 {
            let number: usize = part.parse().ok()?;
            pieces.push(Piece::Variable(*variables.get(number)?));
        } else if !part.is_empty() {
            pieces.push(Piece::Text(part.to_owned()));
        }
    }
    Some(pieces)
}
