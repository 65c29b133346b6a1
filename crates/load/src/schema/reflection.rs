//! A schema from a server's reflection service. The transport is the caller's: it is handed in
//! as a function that answers one [`ReflectionQuery`] at a time.

use super::editions::file_without_edition;
use super::error::{MethodError, one_line};
use super::{Schema, split_call};
use prost::Message as _;
use prost_reflect::DescriptorPool;
use prost_types::FileDescriptorProto;
use protox::file::{FileResolver as _, GoogleFileResolver};
use std::collections::{BTreeMap, VecDeque};

/// Files that one service may import, directly or not. Large generated trees (googleapis) have a
/// few thousand; a server that names more is naming them without end.
const FILES_LIMIT: usize = 10_000;

const PLACE: &str = "the server's reflection";

/// What is asked of the server: the query of `grpc.reflection.v1.ServerReflectionRequest`.
#[derive(Clone, PartialEq, Eq, prost::Oneof)]
pub enum ReflectionQuery {
    /// `file_by_filename`: the answer is serialized `FileDescriptorProto`s.
    #[prost(string, tag = "3")]
    File(String),
    /// `file_containing_symbol`: the answer is serialized `FileDescriptorProto`s.
    #[prost(string, tag = "4")]
    Symbol(String),
    /// `list_services`, asked with an empty name: the answer is the services' names in UTF-8.
    #[prost(string, tag = "7")]
    Services(String),
}

/// Why reflection gave no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReflectionError<E> {
    /// The user's call is malformed or names a service that the server does not have.
    #[error(transparent)]
    Call(#[from] MethodError),
    /// The function that asks the server failed.
    #[error(
        "the server's reflection did not describe {name} ({reason}): give the schema with --proto or \
         --protoset"
    )]
    Fetch {
        /// The symbol or file that was asked for.
        name: String,
        /// Why that failed.
        reason: E,
    },
    /// The server answered with something that is not a file descriptor, or with files that do
    /// not fit together. The peer's fault.
    #[error("the server's reflection answered {name} wrongly: {reason}")]
    Answer {
        /// The symbol or file that was asked for.
        name: String,
        /// What is wrong with the answer.
        reason: String,
    },
}

impl Schema {
    /// Asks the server, through `fetch`, for the file that defines the service of `call`, and for
    /// everything that it imports.
    ///
    /// # Errors
    /// [`ReflectionError`]; a service that the server does not have comes with the nearest one.
    pub fn by_reflection<E>(
        call: &str,
        mut fetch: impl FnMut(ReflectionQuery) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<Schema, ReflectionError<E>> {
        let (service, _) = split_call(call)?;
        let answer = match fetch(ReflectionQuery::Symbol(service.to_owned())) {
            Ok(answer) => answer,
            Err(reason) => return Err(explain(service, reason, fetch)),
        };
        let mut closure = Closure::default();
        closure.add(service, answer)?;
        while let Some(name) = closure.missing.pop_front() {
            closure.resolve(&name, &mut fetch)?;
        }
        closure.into_schema(service)
    }
}

/// A service that was not found is the user's mistake if the server can list others.
fn explain<E>(
    service: &str,
    reason: E,
    mut fetch: impl FnMut(ReflectionQuery) -> Result<Vec<Vec<u8>>, E>,
) -> ReflectionError<E> {
    let listed = fetch(ReflectionQuery::Services(String::new())).unwrap_or_default();
    let known: Vec<String> =
        listed.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if known.is_empty() || known.iter().any(|name| name == service) {
        return ReflectionError::Fetch { name: service.to_owned(), reason };
    }
    ReflectionError::Call(MethodError::service_unknown(service, PLACE, known))
}

/// The files so far, and those that they import and that are not there yet.
#[derive(Default)]
struct Closure {
    files: BTreeMap<String, FileDescriptorProto>,
    missing: VecDeque<String>,
}

impl Closure {
    fn resolve<E>(
        &mut self,
        name: &str,
        fetch: &mut impl FnMut(ReflectionQuery) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), ReflectionError<E>> {
        if self.files.contains_key(name) {
            return Ok(());
        }
        match fetch(ReflectionQuery::File(name.to_owned())) {
            Ok(answer) => self.add(name, answer)?,
            // Servers in many languages do not serve the files that every compiler brings along.
            Err(reason) => match GoogleFileResolver::new().open_file(name) {
                Ok(file) => self.insert(file.file_descriptor_proto().clone()),
                Err(_) => {
                    return Err(ReflectionError::Fetch { name: name.to_owned(), reason });
                }
            },
        }
        if self.files.contains_key(name) {
            return Ok(());
        }
        Err(wrong_answer(name, "the answer does not contain that file"))
    }

    fn add<E>(&mut self, asked: &str, answer: Vec<Vec<u8>>) -> Result<(), ReflectionError<E>> {
        for bytes in answer {
            let file = FileDescriptorProto::decode(bytes.as_slice())
                .map_err(|error| wrong_answer(asked, &error.to_string()))?;
            let known = file_without_edition(file, &bytes)
                .map_err(|reason| wrong_answer(asked, &reason))?;
            self.insert(known);
        }
        if self.files.len() > FILES_LIMIT {
            return Err(wrong_answer(asked, "the server names more than 10,000 files"));
        }
        Ok(())
    }

    fn insert(&mut self, file: FileDescriptorProto) {
        self.missing.extend(file.dependency.iter().cloned());
        self.files.entry(file.name().to_owned()).or_insert(file);
    }

    fn into_schema<E>(self, service: &str) -> Result<Schema, ReflectionError<E>> {
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(self.files.into_values())
            .map_err(|error| wrong_answer(service, &one_line(&format!("{error:?}"))))?;
        Ok(Schema { pool, place: PLACE.to_owned() })
    }
}

fn wrong_answer<E>(name: &str, reason: &str) -> ReflectionError<E> {
    ReflectionError::Answer { name: name.to_owned(), reason: reason.to_owned() }
}
