//! A serialized message with gaps, into which the variables of each call are written.
//!
//! The message is given as JSON in which marks stand for variables. Fields without one are
//! serialized once; of the others, the parts are kept in the order of the wire (the protobuf
//! encoding guide): the key of the field, a length where it has one, the value.

use super::encoding::{with_length, write_varint};
use super::error::CallTemplateError;
use super::pieces::{self, Piece};
use super::variables::{CallFacts, Variable};
use crate::data::json;
use crate::schema::field_names::{find_in_json, name_in_json};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::Value;

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
    /// Whether the default is as good as no value, and is not written.
    is_implicit: bool,
}

#[derive(Clone, Debug)]
enum ValuePart {
    Text(Vec<Piece>),
    Integer {
        variable: Variable,
        encoding: IntegerEncoding,
    },
    Message(MessageParts),
    /// Numbers behind one key.
    Packed(Vec<ValuePart>),
    /// One of several values of a field, the same in every call: with its key where they are not
    /// packed.
    Constant(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IntegerEncoding {
    Signed32,
    Unsigned32,
    Signed64,
    Unsigned64,
    ZigZag32,
    ZigZag64,
}

impl MessageParts {
    /// The parts of a message in JSON in which each mark stands for one of the variables; `None`
    /// where that cannot be: the engine has to render it, and says what is wrong with it.
    pub fn new(json: &str, message: &MessageDescriptor, variables: &[Variable]) -> Option<Self> {
        // These have a JSON form of their own; their fields do not appear in it.
        if message.full_name().starts_with("google.protobuf.") {
            return None;
        }
        let mut constant = Vec::new();
        let mut fields = Vec::new();
        for (name, value) in json::members(json)? {
            if name.contains(MARK) {
                return None;
            }
            if !value.contains(MARK) {
                constant.push(format!("{}:{value}", Value::from(&*name)));
                continue;
            }
            let field = find_in_json(message, &name)?;
            add_field(&field, value, variables, &mut fields)?;
        }
        let constant = json::part_of_message(&format!("{{{}}}", constant.join(",")), message)?;
        Some(Self { constant, fields })
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
        let is_implicit = !field.is_list() && !field.supports_presence();
        Self { key, value, is_implicit }
    }

    #[inline]
    fn write(&self, facts: &CallFacts<'_>, bytes: &mut Vec<u8>) -> Result<(), CallTemplateError> {
        let start = bytes.len();
        bytes.extend_from_slice(&self.key);
        self.value.write(facts, bytes)?;
        // Zero, or an empty text.
        if self.is_implicit && bytes[start + self.key.len()..] == [0] {
            bytes.truncate(start);
        }
        Ok(())
    }
}

impl ValuePart {
    #[inline]
    fn write(&self, facts: &CallFacts<'_>, bytes: &mut Vec<u8>) -> Result<(), CallTemplateError> {
        match self {
            Self::Text(text) => with_length(bytes, |bytes| {
                pieces::write(text, facts, bytes);
                Ok(())
            }),
            Self::Message(message) => with_length(bytes, |bytes| message.write(facts, bytes)),
            Self::Packed(numbers) => with_length(bytes, |bytes| {
                numbers.iter().try_for_each(|number| number.write(facts, bytes))
            }),
            Self::Integer { variable, encoding } => {
                let number = variable.number(facts).unwrap_or(0);
                write_varint(encoding.varint(number)?, bytes);
                Ok(())
            }
            Self::Constant(field) => {
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
            Kind::Int64 => Self::Signed64,
            Kind::Uint64 => Self::Unsigned64,
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
            Self::Unsigned64 => u64::try_from(number).map_err(|_| too_large())?,
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

fn add_field(
    field: &FieldDescriptor,
    value: &str,
    variables: &[Variable],
    fields: &mut Vec<FieldPart>,
) -> Option<()> {
    if field.is_map() {
        return None;
    }
    if !field.is_list() {
        fields.push(part(field, value, variables)?);
        return Some(());
    }
    let values = json::elements(value)?;
    if field.is_packed() {
        let numbers = values.iter().map(|value| packed_part(field, value, variables));
        let numbers = ValuePart::Packed(numbers.collect::<Option<_>>()?);
        fields.push(FieldPart::new(field, LENGTH_DELIMITED, numbers));
        return Some(());
    }
    for value in values {
        fields.push(if value.contains(MARK) {
            part(field, value, variables)?
        } else {
            let value = ValuePart::Constant(constant_value(field, value)?);
            FieldPart { key: Vec::new(), value, is_implicit: false }
        });
    }
    Some(())
}

fn part(field: &FieldDescriptor, value: &str, variables: &[Variable]) -> Option<FieldPart> {
    match (field.kind(), value.as_bytes().first()?) {
        (Kind::Message(message), b'{') if !field.is_group() => {
            let parts = MessageParts::new(value, &message, variables)?;
            Some(FieldPart::new(field, LENGTH_DELIMITED, ValuePart::Message(parts)))
        }
        (Kind::String, b'"') => {
            let text = ValuePart::Text(marked_pieces(value, variables)?);
            Some(FieldPart::new(field, LENGTH_DELIMITED, text))
        }
        (_, b'"') => Some(FieldPart::new(field, VARINT, integer_part(field, value, variables)?)),
        _ => None,
    }
}

fn integer_part(field: &FieldDescriptor, value: &str, variables: &[Variable]) -> Option<ValuePart> {
    let encoding = IntegerEncoding::of(&field.kind())?;
    let [Piece::Variable(variable)] = marked_pieces(value, variables)?[..] else {
        return None;
    };
    variable.number(&CallFacts::default())?;
    Some(ValuePart::Integer { variable, encoding })
}

fn packed_part(field: &FieldDescriptor, value: &str, variables: &[Variable]) -> Option<ValuePart> {
    if value.contains(MARK) {
        return integer_part(field, value, variables);
    }
    let with_key = constant_value(field, value)?;
    let mut rest = with_key.as_slice();
    prost::encoding::decode_key(&mut rest).ok()?;
    prost::encoding::decode_varint(&mut rest).ok()?;
    Some(ValuePart::Constant(rest.to_vec()))
}

/// One of several values of a field, without marks, as it is written alone.
fn constant_value(field: &FieldDescriptor, value: &str) -> Option<Vec<u8>> {
    let only = format!("{{{}:[{value}]}}", Value::from(name_in_json(field)));
    json::part_of_message(&only, field.parent_message())
}

/// The pieces of a string of JSON with marks.
fn marked_pieces(string: &str, variables: &[Variable]) -> Option<Vec<Piece>> {
    let text: String = serde_json::from_str(string).ok()?;
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
