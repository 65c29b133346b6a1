//! What is asked of a probed server: made of the flags that the load generator has too.

use crate::options::{Options, SchemaSource, Target};
use crate::payload::{Payload, PayloadError};
use crate::reflect::{FetchError, Reflector};
use crate::schema::{CallError, Method, ReflectionError, Schema, SchemaError};
use bookend_client::{Client, ConnectError, Metadata};
use bookend_wire::grpc::metadata::{decode_binary, is_binary};
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
    Reflection(ReflectionError<FetchError>),
    /// There is nobody to ask for the schema. The server's fault.
    Connect(ConnectError),
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
        let messages = match method.client_streaming {
            true => payload.messages().to_vec(),
            false => vec![payload.message(0).to_vec()],
        };
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
        SchemaSource::Reflection => return reflected(options),
    };
    read.map(|schema| (schema, 0)).map_err(PrepareError::Schema)
}

fn reflected(options: &Options) -> Result<(Schema, u64), PrepareError> {
    let client_options = client_options(&options.authority, options.connect_timeout);
    let mut client = Client::connect(&options.target.to_string(), &client_options)
        .map_err(PrepareError::Connect)?;
    let metadata = client_metadata(&options.metadata.constant);
    let mut reflector = Reflector::new(&mut client, Some(&metadata), options.timeout);
    let schema = reflector.schema(&options.call);
    let calls_made = reflector.calls_made();
    schema
        .map(|schema| (schema, calls_made))
        .map_err(PrepareError::Reflection)
}

pub(super) fn client_options(
    authority: &str,
    connect_timeout: Option<Duration>,
) -> bookend_client::Options {
    let defaults = bookend_client::Options::default();
    bookend_client::Options {
        authority: Some(authority.to_owned()),
        connect_timeout: connect_timeout.unwrap_or(defaults.connect_timeout),
        ..defaults
    }
}

/// From the wire's form to the client library's. What the flags let through, it takes.
pub(super) fn client_metadata(fields: &[(Vec<u8>, Vec<u8>)]) -> Metadata {
    let mut metadata = Metadata::new();
    for (name, value) in fields {
        let octets = match is_binary(name) {
            true => decode_binary(value).unwrap_or_default(),
            false => value.clone(),
        };
        let pushed = metadata.push(&String::from_utf8_lossy(name), &octets);
        debug_assert_eq!(pushed, Ok(()));
    }
    metadata
}

impl PrepareError {
    /// Whether other flags are needed, rather than another server.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Schema(_) | Self::Call(_) | Self::Payload(_) => true,
            Self::Reflection(error) => matches!(error, ReflectionError::Call(_)),
            Self::Connect(_) => false,
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
            Self::Connect(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for PrepareError {}
