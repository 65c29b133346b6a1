//! Why no code was generated.

use std::fmt;
use std::io;

/// Why no code was generated.
#[derive(thiserror::Error)]
pub enum Error {
    /// A `.proto` file is missing, or breaks a rule of the protobuf language.
    #[error("{}{message}", file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default())]
    Proto {
        /// The file as it was named, if known.
        file: Option<String>,
        /// What is wrong with it.
        message: String,
    },
    /// [`Config::deferred`](crate::Config::deferred), [`Config::pool`](crate::Config::pool) or
    /// [`Config::borrowed`](crate::Config::borrowed) names a method that no file defines.
    #[error("\"{0}\": no such method; write it as \"package.Service/Method\"")]
    UnknownMethod(String),
    /// [`Config::deferred`](crate::Config::deferred) names a streaming method.
    #[error("deferred(\"{0}\"): a streaming method answers when it likes as it is")]
    StreamingMethod(String),
    /// [`Config::borrowed`](crate::Config::borrowed) names a method whose messages cannot be read
    /// and written in place.
    #[error("borrowed(\"{method}\"): {why}; without that line it has messages of prost")]
    NotBorrowable {
        /// The method, as it was named.
        method: String,
        /// What cannot be done.
        why: String,
    },
    /// The method is named for two ways.
    #[error("\"{0}\" is either deferred, handled on the pool, or borrowed")]
    ChosenTwice(String),
    /// The output could not be written, or `OUT_DIR` is not set and no folder was given.
    #[error("cannot write the generated code: {0}")]
    Write(#[from] io::Error),
}

/// Cargo shows the error of a build script through `Debug`, so that has the readable form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<protox::Error> for Error {
    fn from(error: protox::Error) -> Self {
        Error::Proto { file: error.file().map(str::to_owned), message: error.to_string() }
    }
}
