//! What can be wrong with a schema or with a call, each in one line.

use crate::error_text::{Unreadable, nearest, suggestion, suggestion_of};
use bookend_contract::input;
use std::io;
use std::path::{Path, PathBuf};

/// How the compiler's error ends at `edition = "2023";`.
const FOUND_EDITION: &str = "but found 'edition'";
/// How the compiler's error ends at a wrong name of a group, and at a wrong import.
const GROUP_OR_IMPORT: &str = "invalid group name";
const ERROR_MAX_LETTERS: usize = 1_000;

/// Why there is no schema. Always the user's fault or the file's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The file cannot be read.
    #[error("{0}{1}")]
    Unreadable(Unreadable, String),
    /// A folder where a file should be.
    #[error("{} is a folder: name a file in it", .0.display())]
    IsAFolder(PathBuf),
    /// An import path that is not a folder.
    #[error("import path {} is not a folder", .0.display())]
    ImportPathMissing(PathBuf),
    /// The file or one of its imports is not correct Protocol Buffers: the compiler's words, which
    /// begin with file, line and column where it knows them.
    #[error("{0}")]
    NotCompiled(String),
    /// A `.proto` file in an edition, which the compiler does not know.
    #[error(
        "{0} is in an edition of Protocol Buffers, and .proto files are read in proto2 and proto3: \
         compile it with protoc --include_imports --descriptor_set_out=FILE and give FILE with \
         --protoset"
    )]
    EditionInSource(String),
    /// A file that another imports is not there.
    #[error(
        "{place}: import \"{}\" is in none of these folders: {folders}; name the folder that it is \
         below with -i",
        input::reason(import)
    )]
    ImportMissing {
        /// The file that imports it, with line and column.
        place: String,
        /// The import as it is written.
        import: String,
        /// Where it was looked for.
        folders: String,
    },
    /// Far more than any schema has.
    #[error("{place} is too large for a schema: it has {excess}")]
    TooMuch {
        /// Where it came from.
        place: String,
        /// What is too much.
        excess: String,
    },
    /// A descriptor set where a `.proto` file should be.
    #[error("{0} is compiled: give it with --protoset")]
    SetGivenAsProto(String),
    /// A `.proto` file where a descriptor set should be.
    #[error("{0} is not compiled: give it with --proto")]
    ProtoGivenAsSet(String),
    /// A file in an edition of Protocol Buffers that this program does not know.
    #[error("{place}: {}", input::reason(reason))]
    EditionUnknown {
        /// Where the bytes came from.
        place: String,
        /// Which file it is, and which editions are known.
        reason: String,
    },
    /// A descriptor set that is still packed.
    #[error("{0} is compressed with gzip: give it as gunzip makes it")]
    SetCompressed(String),
    /// The bytes are not a descriptor set.
    #[error(
        "{place} is not a descriptor set ({reason}): make one with \
         protoc --include_imports --descriptor_set_out=FILE"
    )]
    NotADescriptorSet {
        /// Where the bytes came from.
        place: String,
        /// What the decoder said.
        reason: String,
    },
    /// A descriptor set without a file that another of its files imports.
    #[error(
        "{place} is not complete: it lacks {}, which {} imports: make it with \
         protoc --include_imports --descriptor_set_out=FILE",
        input::reason(import),
        input::reason(importer)
    )]
    SetIncomplete {
        /// Where the bytes came from.
        place: String,
        /// The file that is missing.
        import: String,
        /// A file that needs it.
        importer: String,
    },
    /// A descriptor set that no compiler would have written.
    #[error("{place} describes no schema that can be used: {}", input::reason(reason))]
    SetWrong {
        /// Where the bytes came from.
        place: String,
        /// What is wrong, with the name of the file that it is in.
        reason: String,
    },
}

/// Why a schema has no such method. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// Not `pkg.Service/Method` nor `pkg.Service.Method`.
    #[error("call \"{0}\" is not of the form pkg.Service/Method")]
    Malformed(String),
    /// The schema has no such service.
    #[error("there is no service {service} in {place}{}", one_line(suggestion))]
    ServiceUnknown {
        /// The name as it was given.
        service: String,
        /// The schema's source.
        place: String,
        /// What could have been meant.
        suggestion: String,
    },
    /// The service has no such method.
    #[error(
        "there is no method {method} in {} ({place}){}",
        one_line(service),
        one_line(suggestion)
    )]
    MethodUnknown {
        /// The service's full name.
        service: String,
        /// The name as it was given.
        method: String,
        /// The schema's source.
        place: String,
        /// What could have been meant.
        suggestion: String,
    },
}

impl SchemaError {
    pub(super) fn unreadable(file: &Path, error: &io::Error) -> SchemaError {
        let file_name = file.display().to_string();
        let is_there = error.kind() != io::ErrorKind::NotFound;
        let near = if is_there { String::new() } else { neighbours(file, &file_name) };
        SchemaError::Unreadable(Unreadable::new(&file_name, error), near)
    }

    /// A file that is neither here nor in one of the folders.
    pub(super) fn not_found(file: &Path, error: &io::Error, folders: &[PathBuf]) -> SchemaError {
        let file_name = file.display().to_string();
        let looked: String =
            folders.iter().map(|folder| format!(", nor in {}", folder.display())).collect();
        let near = neighbours(file, &file_name);
        SchemaError::Unreadable(Unreadable::new(&file_name, error), looked + &near)
    }

    pub(super) fn not_compiled(name: &str, text: &str, error: &protox::Error) -> SchemaError {
        // Only the compiler's Debug output names file, line and column.
        let mut reason = one_line(&format!("{error:?}"));
        if let Some(place) = reason.strip_suffix(GROUP_OR_IMPORT)
            && let Some(import) = string_at(place, text)
        {
            let import = input::reason(&import);
            reason = format!(
                "{place}import {import}: an import is a path below a folder, without backslash, \
                 empty part, . and .."
            );
        }
        if reason.contains(FOUND_EDITION) {
            return SchemaError::EditionInSource(name.to_owned());
        }
        SchemaError::NotCompiled(match error.file() {
            Some(file) if reason.contains(file) => reason,
            _ => format!("{name}: {reason}"),
        })
    }

    pub(super) fn too_much(place: &str, excess: impl ToString) -> SchemaError {
        SchemaError::TooMuch { place: place.to_owned(), excess: excess.to_string() }
    }
}

impl MethodError {
    pub(super) fn service_unknown(service: &str, place: &str, known: Vec<String>) -> MethodError {
        let last_part = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
        // A forgotten or wrong package is more likely than a slip in every letter of it.
        let meant = known
            .iter()
            .find(|name| last_part(name) == last_part(service))
            .map(String::as_str)
            .or_else(|| nearest(service, &known));
        MethodError::ServiceUnknown {
            service: service.to_owned(),
            place: place.to_owned(),
            suggestion: suggestion_of(meant, &known),
        }
    }
}

/// The string that stands where an error of the compiler begins, as it is written, if it is one.
fn string_at<'t>(place: &str, text: &'t str) -> Option<&'t str> {
    let mut numbers = place.trim_end().trim_end_matches(':').rsplit(':');
    let mut number = || numbers.next()?.parse::<usize>().ok()?.checked_sub(1);
    let (column, line) = (number()?, number()?);
    let line = text.lines().nth(line)?;
    let (start, quote) = line.char_indices().nth(column)?;
    let end = line[start + 1..].find(quote)?;
    matches!(quote, '"' | '\'').then(|| &line[start..start + end + 2])
}

/// Files next to the one that could not be read, with a like name.
fn neighbours(file: &Path, file_name: &str) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return String::new();
    };
    let mut paths: Vec<_> = entries
        .flatten()
        .map(|entry| file.with_file_name(entry.file_name()))
        .filter(|path| path.extension() == file.extension())
        .collect();
    paths.sort();
    let names = paths.iter().map(|path| path.display().to_string());
    suggestion(file_name, names)
}

/// Joins the lines of an error: each is printed on one line. What it repeats of a file may have
/// millions of letters.
pub(super) fn one_line(text: &str) -> String {
    let beginning: String = text.chars().take(ERROR_MAX_LETTERS).collect();
    beginning.split_whitespace().collect::<Vec<_>>().join(" ")
}
