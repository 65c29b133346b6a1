//! Why reflection gave no schema.

use bookend_client::{Code, ConnectError, Status};
use bookend_contract::input;
use bookend_payload::schema::reflection::ReflectionError;
use thiserror::Error;

/// Why a server gave no schema.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReflectError {
    /// There is no connection. The server's fault.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The answers are of no use. The server's fault, or the user's.
    #[error(transparent)]
    Reflection(#[from] ReflectionError<FetchError>),
}

impl ReflectError {
    /// Whether another call has to be named, rather than another server or a file.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Reflection(ReflectionError::Call(_)))
    }
}

/// Why the reflection service did not answer a request.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FetchError {
    /// The server has no reflection service in either version.
    #[error("the server has no reflection service")]
    NoReflection,
    /// The call failed.
    #[error("{0}")]
    Status(Status),
    /// The time for all of reflection is over. The server's fault, or the network's.
    #[error("it took more than {seconds} s in all")]
    TooSlow {
        /// That time.
        seconds: u64,
    },
    /// The service knows no such thing.
    #[error("{}", refused(*code, message))]
    Refused {
        /// A gRPC status code.
        code: i32,
        /// The server's words.
        message: String,
    },
    /// It did not answer with one reflection response. The peer's fault.
    #[error("its answer {0}")]
    Malformed(String),
}

fn refused(code: i32, message: &str) -> String {
    let message = input::reason(&message);
    match code {
        0 => format!("its answer is an error with code 0, which is no error: {message}"),
        _ => format!("{}: {message}", Code::parse(code.to_string().as_bytes())),
    }
}
