//! Names of the IDL and what they stand for.
//!
//! Only what the method needs is resolved: as in the compiler, a file may have types that are
//! wrong, or of files that are nowhere, where nothing is made of them.

use super::document::{Body, Constant, Function, WrittenField, WrittenName, WrittenType};
use super::files::IdlFiles;
use super::parser::DEPTH_MAX;
use crate::error_text::suggestion;
use crate::thrift::error::ThriftError;
use crate::thrift::schema::{
    StructKind, ThriftEnum, ThriftField, ThriftMethod, ThriftSchema, ThriftStruct, ThriftType,
};
use crate::thrift::value::ThriftValue;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::slice;

/// Types and values that written ones stand for, with their names gone. Each typedef or constant
/// that has another twice doubles them.
const RESOLVED_MAX: usize = 1_000_000;

/// Names that an error looks through for the one that was meant.
const SUGGESTED_MAX: usize = 1_000;

/// The names of IDL files, and the types that they stand for.
#[derive(Debug)]
pub(in crate::thrift) struct ResolvedIdl {
    files: Rc<IdlFiles>,
    pub schema: ThriftSchema,
    /// What the names in each file stand for.
    names: Vec<Names>,
    /// Where the structs of the schema are written.
    structs: Vec<Place>,
    /// Whether those have their fields.
    is_defined: Vec<bool>,
    /// Of [`RESOLVED_MAX`].
    left: Cell<usize>,
}

/// A definition, by its file and its place in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    file: usize,
    definition: usize,
}

/// What names in a file stand for; constants and services by their place in it.
#[derive(Debug, Default)]
struct Names {
    types: HashMap<String, Meaning>,
    constants: HashMap<String, usize>,
    services: HashMap<String, usize>,
}

/// What the name of a type stands for.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    /// By place in the schema.
    Struct(usize),
    /// By place in the schema.
    Enum(usize),
    /// By place in the file.
    Typedef(usize),
}

/// Reads IDL from memory, without what it includes, and resolves each type and method of it.
///
/// # Errors
/// [`ThriftError`] naming the line that is wrong.
pub fn check_idl(name: &str, text: &str) -> Result<(), ThriftError> {
    let mut resolved = ResolvedIdl::new(IdlFiles::of_text(name, text)?)?;
    resolved.define((0..resolved.structs.len()).rev().collect())?;
    let files = Rc::clone(&resolved.files);
    for definition in &files.files[0].document.definitions {
        if let Body::Service(service) = &definition.body {
            for function in &service.functions {
                resolved.method_of(0, function)?;
            }
        }
    }
    Ok(())
}

impl ResolvedIdl {
    /// Reads a file with all that it includes.
    ///
    /// # Errors
    /// [`ThriftError`] naming the file that is wrong.
    pub fn read(file: &Path, import_paths: &[PathBuf]) -> Result<Self, ThriftError> {
        Self::new(IdlFiles::read(file, import_paths)?)
    }

    pub(super) fn new(files: IdlFiles) -> Result<Self, ThriftError> {
        let mut resolved = Self {
            names: Vec::with_capacity(files.files.len()),
            files: Rc::new(files),
            schema: ThriftSchema::default(),
            structs: Vec::new(),
            is_defined: Vec::new(),
            left: Cell::new(RESOLVED_MAX),
        };
        for file in 0..resolved.files.files.len() {
            let names = resolved.names_of(file)?;
            resolved.names.push(names);
        }
        resolved.is_defined = vec![false; resolved.structs.len()];
        Ok(resolved)
    }

    /// Gives each type of a file its place.
    fn names_of(&mut self, file: usize) -> Result<Names, ThriftError> {
        let mut names = Names::default();
        let files = Rc::clone(&self.files);
        for (definition, written) in files.files[file].document.definitions.iter().enumerate() {
            let name = written.name.clone();
            let is_new = match &written.body {
                Body::Typedef(_) => {
                    names.types.insert(name, Meaning::Typedef(definition)).is_none()
                }
                Body::Constant(_) => names.constants.insert(name, definition).is_none(),
                Body::Service(_) => names.services.insert(name, definition).is_none(),
                Body::Enum(values) => {
                    let meaning = Meaning::Enum(self.schema.enums.len());
                    let values = values.clone();
                    self.schema.enums.push(ThriftEnum { name: name.clone(), values });
                    names.types.insert(name, meaning).is_none()
                }
                Body::Struct(kind, _) => {
                    let meaning = Meaning::Struct(self.schema.structs.len());
                    let (fields, kind) = (Vec::new(), *kind);
                    self.schema.structs.push(ThriftStruct { name: name.clone(), kind, fields });
                    self.structs.push(Place { file, definition });
                    names.types.insert(name, meaning).is_none()
                }
            };
            if !is_new {
                let what = format!("{} is defined twice", written.name);
                return Err(self.wrong(file, written.line, what));
            }
        }
        Ok(names)
    }

    /// Gives structs, and all that they are made of, their fields.
    fn define(&mut self, mut wanted: Vec<usize>) -> Result<(), ThriftError> {
        let files = Rc::clone(&self.files);
        let mut reached = Vec::new();
        while let Some(place) = wanted.pop() {
            let Place { file, definition } = self.structs[place];
            let written = files.definition(file, definition);
            if let Body::Struct(_, fields) = &written.body
                && !mem::replace(&mut self.is_defined[place], true)
            {
                let known = self.fields(file, &written.name, fields)?;
                known.iter().for_each(|field| field.field_type.structs(&mut wanted));
                self.schema.structs[place].fields = known;
                reached.push((place, file, &written.name, fields));
            }
        }
        // A default may be a struct, of which the fields have to be known.
        for (place, file, name, fields) in reached {
            let known = &self.schema.structs[place].fields;
            for (number, default) in self.defaults(file, name, fields, known)? {
                self.schema.structs[place].fields[number].default = Some(default);
            }
        }
        Ok(())
    }

    /// The fields of a struct without their defaults, by ascending id.
    fn fields(
        &self,
        file: usize,
        owner: &str,
        written: &[WrittenField],
    ) -> Result<Vec<ThriftField>, ThriftError> {
        let written = by_id(written);
        if let Some(pair) = written.windows(2).find(|pair| pair[0].id == pair[1].id) {
            let what = format!("{owner} has two fields with the id {}", pair[0].id);
            return Err(self.wrong(file, pair[1].line, what));
        }
        let mut names = HashSet::new();
        if let Some(twice) = written.iter().find(|field| !names.insert(&field.name)) {
            let what = format!("{owner} has two fields with the name {}", twice.name);
            return Err(self.wrong(file, twice.line, what));
        }
        let field = |written: &&WrittenField| {
            let id = i16::try_from(written.id).map_err(|_| {
                let what = format!("the id of {owner}.{} is beyond 16 bits", written.name);
                self.wrong(file, written.line, what)
            })?;
            Ok(ThriftField {
                id,
                name: written.name.clone(),
                field_type: self.field_type(file, &written.field_type, written.line, 0)?,
                is_required: written.is_required,
                default: None,
            })
        };
        written.iter().map(field).collect()
    }

    /// The defaults of fields, which are known, by their places.
    fn defaults(
        &self,
        file: usize,
        owner: &str,
        written: &[WrittenField],
        known: &[ThriftField],
    ) -> Result<Vec<(usize, ThriftValue)>, ThriftError> {
        let mut defaults = Vec::new();
        for (place, (written, known)) in by_id(written).into_iter().zip(known).enumerate() {
            if let Some(default) = &written.default {
                let value = self.value(file, default, &known.field_type, 0).map_err(|what| {
                    let what = format!("the default of {owner}.{}: {what}", known.name);
                    self.wrong(file, written.line, what)
                })?;
                defaults.push((place, value));
            }
        }
        Ok(defaults)
    }

    /// A type inside `depth` others; typedefs may stand for it.
    fn field_type(
        &self,
        file: usize,
        written: &WrittenType,
        line: u32,
        depth: usize,
    ) -> Result<ThriftType, ThriftError> {
        self.spend(1).map_err(|what| self.wrong(file, line, what))?;
        let inner = |written| self.field_type(file, written, line, depth + 1);
        Ok(match written {
            WrittenType::Plain(plain) => plain.clone(),
            WrittenType::Void => {
                return Err(self.wrong(file, line, "void is no type of a value".to_owned()));
            }
            WrittenType::List(element) => ThriftType::List(Box::new(inner(element)?)),
            WrittenType::Set(element) => ThriftType::Set(Box::new(inner(element)?)),
            WrittenType::Map(types) => {
                ThriftType::Map(Box::new((inner(&types.0)?, inner(&types.1)?)))
            }
            WrittenType::Named(name) => self.named_type(file, name, depth)?,
        })
    }

    fn named_type(
        &self,
        file: usize,
        name: &WrittenName,
        depth: usize,
    ) -> Result<ThriftType, ThriftError> {
        match self.find(file, &name.path, |names| &names.types) {
            Some((_, Meaning::Struct(place))) => Ok(ThriftType::Struct(place)),
            Some((_, Meaning::Enum(place))) => Ok(ThriftType::Enum(place)),
            Some((file, Meaning::Typedef(definition))) => {
                let written = self.files.definition(file, definition);
                if depth >= DEPTH_MAX {
                    let what = format!(
                        "the typedef {} stands for itself, or for types more than {DEPTH_MAX} deep",
                        written.name
                    );
                    return Err(self.wrong(file, written.line, what));
                }
                match &written.body {
                    Body::Typedef(other) => self.field_type(file, other, written.line, depth + 1),
                    _ => Err(self.not_there(file, "type", name, |names| &names.types)),
                }
            }
            None => Err(self.not_there(file, "type", name, |names| &names.types)),
        }
    }

    /// What a name in a file stands for, and the file where that is written. The name of an
    /// included file stands before names of that.
    fn find<T: Copy>(
        &self,
        file: usize,
        path: &str,
        names: fn(&Names) -> &HashMap<String, T>,
    ) -> Option<(usize, T)> {
        let (files, last) = match path.rsplit_once('.') {
            None => (slice::from_ref(&file), path),
            Some((stem, last)) => (&self.files.files[file].includes.get(stem)?[..], last),
        };
        // Of files that are called alike the last hides those before it.
        files.iter().rev().find_map(|file| Some((*file, *names(&self.names[*file]).get(last)?)))
    }

    fn not_there<T>(
        &self,
        file: usize,
        kind: &str,
        name: &WrittenName,
        names: fn(&Names) -> &HashMap<String, T>,
    ) -> ThriftError {
        if let Some(gap) = self.files.files[file].gap_of(&name.path) {
            return gap;
        }
        let mut known: Vec<_> = names(&self.names[file]).keys().take(SUGGESTED_MAX).collect();
        known.sort_unstable();
        let nearest = suggestion(&name.path, known);
        self.wrong(file, name.line, format!("there is no {kind} {}{nearest}", name.path))
    }

    fn wrong(&self, file: usize, line: u32, what: String) -> ThriftError {
        ThriftError::Meaning { file: self.files.files[file].name.clone(), line, what }
    }

    /// What is wrong anywhere, which may be why something is not there.
    fn check(&mut self) -> Result<(), ThriftError> {
        match self.files.gap() {
            Some(gap) => Err(gap),
            None => self.define((0..self.is_defined.len()).rev().collect()),
        }
    }
}

/// For constants.
impl ResolvedIdl {
    /// Counts types and values, or about as many bytes as they have.
    ///
    /// # Errors
    /// That there were too many, in words.
    pub(super) fn spend(&self, count: usize) -> Result<(), String> {
        let left = self.left.get().checked_sub(count).ok_or_else(|| {
            format!("types and constants stand for more than {RESOLVED_MAX} others")
        })?;
        self.left.set(left);
        Ok(())
    }

    /// A constant of that name in a file, and the file where it is written.
    pub(super) fn constant(&self, file: usize, path: &str) -> Option<(usize, &Constant)> {
        let (file, definition) = self.find(file, path, |names| &names.constants)?;
        match &self.files.definition(file, definition).body {
            Body::Constant(constant) => Some((file, constant)),
            _ => None,
        }
    }

    /// Why there is no such constant.
    pub(super) fn no_constant(&self, file: usize, path: &str) -> String {
        let gap = self.files.files[file].gap_of(path);
        gap.map_or_else(|| format!("there is no constant {path}"), |gap| gap.to_string())
    }

    /// The place in the schema of an enum of that name in a file.
    pub(super) fn enum_place(&self, file: usize, path: &str) -> Option<usize> {
        match self.find(file, path, |names| &names.types)? {
            (_, Meaning::Enum(place)) => Some(place),
            _ => None,
        }
    }
}

/// Methods.
impl ResolvedIdl {
    /// Finds a method by `Service.method` or `Service/method`: one of the first file, or of a
    /// service that it extends.
    ///
    /// # Errors
    /// [`ThriftError`] with the names that are there.
    pub fn method(&mut self, name: &str) -> Result<ThriftMethod, ThriftError> {
        let not_a_method = || ThriftError::NotAMethod(name.to_owned());
        // The part before the service is its package, where the same name is used for gRPC.
        let (service, method) = name.rsplit_once(['.', '/']).ok_or_else(not_a_method)?;
        let files = Rc::clone(&self.files);
        let Some(definition) = self.names[0].services.get(service).copied() else {
            self.check()?;
            let definitions = &files.files[0].document.definitions;
            let services =
                definitions.iter().filter(|known| matches!(known.body, Body::Service(_)));
            let known = services.map(|known| &*known.name).take(SUGGESTED_MAX);
            return Err(ThriftError::NotThere {
                owner: files.files[0].name.clone(),
                kind: "service",
                name: service.to_owned(),
                suggestion: suggestion(service, known),
            });
        };
        match self.inherited(&files, Place { file: 0, definition }, method)? {
            Ok((file, function)) => self.method_of(file, function),
            Err(known) => {
                self.check()?;
                let suggestion = suggestion(method, known);
                let (owner, name) = (service.to_owned(), method.to_owned());
                Err(ThriftError::NotThere { owner, kind: "method", name, suggestion })
            }
        }
    }

    /// A method of a service or of one that it extends, with its file; or the names of those that
    /// there are.
    fn inherited<'a>(
        &self,
        files: &'a IdlFiles,
        service: Place,
        method: &str,
    ) -> Result<Result<(usize, &'a Function), Vec<&'a str>>, ThriftError> {
        let (mut known, mut passed) = (Vec::new(), HashSet::new());
        let mut next = Some(service);
        // A service that extends itself gives the same names again.
        while let Some(place) = next.filter(|place| passed.insert(*place)) {
            let Body::Service(service) = &files.definition(place.file, place.definition).body
            else {
                break;
            };
            let functions = &service.functions;
            if let Some(function) = functions.iter().find(|function| function.name == method) {
                return Ok(Ok((place.file, function)));
            }
            let names = functions.iter().map(|function| &*function.name);
            known.extend(names.take(SUGGESTED_MAX - known.len()));
            next =
                service.extends.as_ref().map(|name| self.service(place.file, name)).transpose()?;
        }
        Ok(Err(known))
    }

    fn service(&self, file: usize, name: &WrittenName) -> Result<Place, ThriftError> {
        match self.find(file, &name.path, |names| &names.services) {
            Some((file, definition)) => Ok(Place { file, definition }),
            None => Err(self.not_there(file, "service", name, |names| &names.services)),
        }
    }

    /// A method of a file, with its arguments and its result as structs of the schema.
    fn method_of(&mut self, file: usize, written: &Function) -> Result<ThriftMethod, ThriftError> {
        let name = written.name.clone();
        let mut arguments = self.fields(file, &name, &written.arguments)?;
        let mut result = self.fields(file, &name, &written.exceptions)?;
        if !matches!(written.returned, WrittenType::Void) {
            let returned = ThriftField {
                id: 0,
                name: "success".to_owned(),
                field_type: self.field_type(file, &written.returned, written.line, 0)?,
                is_required: false,
                default: None,
            };
            // Exceptions without ids have numbers below it.
            let place = result.partition_point(|field| field.id < 0);
            result.insert(place, returned);
        }
        let mut reached = Vec::new();
        arguments.iter().chain(&result).for_each(|field| field.field_type.structs(&mut reached));
        self.define(reached)?;
        for (place, default) in self.defaults(file, &name, &written.arguments, &arguments)? {
            arguments[place].default = Some(default);
        }
        let place = self.schema.structs.len();
        let (kind, is_oneway) = (StructKind::Arguments, written.is_oneway);
        self.schema.structs.push(ThriftStruct { name: name.clone(), kind, fields: arguments });
        let (kind, result_name) = (StructKind::Struct, format!("{name}_result"));
        self.schema.structs.push(ThriftStruct { name: result_name, kind, fields: result });
        Ok(ThriftMethod { name, is_oneway, arguments: place, result: place + 1 })
    }
}

/// Fields by ascending id, so that those of a struct and its written ones have the same places.
fn by_id(written: &[WrittenField]) -> Vec<&WrittenField> {
    let mut fields: Vec<_> = written.iter().collect();
    fields.sort_by_key(|field| field.id);
    fields
}
