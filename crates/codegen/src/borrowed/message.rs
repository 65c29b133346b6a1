//! A message as its view and its writer have it.

use super::names::type_name;

/// A message.
#[derive(Debug)]
pub struct BorrowedMessage {
    /// As the `.proto` file has it, with its package.
    pub proto_name: String,
    /// In Rust, without `View` or `Writer`.
    pub name: String,
    pub fields: Vec<MessageField>,
    pub choices: Vec<Choice>,
}

/// A `oneof`.
#[derive(Debug)]
pub struct Choice {
    /// The field of the view.
    pub name: String,
    /// Its type, without `View`.
    pub type_name: String,
}

/// A field of a message.
#[derive(Debug)]
pub struct MessageField {
    pub number: u32,
    /// In Rust.
    pub name: String,
    pub value: FieldValue,
    pub place: FieldPlace,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Number(&'static NumberType),
    Text,
    Bytes,
    /// The name in Rust, without `View` or `Writer`.
    Message(String),
}

/// A type of numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct NumberType {
    /// In `bookend_server::borrowed`.
    pub kind: &'static str,
    pub rust: &'static str,
    pub wire_type: u32,
}

/// How often a field is there, and who knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldPlace {
    /// If it is missing it has its default.
    Implicit,
    Optional,
    Repeated,
    /// One of the choice with this index.
    OneOf(usize),
}

/// How the values of a field that is not a number are encoded: bytes behind their length.
const LENGTH_DELIMITED: u32 = 2;

impl BorrowedMessage {
    /// The fields of a choice, with the names of its variants.
    pub fn variants(&self, choice: usize) -> impl Iterator<Item = (&MessageField, String)> {
        let of_choice = move |field: &&MessageField| field.place == FieldPlace::OneOf(choice);
        self.fields.iter().filter(of_choice).map(|field| (field, field.variant()))
    }
}

impl MessageField {
    /// The number, and how the value is encoded.
    pub fn key(&self) -> u32 {
        match self.value {
            // Packed, which every decoder reads.
            FieldValue::Number(_) if self.place == FieldPlace::Repeated => self.packed_key(),
            FieldValue::Number(number) => self.number << 3 | number.wire_type,
            _ => self.packed_key(),
        }
    }

    fn packed_key(&self) -> u32 {
        self.number << 3 | LENGTH_DELIMITED
    }

    /// All keys with which the field may come.
    pub fn keys(&self) -> Vec<u32> {
        match self.value {
            FieldValue::Number(number) if self.place == FieldPlace::Repeated => {
                vec![self.number << 3 | number.wire_type, self.packed_key()]
            }
            _ => vec![self.key()],
        }
    }

    /// The variant of a choice.
    pub fn variant(&self) -> String {
        type_name(self.name.trim_start_matches("r#"))
    }
}

impl FieldValue {
    /// Its type in a view.
    pub fn view_type(&self) -> String {
        match self {
            FieldValue::Number(number) => number.rust.to_owned(),
            FieldValue::Text => "&'a str".to_owned(),
            FieldValue::Bytes => "&'a [u8]".to_owned(),
            FieldValue::Message(name) => format!("{name}View<'a>"),
        }
    }

    /// The `WireKind` that reads it.
    pub fn kind(&self) -> String {
        match self {
            FieldValue::Number(number) => format!("support::{}", number.kind),
            FieldValue::Text => "support::Utf8".to_owned(),
            FieldValue::Bytes => "support::Blob".to_owned(),
            FieldValue::Message(name) => format!("{name}View<'a>"),
        }
    }

    /// Whether it borrows from the request.
    pub fn borrows(&self) -> bool {
        !matches!(self, FieldValue::Number(_))
    }
}
