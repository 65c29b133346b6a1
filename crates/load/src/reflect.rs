//! Asking a server, by server reflection, for the schema of its services.

mod error;
mod messages;

pub use error::{FetchError, ReflectError};

use crate::channel;
use crate::options::CallOptions;
use crate::schema::Schema;
use crate::schema::reflection::{ReflectionError, ReflectionQuery};
use bookend_client::{Channel, Code, Metadata, UnaryCall};
use messages::{ReflectionRequest, ReflectionResponse};
use prost::Message;
use std::time::Duration;

/// Both names of the service, the current one first. The messages are the same.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// A schema and what it cost the server.
#[derive(Clone, Debug)]
pub struct Reflected {
    /// The schema of the requested service.
    pub schema: Schema,
    /// Calls made to get it; the server counts them too.
    pub calls_made: u64,
}

/// Connects to the first target and asks it for the schema of the call that the options name.
///
/// # Errors
/// [`ReflectError`].
pub fn schema(options: &CallOptions) -> Result<Reflected, ReflectError> {
    let channel = channel::connect(
        &options.targets.first().to_string(),
        &options.authority(),
        options.connect_timeout,
        options.tls.as_ref(),
    )
    .map_err(ReflectError::Connect)?;
    let metadata = channel::metadata(&options.metadata.constant);
    let mut reflector = Reflector::new(channel, metadata, options.timeout);
    let schema = reflector.schema(&options.method).map_err(ReflectError::Reflection)?;
    Ok(Reflected { schema, calls_made: reflector.calls_made() })
}

/// Asks a server's reflection service, in whichever of its two versions the server has.
#[derive(Debug)]
pub struct Reflector {
    channel: Channel,
    metadata: Metadata,
    timeout: Option<Duration>,
    /// The paths that the server may still have.
    paths: &'static [&'static str],
    calls_made: u64,
}

impl Reflector {
    /// A reflector that makes its calls with this metadata and each with this deadline.
    pub fn new(channel: Channel, metadata: Metadata, timeout: Option<Duration>) -> Self {
        Self { channel, metadata, timeout, paths: &PATHS, calls_made: 0 }
    }

    /// The schema of the service that `call` names.
    ///
    /// # Errors
    /// As [`Schema::by_reflection`].
    pub fn schema(&mut self, call: &str) -> Result<Schema, ReflectionError<FetchError>> {
        Schema::by_reflection(call, |name, query| self.fetch(name, query))
    }

    /// Calls made so far; the server counts them too.
    pub fn calls_made(&self) -> u64 {
        self.calls_made
    }

    /// One request and its answer.
    ///
    /// # Errors
    /// [`FetchError`].
    pub fn fetch(
        &mut self,
        name: &str,
        query: ReflectionQuery,
    ) -> Result<Vec<Vec<u8>>, FetchError> {
        let request = ReflectionRequest::new(name, query).encode_to_vec();
        while let Some(path) = self.paths.first() {
            match self.call(path, &request) {
                Err(FetchError::Status(status)) if status.code == Code::Unimplemented => {
                    self.paths = &self.paths[1..];
                }
                response => return response.and_then(ReflectionResponse::items),
            }
        }
        Err(FetchError::NoReflection)
    }

    fn call(
        &mut self,
        path: &'static str,
        request: &[u8],
    ) -> Result<ReflectionResponse, FetchError> {
        let call = UnaryCall {
            metadata: self.metadata.clone(),
            timeout: self.timeout,
            ..UnaryCall::new(path, request.to_vec())
        };
        self.calls_made += 1;
        let answer = self.channel.unary(call);
        let message = answer.single_message().map_err(FetchError::Status)?;
        ReflectionResponse::decode(message)
            .map_err(|error| FetchError::Malformed(error.to_string()))
    }
}
