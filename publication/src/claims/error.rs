//! Why the claims cannot be read.

use crate::published::PublishedError;
use bookend_results::declaration::DeclarationError;
use bookend_results::record::RecordError;
use std::path::PathBuf;
use thiserror::Error;

/// Why the claims cannot be read. Always the fault of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClaimsError {
    /// A folder, or the profile in it, and the error.
    #[error("{}: {_1}", _0.display())]
    Folder(PathBuf, String),
    /// A `claims.toml`.
    #[error("{_0}")]
    Declared(Box<DeclarationError>),
    /// A published table.
    #[error("{}: {_1}", _0.display())]
    Published(PathBuf, Box<PublishedError>),
    /// A record.
    #[error("{}: {_1}", _0.display())]
    Record(PathBuf, Box<RecordError>),
}
