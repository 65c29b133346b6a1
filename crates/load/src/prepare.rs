//! What has to be right before the first call is made: the method and its messages.

use crate::options::{CallOptions, FlagsError, SchemaSource};
use crate::payload::{Payload, PayloadError};
use crate::reflect::{self, ReflectError};
use crate::schema::{MethodError, Schema, SchemaError, SchemaMethod};
use std::io::Read;

/// A method that can be called, with something to send.
#[derive(Clone, Debug)]
pub struct PreparedCall {
    /// The method.
    pub method: SchemaMethod,
    /// The request messages.
    pub payload: Payload,
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
        let payload = Payload::read(&options.data, &method.input, options.templates, input)?;
        Ok(Self { method, payload, reflection_calls })
    }
}

fn schema(options: &CallOptions) -> Result<(Schema, u64), PrepareError> {
    match &options.schema {
        SchemaSource::Proto { file, import_paths } => {
            Ok((Schema::from_proto(file, import_paths)?, 0))
        }
        SchemaSource::Protoset(file) => Ok((Schema::from_protoset(file)?, 0)),
        SchemaSource::Reflection => {
            let reflected = reflect::schema(options)?;
            Ok((reflected.schema, reflected.calls_made))
        }
    }
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
    #[error("{path} is a streaming method, which is not built yet: calls are unary so far")]
    Streaming {
        /// The method.
        path: String,
    },
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
