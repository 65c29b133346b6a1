//! What has to be right before the first call is made: the method and its messages.

use crate::options::{CallOptions, FlagsError, SchemaSource};
use crate::payload::{self, PayloadError};
use crate::reflect::{self, ReflectError};
use crate::schema::{self, MethodError, Schema, SchemaError};
use prost_reflect::MethodDescriptor;
use std::io::Read;

/// A method that can be called, with something to send.
#[derive(Clone, Debug)]
pub struct PreparedCall {
    /// The HTTP/2 `:path`: `/pkg.Service/Method`.
    pub path: String,
    /// The method.
    pub method: MethodDescriptor,
    /// The request messages, in the order in which they are sent. There is at least one.
    pub messages: Vec<Vec<u8>>,
    /// Calls made to the server's reflection service to get the schema.
    pub reflection_calls: u64,
}

impl PreparedCall {
    /// Reads the schema and the data that the options name. `input` is standard input.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn read(options: &CallOptions, input: &mut impl Read) -> Result<Self, PrepareError> {
        let (schema, reflection_calls) = schema(options)?;
        let method = schema.method(&options.method)?;
        let messages = payload::read(&options.data, &method.input(), options.templates, input)?;
        Ok(Self { path: schema::path(&method), method, messages, reflection_calls })
    }
}

fn schema(options: &CallOptions) -> Result<(Schema, u64), PrepareError> {
    Ok(match &options.schema {
        SchemaSource::Proto { file, import_paths } => (Schema::from_proto(file, import_paths)?, 0),
        SchemaSource::Protoset(file) => (Schema::from_protoset(file)?, 0),
        SchemaSource::Reflection => reflect::schema(options)?,
    })
}

/// Why there is nothing to call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// The flags mean nothing. The user's fault.
    #[error(transparent)]
    Flags(#[from] FlagsError),
    /// There is no schema. The user's fault, or the file's.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The schema has no such method. The user's fault.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The method takes or gives more than one message. The user's fault, or ours.
    #[error("{0} is a streaming method, which is not built yet: calls are unary so far")]
    Streaming(String),
    /// The data is not a request message. The user's fault.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Reflection gave no schema. The server's fault, or the user's.
    #[error(transparent)]
    Reflection(#[from] ReflectError),
}

impl PrepareError {
    /// Whether other flags are needed, rather than another server.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Reflection(error) => error.is_usage(),
            _ => true,
        }
    }
}
