//! What can go wrong with a file of results, and what to do about it.

use super::{RunId, SCHEMA_VERSION};
use rusqlite::ErrorCode;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why results cannot be kept or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// There is no such file.
    Absent(PathBuf),
    /// Another process is writing it.
    Locked(PathBuf),
    /// The file is something else.
    Foreign(PathBuf),
    /// A newer version wrote it.
    Newer {
        /// Which file.
        file: PathBuf,
        /// Version of its schema.
        found: i64,
    },
    /// It is ours, but what stands in it cannot be read.
    Damaged {
        /// Which file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The run is not in it.
    NoSuchRun(RunId),
    /// The file system or SQLite refused.
    Unusable {
        /// Which file.
        file: PathBuf,
        /// What they said.
        reason: String,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(file) => write!(
                f,
                "{} does not exist: measure with `bookend run`, or name another file with --store",
                file.display()
            ),
            Self::Locked(file) => write!(
                f,
                "{} is being written by another process: wait for it, or name another file with \
                 --store",
                file.display()
            ),
            Self::Foreign(file) => write!(
                f,
                "{} is not a file of results and is left alone: name another with --store",
                file.display()
            ),
            Self::Newer { file, found } => write!(
                f,
                "{} was written by a newer bookend (schema {found}, this one knows \
                 {SCHEMA_VERSION}): update bookend, or name another file with --store",
                file.display()
            ),
            Self::Damaged { file, reason } => {
                write!(f, "{} is damaged: {reason}", file.display())
            }
            Self::NoSuchRun(run) => {
                write!(
                    f,
                    "there is no run {run}: `bookend list` shows the runs there are"
                )
            }
            Self::Unusable { file, reason } => write!(f, "{}: {reason}", file.display()),
        }
    }
}

impl std::error::Error for StoreError {}

/// Says in our words what SQLite found.
pub(super) fn explain(file: &Path, error: &rusqlite::Error) -> StoreError {
    let file = file.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked(file),
        Some(ErrorCode::NotADatabase) => StoreError::Foreign(file),
        _ => StoreError::Unusable {
            file,
            reason: error.to_string(),
        },
    }
}
