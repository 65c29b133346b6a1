//! Errors of the store, with their remedies.

use super::run_id::RunId;
use bookend_contract::input;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why results cannot be stored or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The file does not exist.
    #[error(
        "{} does not exist: measure with `bookend run`, or name another file with --store",
        .0.display()
    )]
    Absent(PathBuf),
    /// Another process is writing the file.
    #[error(
        "{} is being written by another process: wait for it, or name another file with --store",
        .0.display()
    )]
    Locked(PathBuf),
    /// The file is not a file of results.
    #[error(
        "{} is not a file of results and is left alone: name another with --store",
        .0.display()
    )]
    Foreign(PathBuf),
    /// A newer version wrote the file.
    #[error(
        "{} was written by a newer bookend (schema {found}, this one knows {known}): update \
         bookend, or name another file with --store",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// Version of its schema.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// It is a file of results, but its contents cannot be read.
    #[error("{} is damaged: {reason}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The file does not contain the run.
    #[error("there is no run {0}: `bookend list` shows the runs there are")]
    NoSuchRun(RunId),
    /// The file system or SQLite reported an error.
    #[error("{}: {reason}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The error as reported.
        reason: String,
    },
}

/// A run of which something that was stored cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("run {id} cannot be read: {reason}")]
pub struct UnreadableRun {
    /// Its number.
    pub id: RunId,
    /// What is wrong.
    pub reason: String,
}

/// What is wrong with a stored value, in the words of whoever tried to read it.
pub(super) fn reason(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::FromSqlConversionFailure(_, _, reason) => input::reason(reason),
        other => input::reason(other),
    }
}

/// Translates an error of SQLite.
pub(super) fn explain(file: &Path, error: &rusqlite::Error) -> StoreError {
    let file = file.to_owned();
    if let rusqlite::Error::FromSqlConversionFailure(..) = error {
        return StoreError::Damaged { file, reason: reason(error) };
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked(file),
        Some(ErrorCode::NotADatabase) => StoreError::Foreign(file),
        Some(ErrorCode::OperationInterrupted) => StoreError::Damaged {
            file,
            reason: "it takes more work than any results of its size".to_owned(),
        },
        _ => StoreError::Unusable { file, reason: input::reason(error) },
    }
}
