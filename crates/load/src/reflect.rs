//! Asking a server, by server reflection, for the schema of its services.

mod error;
mod messages;

pub use error::{FetchError, ReflectError};

use crate::channel;
use crate::options::CallOptions;
use crate::schema::Schema;
use crate::schema::reflection::ReflectionQuery;
use bookend_client::{Channel, Code, UnaryCall};
use messages::{ReflectionRequest, ReflectionResponse};
use prost::Message;

/// Both names of the service, the current one first. The messages are the same.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Connects to the first target and asks it for the schema of the call that the options name.
/// Returns also the calls made to get it; the server counts them too.
///
/// # Errors
/// [`ReflectError`].
pub fn schema(options: &CallOptions) -> Result<(Schema, u64), ReflectError> {
    let channel = channel::connect(options)?;
    let mut reflector = Reflector { channel, options, paths: &PATHS, calls_made: 0 };
    let schema = Schema::by_reflection(&options.method, |query| reflector.fetch(query))?;
    Ok((schema, reflector.calls_made))
}

/// Asks a server's reflection service, in whichever of its two versions the server has.
struct Reflector<'a> {
    channel: Channel,
    options: &'a CallOptions,
    /// The paths that the server may still have.
    paths: &'static [&'static str],
    calls_made: u64,
}

impl Reflector<'_> {
    /// One request and its answer.
    fn fetch(&mut self, query: ReflectionQuery) -> Result<Vec<Vec<u8>>, FetchError> {
        let request = ReflectionRequest { query: Some(query) }.encode_to_vec();
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
        self.calls_made += 1;
        let fields = self.options.reflection_metadata.as_ref().unwrap_or(&self.options.metadata);
        let answer = self.channel.unary(UnaryCall {
            metadata: channel::metadata(fields),
            timeout: self.options.timeout,
            ..UnaryCall::new(path, request.to_vec())
        });
        let message = answer.single_message().map_err(FetchError::Status)?;
        ReflectionResponse::decode(message)
            .map_err(|error| FetchError::Malformed(error.to_string()))
    }
}
