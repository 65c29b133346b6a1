//! A schema from a server's reflection service. The transport is the caller's: it is handed in
//! as a function that answers one [`ReflectionQuery`] at a time.

use super::budget::{DescriptorBudget, Excess, NotAdmitted};
use super::checked::{NotChecked, check_file_names, checked, is_placeholder};
use super::editions::file_without_edition;
use super::error::MethodError;
use super::files::{DescriptorFiles, well_known};
use super::{Schema, split_call};
use bookend_contract::input;
use prost::Message as _;
use prost_types::FileDescriptorProto;

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
    #[error(
        "the server's reflection answered {name} wrongly: {}: give the schema with --proto or \
         --protoset",
        input::reason(reason)
    )]
    Answer {
        /// The symbol or file that was asked for.
        name: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The server does not have a file that one of its own imports. The peer's fault.
    #[error("the server's reflection has no {file}: give the schema with --proto")]
    Missing {
        /// The file's name.
        file: String,
    },
    /// The server describes far more than any server has. The peer's fault.
    #[error(
        "the server's reflection describes too much ({excess}): give the schema with --proto or \
         --protoset"
    )]
    TooMuch {
        /// What is too much.
        excess: String,
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
        let mut reflected = Reflected::default();
        reflected.add(service, &answer)?;
        while let Some(import) = reflected.files.next_missing() {
            reflected.resolve(&import.name, &mut fetch)?;
        }
        let pool = reflected.files.into_pool().map_err(|error| not_checked(service, error))?;
        Ok(Schema { pool, place: PLACE.to_owned() })
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

/// The files so far, and what the server may still send.
#[derive(Default)]
struct Reflected {
    files: DescriptorFiles,
    budget: DescriptorBudget,
}

impl Reflected {
    fn resolve<E>(
        &mut self,
        name: &str,
        fetch: &mut impl FnMut(ReflectionQuery) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), ReflectionError<E>> {
        let missing = match fetch(ReflectionQuery::File(name.to_owned())) {
            Ok(answer) if self.add(name, &answer)? => {
                ReflectionError::Missing { file: name.to_owned() }
            }
            Ok(_) => wrong_answer(name, "the answer does not contain that file"),
            Err(reason) => ReflectionError::Fetch { name: name.to_owned(), reason },
        };
        if self.files.get(name).is_some() {
            return Ok(());
        }
        // Servers in many languages do not serve the files that every compiler brings along.
        self.files.insert(well_known(name).ok_or(missing)?);
        Ok(())
    }

    /// Adds the files of an answer. Returns whether there are some that only stand for others.
    fn add<E>(&mut self, asked: &str, answer: &[Vec<u8>]) -> Result<bool, ReflectionError<E>> {
        let mut has_placeholders = false;
        for bytes in answer {
            match self.file(asked, bytes)? {
                Some(file) => self.files.insert(file),
                None => has_placeholders = true,
            }
        }
        Ok(has_placeholders)
    }

    /// The file that an answer carries, if it is one.
    fn file<E>(
        &mut self,
        asked: &str,
        bytes: &[u8],
    ) -> Result<Option<FileDescriptorProto>, ReflectionError<E>> {
        let kept = self.budget.admit(bytes).map_err(|error| match error {
            NotAdmitted::TooMuch(excess) => too_much(excess),
            NotAdmitted::Malformed(error) => wrong_answer(asked, &error.to_string()),
        })?;
        let file = FileDescriptorProto::decode(&kept[..])
            .map_err(|error| wrong_answer(asked, &error.to_string()))?;
        if is_placeholder(&file) {
            return Ok(None);
        }
        let file =
            file_without_edition(file, &kept).map_err(|reason| wrong_answer(asked, &reason))?;
        check_file_names(&file).map_err(|reason| wrong_answer(asked, &reason))?;
        let file = checked(file, &mut self.budget).map_err(|error| not_checked(asked, error))?;
        Ok(Some(file))
    }
}

fn not_checked<E>(name: &str, error: NotChecked) -> ReflectionError<E> {
    match error {
        NotChecked::TooMuch(excess) => too_much(excess),
        NotChecked::Wrong(reason) => wrong_answer(name, &reason),
    }
}

fn too_much<E>(excess: Excess) -> ReflectionError<E> {
    ReflectionError::TooMuch { excess: excess.to_string() }
}

fn wrong_answer<E>(name: &str, reason: &str) -> ReflectionError<E> {
    ReflectionError::Answer { name: name.to_owned(), reason: reason.to_owned() }
}
