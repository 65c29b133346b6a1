//! What one IDL file says, with its names as they are written.

use crate::thrift::schema::{StructKind, ThriftType};

/// An IDL file, of what calls need: no namespaces, no annotations.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub includes: Vec<WrittenName>,
    pub definitions: Vec<Definition>,
    /// What begins like no definition and was passed over.
    pub unknown: Vec<UnknownDefinition>,
}

/// A definition that Thrift does not have, such as one of a dialect or one with a slip in its
/// keyword.
#[derive(Debug)]
pub(super) struct UnknownDefinition {
    pub keyword: String,
    /// The word behind the keyword, which may be the name that it defines.
    pub name: String,
    pub line: u32,
    pub column: usize,
}

#[derive(Debug)]
pub(super) struct Definition {
    pub name: String,
    pub line: u32,
    pub body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Typedef(WrittenType),
    Constant(Constant),
    Enum(Vec<(String, i32)>),
    Struct(StructKind, Vec<WrittenField>),
    Service(Service),
}

#[derive(Debug)]
pub(super) struct Service {
    pub extends: Option<WrittenName>,
    pub functions: Vec<Function>,
}

#[derive(Debug)]
pub(super) struct Function {
    pub name: String,
    pub line: u32,
    pub is_oneway: bool,
    pub returned: WrittenType,
    pub arguments: Vec<WrittenField>,
    pub exceptions: Vec<WrittenField>,
}

#[derive(Debug)]
pub(super) struct WrittenField {
    /// As the compiler numbers it; perhaps more than fits in an id.
    pub id: i64,
    pub name: String,
    pub line: u32,
    pub is_required: bool,
    pub field_type: WrittenType,
    pub default: Option<Constant>,
}

#[derive(Debug)]
pub(super) enum WrittenType {
    Void,
    Plain(ThriftType),
    Named(WrittenName),
    List(Box<Self>),
    Set(Box<Self>),
    Map(Box<(Self, Self)>),
}

/// A name that is defined elsewhere, perhaps with the name of a file before it; or the path of a
/// file.
#[derive(Debug)]
pub(super) struct WrittenName {
    pub path: String,
    pub line: u32,
}

/// A value. The compiler takes `true` and `false` for numbers.
#[derive(Debug)]
pub(super) enum Constant {
    Int(i64),
    Double(f64),
    Text(String),
    /// Another constant, or a value of an enum.
    Name(String),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
}
