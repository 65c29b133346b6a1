//! What has to be right before the first call is made: the method and its messages.

use crate::options::{Options, SchemaSource};
use crate::payload::{Payload, PayloadError};
use crate::reflect::{self, ReflectError};
use crate::schema::{CallError, Method, Schema, SchemaError};
use std::fmt;
use std::io::Read;

/// A method that can be called, with something to send.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The method.
    pub method: Method,
    /// The request messages.
    pub payload: Payload,
    /// Calls made to the server's reflection service to get the schema.
    pub reflection_calls: u64,
}

impl Prepared {
    /// Reads the schema and the data that the options name. `input` is standard input.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn read(options: &Options, input: &mut impl Read) -> Result<Self, PrepareError> {
        let (schema, reflection_calls) = schema(options)?;
        let method = schema.method(&options.call).map_err(PrepareError::Call)?;
        let payload = Payload::read(&options.data, &method, options.templates, input)
            .map_err(PrepareError::Payload)?;
        Ok(Self {
            method,
            payload,
            reflection_calls,
        })
    }
}

/// Why there is nothing to call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrepareError {
    /// There is no schema. The user's fault, or the file's.
    Schema(SchemaError),
    /// The schema has no such method. The user's fault.
    Call(CallError),
    /// The data is no request message. The user's fault.
    Payload(PayloadError),
    /// Reflection gave no schema. The server's fault, or the user's.
    Reflection(ReflectError),
}

fn schema(options: &Options) -> Result<(Schema, u64), PrepareError> {
    let read = match &options.schema {
        SchemaSource::Proto { file, import_paths } => Schema::from_proto(file, import_paths),
        SchemaSource::Protoset(file) => Schema::from_protoset(file),
        SchemaSource::Reflection => {
            let reflected = reflect::schema(options).map_err(PrepareError::Reflection)?;
            return Ok((reflected.schema, reflected.calls_made));
        }
    };
    read.map(|schema| (schema, 0)).map_err(PrepareError::Schema)
}

impl PrepareError {
    /// Whether other flags are needed, rather than another server.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Schema(_) | Self::Call(_) | Self::Payload(_) => true,
            Self::Reflection(error) => error.is_usage(),
        }
    }
}

impl fmt::Display for PrepareError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(error) => error.fmt(formatter),
            Self::Call(error) => error.fmt(formatter),
            Self::Payload(error) => error.fmt(formatter),
            Self::Reflection(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for PrepareError {}
