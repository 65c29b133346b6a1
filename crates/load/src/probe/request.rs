//! What is asked of a probed server: made of the flags that the load generator has too.

use crate::options::{Options, SchemaSource, Target};
use crate::payload::{Payload, PayloadError};
use crate::reflect::{self, ReflectError};
use crate::schema::{CallError, Method, Schema, SchemaError};
use std::fmt;
use std::io::Read;
use std::time::Duration;

/// One call that can be made again and again, in any shape.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where the server listens.
    pub target: Target,
    /// The `:authority`.
    pub authority: String,
    /// The method.
    pub method: Method,
    /// The request messages of a call: one, unless the method takes a stream.
    pub messages: Vec<Vec<u8>>,
    /// Metadata of every call, as it stands on the wire.
    pub metadata: Vec<(Vec<u8>, Vec<u8>)>,
    /// The deadline of the verified call; `None` is none.
    pub timeout: Option<Duration>,
    /// How long a connection may take to be made; `None` is the client library's default.
    pub connect_timeout: Option<Duration>,
    /// Calls made to the server's reflection service to get the schema.
    pub reflection_calls: u64,
}

/// Why there is nothing to ask a server.
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

impl Request {
    /// Reads the schema and the data that the options name. `input` is standard input.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn prepare(options: &Options, input: &mut impl Read) -> Result<Self, PrepareError> {
        let (schema, reflection_calls) = schema(options)?;
        let method = schema.method(&options.call).map_err(PrepareError::Call)?;
        let payload = Payload::read(&options.data, &method, options.templates, input)
            .map_err(PrepareError::Payload)?;
        let most = match method.client_streaming {
            true => usize::MAX,
            false => 1,
        };
        let messages = payload.messages().iter().take(most).cloned().collect();
        Ok(Self {
            target: options.target.clone(),
            authority: options.authority.clone(),
            method,
            messages,
            metadata: options.metadata.constant.clone(),
            timeout: options.timeout,
            connect_timeout: options.connect_timeout,
            reflection_calls,
        })
    }
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
