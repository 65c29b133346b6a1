//! What can be wrong with a schema or with a call, each in one line.

use crate::error_text::{Suggestion, nearest, reason};
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no schema. Always the user's fault or the file's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The file cannot be read.
    #[error("cannot read {}: {reason}{suggestion}", .file.display())]
    Unreadable {
        /// The file as it was given.
        file: PathBuf,
        /// What the system said.
        reason: String,
        /// Files of that folder with a like name.
        suggestion: Suggestion,
    },
    /// A folder where a file should be.
    #[error("{} is a folder: name a file in it", .file.display())]
    IsAFolder {
        /// The path as it was given.
        file: PathBuf,
    },
    /// An import path that is not a folder.
    #[error("import path {} is not a folder", .folder.display())]
    ImportPathMissing {
        /// The path as it was given.
        folder: PathBuf,
    },
    /// The file or one of its imports is not correct Protocol Buffers.
    #[error("{reason}")]
    NotCompiled {
        /// The compiler's words; begins with file, line and column where it knows them.
        reason: String,
    },
    /// A `.proto` file where a descriptor set should be.
    #[error("{place} is not compiled: give it with --proto")]
    ProtoGivenAsSet {
        /// The file as it was given.
        place: String,
    },
    /// The bytes are not a descriptor set, or not a complete one.
    #[error(
        "{place} is not a complete descriptor set ({reason}): make it with \
         protoc --include_imports --descriptor_set_out=FILE"
    )]
    NotADescriptorSet {
        /// Where the bytes came from.
        place: String,
        /// What the decoder said.
        reason: String,
    },
}

/// Why a schema has no such method. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// Not `pkg.Service/Method` nor `pkg.Service.Method`.
    #[error("call \"{call}\" is not of the form pkg.Service/Method")]
    Malformed {
        /// The call as it was given.
        call: String,
    },
    /// The schema has no such service.
    #[error("there is no service {service} in {place}{suggestion}")]
    ServiceUnknown {
        /// The name as it was given.
        service: String,
        /// The schema's source.
        place: String,
        /// What could have been meant.
        suggestion: Suggestion,
    },
    /// The service has no such method.
    #[error("there is no method {method} in {service} ({place}){suggestion}")]
    MethodUnknown {
        /// The service's full name.
        service: String,
        /// The name as it was given.
        method: String,
        /// The schema's source.
        place: String,
        /// What could have been meant.
        suggestion: Suggestion,
    },
}

impl SchemaError {
    pub(super) fn unreadable(file: &Path, error: &io::Error) -> SchemaError {
        SchemaError::Unreadable {
            file: file.to_owned(),
            reason: reason(error),
            suggestion: neighbours(file),
        }
    }

    pub(super) fn not_compiled(file: &Path, error: &protox::Error) -> SchemaError {
        // Only the compiler's Debug output names file, line and column.
        let reason = one_line(&format!("{error:?}"));
        match error.file() {
            Some(name) if reason.contains(name) => SchemaError::NotCompiled { reason },
            _ => SchemaError::NotCompiled { reason: format!("{}: {reason}", file.display()) },
        }
    }
}

impl MethodError {
    pub(super) fn service_unknown(service: &str, place: &str, known: Vec<String>) -> MethodError {
        let last_part = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
        // A forgotten or wrong package is more likely than a slip in every letter of it.
        let same_service = known.iter().find(|name| last_part(name) == last_part(service));
        let meant = same_service.map(String::as_str).or_else(|| nearest(service, &known));
        MethodError::ServiceUnknown {
            service: service.to_owned(),
            place: place.to_owned(),
            suggestion: Suggestion::naming(meant, &known),
        }
    }
}

/// Files next to the one that could not be read.
fn neighbours(file: &Path) -> Suggestion {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return Suggestion::default();
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.path().extension() == file.extension())
        .map(|entry| folder.map_or_else(|| entry.file_name().into(), |f| f.join(entry.file_name())))
        .collect();
    paths.sort();
    let names = paths.iter().map(|path| path.display().to_string());
    Suggestion::among(&file.display().to_string(), names)
}

/// Joins the lines of an error: each is printed on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
