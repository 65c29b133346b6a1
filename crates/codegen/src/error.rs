use std::fmt;
use std::io;

/// Why no code was generated.
pub enum Error {
    /// A `.proto` file is missing, or says something that the protobuf language does not allow.
    Proto {
        /// The file as it was named, where it is known.
        file: Option<String>,
        /// What is wrong with it.
        message: String,
    },
    /// [`Config::deferred`](crate::Config::deferred) or [`Config::pool`](crate::Config::pool) names
    /// a method that no file has.
    UnknownMethod(String),
    /// [`Config::deferred`](crate::Config::deferred) names a streaming method.
    StreamingMethod(String),
    /// The method is named for both.
    ChosenTwice(String),
    /// The output could not be written; also when `OUT_DIR` is not set and no folder was given.
    Write(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Proto {
                file: Some(file),
                message,
            } => write!(f, "{file}: {message}"),
            Error::Proto {
                file: None,
                message,
            } => f.write_str(message),
            Error::UnknownMethod(name) => write!(
                f,
                "\"{name}\": no such method; write it as \"package.Service/Method\""
            ),
            Error::StreamingMethod(name) => write!(
                f,
                "deferred(\"{name}\"): a streaming method answers when it likes as it is"
            ),
            Error::ChosenTwice(name) => {
                write!(f, "\"{name}\" is either deferred or handled on the pool")
            }
            Error::Write(error) => write!(f, "cannot write the generated code: {error}"),
        }
    }
}

/// A build script that returns an error shows it through `Debug`, so that is the readable form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Write(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Write(error)
    }
}

impl From<protox::Error> for Error {
    fn from(error: protox::Error) -> Self {
        Error::Proto {
            file: error.file().map(str::to_owned),
            message: error.to_string(),
        }
    }
}
