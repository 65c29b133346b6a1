//! Values: those of requests before they are encoded, and those of exceptions for people to read.

use super::reader::{Fault, Reader, nested};
use super::wire_kind::WireKind;

/// A value of some type of the IDL. An enum is its number.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ThriftValue {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    Double(f64),
    /// Text or bytes.
    Binary(Vec<u8>),
    Uuid([u8; 16]),
    /// Elements, and what they are on the wire.
    List(WireKind, Vec<Self>),
    Set(WireKind, Vec<Self>),
    Map(WireKind, WireKind, Vec<(Self, Self)>),
    /// By ascending id.
    Struct(Vec<(i16, Self)>),
}

impl ThriftValue {
    /// What it is on the wire.
    pub fn wire_kind(&self) -> WireKind {
        match self {
            Self::Bool(_) => WireKind::Bool,
            Self::I8(_) => WireKind::I8,
            Self::I16(_) => WireKind::I16,
            Self::I32(_) => WireKind::I32,
            Self::I64(_) => WireKind::I64,
            Self::Double(_) => WireKind::Double,
            Self::Binary(_) => WireKind::Binary,
            Self::Uuid(_) => WireKind::Uuid,
            Self::List(..) => WireKind::List,
            Self::Set(..) => WireKind::Set,
            Self::Map(..) => WireKind::Map,
            Self::Struct(_) => WireKind::Struct,
        }
    }

    /// Reads any value of that kind. No more is allocated than came.
    ///
    /// # Errors
    /// As [`Reader`].
    pub fn read(
        reader: &mut Reader<'_>,
        kind: WireKind,
        truth: Option<bool>,
        depth: u32,
    ) -> Result<Self, Fault> {
        Ok(match kind {
            WireKind::Bool => Self::Bool(reader.bool(truth)?),
            WireKind::I8 => Self::I8(reader.i8()?),
            WireKind::I16 => Self::I16(reader.i16()?),
            WireKind::I32 => Self::I32(reader.i32()?),
            WireKind::I64 => Self::I64(reader.i64()?),
            WireKind::Double => Self::Double(reader.double()?),
            WireKind::Binary => Self::Binary(reader.binary()?.to_vec()),
            WireKind::Uuid => Self::Uuid(reader.uuid()?),
            WireKind::List | WireKind::Set => {
                let (element, count) = reader.list_head()?;
                let mut elements = Vec::new();
                for _ in 0..count {
                    elements.push(Self::read(reader, element, None, nested(depth)?)?);
                }
                if kind == WireKind::List {
                    Self::List(element, elements)
                } else {
                    Self::Set(element, elements)
                }
            }
            WireKind::Map => {
                let (key, value, count) = reader.map_head()?;
                let mut entries = Vec::new();
                for _ in 0..count {
                    let key = Self::read(reader, key, None, nested(depth)?)?;
                    entries.push((key, Self::read(reader, value, None, nested(depth)?)?));
                }
                Self::Map(key, value, entries)
            }
            WireKind::Struct => {
                let (mut fields, mut before) = (Vec::new(), 0);
                while let Some(head) = reader.field_head(before)? {
                    before = head.id;
                    let value = Self::read(reader, head.kind, head.truth, nested(depth)?)?;
                    fields.push((head.id, value));
                }
                Self::Struct(fields)
            }
        })
    }
}
