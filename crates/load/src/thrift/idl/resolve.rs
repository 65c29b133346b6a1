//! Names of the IDL and what they stand for.

use super::{IdlFile, IdlFiles};
use crate::error_text::suggestion;
use crate::thrift::error::ThriftError;
use crate::thrift::schema::{
    StructKind, ThriftEnum, ThriftField, ThriftMethod, ThriftSchema, ThriftStruct, ThriftType,
};
use pilota_thrift_parser::{
    Attribute, ConstValue, Enum, Field, Function, Item, Path as IdlPath, Service, StructLike, Ty,
    Type,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A typedef may stand for another one so often.
const TYPEDEFS_MAX: u32 = 64;

/// The names of IDL files, and the types that they stand for.
pub(in crate::thrift) struct ResolvedIdl {
    files: IdlFiles,
    pub schema: ThriftSchema,
    /// What a name in a file stands for.
    names: HashMap<(usize, String), Meaning>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// By place in the schema.
    Struct(usize),
    /// By place in the schema.
    Enum(usize),
    /// Another type, as it is written in the same file.
    Typedef(Type),
    /// A constant, as it is written in the same file.
    Constant(ConstValue),
}

/// Reads the fields of a struct of that name, which is in the file of that number.
type ReadFields = fn(&ResolvedIdl, usize, &str, &[Field]) -> Result<Vec<ThriftField>, ThriftError>;

impl ResolvedIdl {
    /// Reads a file with all that it includes.
    ///
    /// # Errors
    /// [`ThriftError`] naming the file that is wrong.
    pub fn read(file: &Path, import_paths: &[PathBuf]) -> Result<Self, ThriftError> {
        let files = IdlFiles::read(file, import_paths)?;
        let (schema, names) = (ThriftSchema::default(), HashMap::new());
        let mut resolved = Self { files, schema, names };
        for number in 0..resolved.files.files.len() {
            resolved.name_types(number);
        }
        for number in 0..resolved.files.files.len() {
            resolved.define_structs(number, Self::fields)?;
        }
        // A default may be a struct, of which the fields have to be known.
        for number in 0..resolved.files.files.len() {
            resolved.define_structs(number, Self::fields_with_defaults)?;
        }
        Ok(resolved)
    }

    /// Gives each type of a file its place.
    fn name_types(&mut self, number: usize) {
        for item in &self.files.files[number].parsed.items {
            let (name, meaning) = match item {
                Item::Typedef(typedef) => {
                    (&typedef.alias, Meaning::Typedef(typedef.r#type.clone()))
                }
                Item::Constant(constant) => {
                    (&constant.name, Meaning::Constant(constant.value.clone()))
                }
                Item::Enum(choices) => {
                    self.schema.enums.push(thrift_enum(choices));
                    (&choices.name, Meaning::Enum(self.schema.enums.len() - 1))
                }
                other => {
                    let Some((like, kind)) = struct_like(other) else {
                        continue;
                    };
                    let name = like.name.to_string();
                    self.schema.structs.push(ThriftStruct { name, kind, fields: Vec::new() });
                    (&like.name, Meaning::Struct(self.schema.structs.len() - 1))
                }
            };
            self.names.insert((number, name.to_string()), meaning);
        }
    }

    /// Gives a file's structs their fields.
    fn define_structs(&mut self, number: usize, fields: ReadFields) -> Result<(), ThriftError> {
        let mut defined = Vec::new();
        for item in &self.files.files[number].parsed.items {
            let Some((like, _)) = struct_like(item) else {
                continue;
            };
            if let Some(Meaning::Struct(place)) = self.names.get(&(number, like.name.to_string())) {
                defined.push((*place, fields(self, number, &like.name, &like.fields)?));
            }
        }
        for (place, fields) in defined {
            self.schema.structs[place].fields = fields;
        }
        Ok(())
    }

    /// The fields of a struct without their defaults, by ascending id.
    fn fields(
        &self,
        number: usize,
        owner: &str,
        fields: &[Field],
    ) -> Result<Vec<ThriftField>, ThriftError> {
        let mut resolved = Vec::new();
        for field in fields {
            resolved.push(ThriftField {
                id: field.id as i16,
                name: field.name.to_string(),
                field_type: self.field_type(number, &field.ty, 0)?,
                is_required: field.attribute == Attribute::Required,
                default: None,
            });
        }
        resolved.sort_by_key(|field| field.id);
        match resolved.windows(2).find(|pair| pair[0].id == pair[1].id) {
            Some(pair) => {
                let what = format!("{owner} has two fields with the id {}", pair[0].id);
                Err(self.wrong(number, what))
            }
            None => Ok(resolved),
        }
    }

    /// The fields of a struct, by ascending id.
    fn fields_with_defaults(
        &self,
        number: usize,
        owner: &str,
        fields: &[Field],
    ) -> Result<Vec<ThriftField>, ThriftError> {
        let mut resolved = self.fields(number, owner, fields)?;
        for field in &mut resolved {
            let written = fields.iter().find(|written| written.id == i32::from(field.id));
            if let Some(default) = written.and_then(|written| written.default.as_ref()) {
                let value = self.value(number, default, &field.field_type, 0);
                field.default = Some(value.map_err(|what| {
                    let what = format!("the default of {owner}.{}: {what}", field.name);
                    self.wrong(number, what)
                })?);
            }
        }
        Ok(resolved)
    }

    fn field_type(
        &self,
        number: usize,
        written: &Ty,
        typedefs: u32,
    ) -> Result<ThriftType, ThriftError> {
        let inner = |written: &Type| self.field_type(number, written, typedefs).map(Box::new);
        Ok(match written {
            Ty::Bool => ThriftType::Bool,
            Ty::Byte | Ty::I8 => ThriftType::I8,
            Ty::I16 => ThriftType::I16,
            Ty::I32 => ThriftType::I32,
            Ty::I64 => ThriftType::I64,
            Ty::Double => ThriftType::Double,
            Ty::String => ThriftType::String,
            Ty::Binary => ThriftType::Binary,
            Ty::Uuid => ThriftType::Uuid,
            Ty::Void => return Err(self.wrong(number, "void is no type of a value".to_owned())),
            Ty::List { value, .. } => ThriftType::List(inner(value)?),
            Ty::Set { value, .. } => ThriftType::Set(inner(value)?),
            Ty::Map { key, value, .. } => ThriftType::Map(Box::new((*inner(key)?, *inner(value)?))),
            Ty::Path(path) => self.named_type(number, path, typedefs)?,
        })
    }

    fn named_type(
        &self,
        number: usize,
        path: &IdlPath,
        typedefs: u32,
    ) -> Result<ThriftType, ThriftError> {
        if typedefs == TYPEDEFS_MAX {
            let what = format!("the typedef {} stands for itself", written(path));
            return Err(self.wrong(number, what));
        }
        match self.meaning(number, path) {
            Some((_, Meaning::Struct(place))) => Ok(ThriftType::Struct(*place)),
            Some((_, Meaning::Enum(place))) => Ok(ThriftType::Enum(*place)),
            Some((file, Meaning::Typedef(other))) => self.field_type(file, other, typedefs + 1),
            Some((_, Meaning::Constant(_))) | None => {
                let mut known: Vec<_> = self
                    .names
                    .iter()
                    .filter(|((file, _), meaning)| {
                        *file == number && !matches!(meaning, Meaning::Constant(_))
                    })
                    .map(|((_, name), _)| name.clone())
                    .collect();
                known.sort_unstable();
                let nearest = suggestion(&written(path), known);
                Err(self.wrong(number, format!("there is no type {}{nearest}", written(path))))
            }
        }
    }

    /// What a name in a file stands for, and the file where that is written.
    pub(super) fn meaning(&self, number: usize, path: &IdlPath) -> Option<(usize, &Meaning)> {
        let (file, name) = self.place(number, path)?;
        self.names.get(&(file, name.to_owned())).map(|meaning| (file, meaning))
    }

    /// The file and the name in it that a name with the name of an included file before it means.
    fn place<'a>(&self, number: usize, path: &'a IdlPath) -> Option<(usize, &'a str)> {
        let (last, before) = path.segments.split_last()?;
        if before.is_empty() {
            return Some((number, last));
        }
        let stem = before.iter().map(|segment| segment.as_str()).collect::<Vec<_>>().join(".");
        self.files.files[number].includes.get(&stem).map(|file| (*file, last.as_str()))
    }

    fn wrong(&self, number: usize, what: String) -> ThriftError {
        ThriftError::Meaning { file: self.files.files[number].name.clone(), what }
    }

    /// Finds a method by `Service.method` or `Service/method`: one of the first file, or of a
    /// service that it extends.
    ///
    /// # Errors
    /// [`ThriftError`] with the names that are there.
    pub fn method(&mut self, name: &str) -> Result<ThriftMethod, ThriftError> {
        let not_a_method = || ThriftError::NotAMethod(name.to_owned());
        let (service, method) = name.rsplit_once(['.', '/']).ok_or_else(not_a_method)?;
        // What stands before the service is its package, where the same name is used for gRPC.
        let file = &self.files.files[0];
        let found = services(file).find(|known| known.name.as_str() == service);
        let Some(found) = found else {
            let known = services(file).map(|known| known.name.to_string());
            return Err(ThriftError::NotThere {
                owner: file.name.clone(),
                kind: "service",
                name: service.to_owned(),
                suggestion: suggestion(service, known),
            });
        };
        let (mut number, mut inherited) = (0, Some(found));
        let mut known = Vec::new();
        while let Some(service) = inherited {
            if let Some(function) = service.functions.iter().find(|known| &*known.name == method) {
                let types = self.method_types(number, function)?;
                return Ok(self.with_method(function.name.to_string(), function.oneway, types));
            }
            known.extend(service.functions.iter().map(|function| function.name.to_string()));
            // A service that extends itself gives the same names again.
            let parent = service.extends.as_ref().and_then(|path| self.place(number, path));
            inherited = parent.filter(|_| known.len() < METHODS_MAX).and_then(|(file, name)| {
                number = file;
                services(&self.files.files[file]).find(|known| known.name.as_str() == name)
            });
        }
        Err(ThriftError::NotThere {
            owner: service.to_owned(),
            kind: "method",
            name: method.to_owned(),
            suggestion: suggestion(method, known),
        })
    }

    /// The arguments and the result of a method, as structs.
    fn method_types(
        &self,
        number: usize,
        function: &Function,
    ) -> Result<[ThriftStruct; 2], ThriftError> {
        let name = &function.name;
        let arguments = self.fields_with_defaults(number, name, &function.arguments)?;
        let mut result = self.fields(number, name, &function.throws)?;
        if !matches!(function.result_type.0, Ty::Void) {
            let returned = ThriftField {
                id: 0,
                name: "success".to_owned(),
                field_type: self.field_type(number, &function.result_type, 0)?,
                is_required: false,
                default: None,
            };
            result.insert(0, returned);
        }
        let arguments =
            ThriftStruct { name: name.to_string(), kind: StructKind::Arguments, fields: arguments };
        let name = format!("{}_result", name.as_str());
        Ok([arguments, ThriftStruct { name, kind: StructKind::Struct, fields: result }])
    }

    fn with_method(
        &mut self,
        name: String,
        is_oneway: bool,
        types: [ThriftStruct; 2],
    ) -> ThriftMethod {
        let arguments = self.schema.structs.len();
        self.schema.structs.extend(types);
        ThriftMethod { name, is_oneway, arguments, result: arguments + 1 }
    }
}

/// Methods of a service with all that it extends; more are not looked through.
const METHODS_MAX: usize = 100_000;

fn services(file: &IdlFile) -> impl Iterator<Item = &Service> {
    file.parsed.items.iter().filter_map(|item| match item {
        Item::Service(service) => Some(service),
        _ => None,
    })
}

fn struct_like(item: &Item) -> Option<(&StructLike, StructKind)> {
    match item {
        Item::Struct(like) => Some((like, StructKind::Struct)),
        Item::Union(like) => Some((like, StructKind::Union)),
        Item::Exception(like) => Some((like, StructKind::Exception)),
        _ => None,
    }
}

/// A value without a number has the one behind that before it.
fn thrift_enum(choices: &Enum) -> ThriftEnum {
    let mut next = 0;
    let values = choices
        .values
        .iter()
        .map(|value| {
            let number = value.value.map_or(next, |number| number.0 as i32);
            next = number.wrapping_add(1);
            (value.name.to_string(), number)
        })
        .collect();
    ThriftEnum { name: choices.name.to_string(), values }
}

/// A name as it is written.
pub(super) fn written(path: &IdlPath) -> String {
    path.segments.iter().map(|segment| segment.as_str()).collect::<Vec<_>>().join(".")
}
