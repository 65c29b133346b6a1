//! What IDL files say, with every name resolved.

use super::value::ThriftValue;
use super::wire_kind::WireKind;

/// All structs and enums of a file and of those that it includes.
#[derive(Clone, Debug, Default)]
pub(super) struct ThriftSchema {
    pub structs: Vec<ThriftStruct>,
    pub enums: Vec<ThriftEnum>,
}

/// The type of a value. Typedefs are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ThriftType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    String,
    Binary,
    Uuid,
    /// By place in [`ThriftSchema::enums`].
    Enum(usize),
    /// By place in [`ThriftSchema::structs`].
    Struct(usize),
    List(Box<Self>),
    Set(Box<Self>),
    Map(Box<(Self, Self)>),
}

/// What kind of struct it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StructKind {
    #[default]
    Struct,
    /// Exactly one of its fields is there.
    Union,
    Exception,
    /// The arguments of a method.
    Arguments,
}

/// A struct, a union, an exception, or the arguments or the result of a method.
#[derive(Clone, Debug, Default)]
pub(super) struct ThriftStruct {
    pub name: String,
    pub kind: StructKind,
    /// By ascending id.
    pub fields: Vec<ThriftField>,
}

#[derive(Clone, Debug)]
pub(super) struct ThriftField {
    pub id: i16,
    pub name: String,
    pub field_type: ThriftType,
    pub is_required: bool,
    /// Sent where no value is given.
    pub default: Option<ThriftValue>,
}

#[derive(Clone, Debug)]
pub(super) struct ThriftEnum {
    pub name: String,
    pub values: Vec<(String, i32)>,
}

/// A method, found by its name.
#[derive(Clone, Debug)]
pub(super) struct ThriftMethod {
    pub name: String,
    /// By place in [`ThriftSchema::structs`].
    pub arguments: usize,
    /// Field 0 is what it returns, unless that is nothing; the others are exceptions.
    pub result: usize,
    pub is_oneway: bool,
}

impl ThriftStruct {
    /// The place of the field of that id. Fields tend to come in order, so that it is `likely`.
    #[inline]
    pub fn place(&self, id: i16, likely: usize) -> Option<usize> {
        match self.fields.get(likely) {
            Some(field) if field.id == id => Some(likely),
            _ => self.fields.binary_search_by_key(&id, |field| field.id).ok(),
        }
    }

    /// The field of that id.
    pub fn field(&self, id: i16) -> Option<&ThriftField> {
        self.place(id, 0).map(|place| &self.fields[place])
    }
}

impl ThriftType {
    /// Appends the places of the structs that it is made of.
    pub fn structs(&self, places: &mut Vec<usize>) {
        match self {
            Self::Struct(place) => places.push(*place),
            Self::List(element) | Self::Set(element) => element.structs(places),
            Self::Map(types) => {
                types.0.structs(places);
                types.1.structs(places);
            }
            _ => {}
        }
    }

    /// What it is on the wire.
    #[inline]
    pub fn wire_kind(&self) -> WireKind {
        match self {
            Self::Bool => WireKind::Bool,
            Self::I8 => WireKind::I8,
            Self::I16 => WireKind::I16,
            Self::I32 | Self::Enum(_) => WireKind::I32,
            Self::I64 => WireKind::I64,
            Self::Double => WireKind::Double,
            Self::String | Self::Binary => WireKind::Binary,
            Self::Uuid => WireKind::Uuid,
            Self::Struct(_) => WireKind::Struct,
            Self::List(_) => WireKind::List,
            Self::Set(_) => WireKind::Set,
            Self::Map(_) => WireKind::Map,
        }
    }
}

impl ThriftSchema {
    /// The name of a type that has one.
    pub(super) fn name_of(&self, value_type: &ThriftType) -> &str {
        match value_type {
            ThriftType::Struct(place) => &self.structs[*place].name,
            ThriftType::Enum(place) => &self.enums[*place].name,
            plain => plain.wire_kind().name(),
        }
    }
}
