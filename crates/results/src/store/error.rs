//! What can go wrong with a file of results, and what to do about it.

use super::run_id::RunId;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why results cannot be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error(
        "{} does not exist: measure with `bookend run`, or name another file with --store",
        .0.display()
    )]
    Absent(PathBuf),
    /// Another process is writing it.
    #[error(
        "{} is being written by another process: wait for it, or name another file with --store",
        .0.display()
    )]
    Locked(PathBuf),
    /// The file is something else.
    #[error(
        "{} is not a file of results and is left alone: name another with --store",
        .0.display()
    )]
    Foreign(PathBuf),
    /// A newer version wrote it.
    #[error(
        "{} was written by a newer bookend (schema {found}, this one knows {known}): update \
         bookend, or name another file with --store",
        file.display()
    )]
    Newer {
        /// Which file.
        file: PathBuf,
        /// Version of its schema.
        found: i64,
        /// Newest version that this program knows.
        known: i64,
    },
    /// It is ours, but what stands in it cannot be read.
    #[error("{} is damaged: {reason}", file.display())]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The run is not in it.
    #[error("there is no run {0}: `bookend list` shows the runs there are")]
    NoSuchRun(RunId),
    /// The file system or SQLite refused.
    #[error("{}: {reason}", file.display())]
    Unusable {
        /// Which file.
        file: PathBuf,
        /// What they said.
        reason: String,
    },
}

/// Says in our words what SQLite found.
pub(super) fn explain(file: &Path, error: &rusqlite::Error) -> StoreError {
    let file = file.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked(file),
        Some(ErrorCode::NotADatabase) => StoreError::Foreign(file),
        _ => StoreError::Unusable { file, reason: error.to_string() },
    }
}
