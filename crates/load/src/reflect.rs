//! Asking a server, by server reflection, what its services look like.

use crate::options::CallOptions;
use crate::schema::Schema;
use crate::schema::reflection::{ReflectionError, ReflectionQuery};
use bookend_client::{Channel, ChannelOptions, Code, ConnectError, Metadata, Status, UnaryCall};
use bookend_io::tls::ClientConfig;
use prost::Message;
use std::fmt;
use std::time::Duration;

/// Both names of the service, the current one first. The messages are the same.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// A schema and what it cost the server.
#[derive(Clone, Debug)]
pub struct Reflected {
    /// The schema of the service that was asked for.
    pub schema: Schema,
    /// Calls made to get it; the server counts them too.
    pub calls_made: u64,
}

/// Connects to the first target and asks it for the schema of the call that the options name.
///
/// # Errors
/// [`ReflectError`].
pub fn schema(options: &CallOptions) -> Result<Reflected, ReflectError> {
    let channel = connect(
        &options.targets.first().to_string(),
        &options.authority(),
        options.connect_timeout,
        options.tls.as_ref(),
    );
    let metadata = client_metadata(&options.metadata.constant);
    let channel = channel.map_err(ReflectError::Connect)?;
    let mut reflector = Reflector::new(channel, metadata, options.timeout);
    let schema = reflector
        .schema(&options.method)
        .map_err(ReflectError::Reflection)?;
    Ok(Reflected {
        schema,
        calls_made: reflector.calls_made(),
    })
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
        Self {
            channel,
            metadata,
            timeout,
            paths: &PATHS,
            calls_made: 0,
        }
    }

    /// The schema of the service that `call` names.
    ///
    /// # Errors
    /// As [`Schema::by_reflection`].
    pub fn schema(&mut self, call: &str) -> Result<Schema, ReflectionError<FetchError>> {
        Schema::by_reflection(call, |name, request| self.fetch(name, request))
    }

    /// Calls made so far; the server counts them too.
    pub fn calls_made(&self) -> u64 {
        self.calls_made
    }

    /// One question and its answer.
    ///
    /// # Errors
    /// [`FetchError`].
    pub fn fetch(
        &mut self,
        name: &str,
        request: ReflectionQuery,
    ) -> Result<Vec<Vec<u8>>, FetchError> {
        let question = Question::of(name, request).encode_to_vec();
        while let Some(path) = self.paths.first() {
            match self.ask(path, &question) {
                Err(FetchError::Status(status)) if status.code == Code::Unimplemented => {
                    self.paths = &self.paths[1..];
                }
                answer => return answer.and_then(|reply| reply.items()),
            }
        }
        Err(FetchError::NoReflection)
    }

    fn ask(&mut self, path: &'static str, question: &[u8]) -> Result<Reply, FetchError> {
        let call = UnaryCall {
            metadata: self.metadata.clone(),
            timeout: self.timeout,
            ..UnaryCall::new(path, question.to_vec())
        };
        self.calls_made += 1;
        let answer = self.channel.unary(call);
        let message = answer.single_message().map_err(FetchError::Status)?;
        Reply::decode(message).map_err(|error| FetchError::Foul(error.to_string()))
    }
}

/// Why a server gave no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReflectError {
    /// There is nobody to ask. The server's fault.
    Connect(ConnectError),
    /// Its answers are of no use. The server's fault, or the user's.
    Reflection(ReflectionError<FetchError>),
}

impl ReflectError {
    /// Whether another call has to be named, rather than another server or a file.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Reflection(ReflectionError::Call(_)))
    }
}

impl fmt::Display for ReflectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(formatter),
            Self::Reflection(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for ReflectError {}

/// Why the reflection service did not answer a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// The server has no reflection service in either version.
    NoReflection,
    /// The call failed.
    Status(Status),
    /// The service knows no such thing.
    Refused {
        /// A gRPC status code.
        code: i32,
        /// The server's words.
        message: String,
    },
    /// The answer is none. The peer's fault.
    Foul(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReflection => write!(formatter, "the server has no reflection service"),
            Self::Status(status) => write!(formatter, "{status}"),
            Self::Refused { code, message } => {
                let code = Code::parse(code.to_string().as_bytes());
                write!(formatter, "{code}: {message}")
            }
            Self::Foul(reason) => write!(formatter, "its answer is none: {reason}"),
        }
    }
}

impl std::error::Error for FetchError {}

/// A channel that has a connection.
pub(crate) fn connect(
    target: &str,
    authority: &str,
    connect_timeout: Option<Duration>,
    tls: Option<&ClientConfig>,
) -> Result<Channel, ConnectError> {
    let defaults = ChannelOptions::default();
    let options = ChannelOptions {
        authority: Some(authority.to_owned()),
        tls: tls.cloned(),
        connect_timeout: connect_timeout.unwrap_or(defaults.connect_timeout),
        ..defaults
    };
    let channel = Channel::connect(target, options)?;
    channel.wait_for_connection()?;
    Ok(channel)
}

/// The client library's metadata. What the flags let through, it takes.
pub(crate) fn client_metadata(fields: &[(Vec<u8>, Vec<u8>)]) -> Metadata {
    let mut metadata = Metadata::new();
    for (name, value) in fields {
        metadata.push_received(name, value);
    }
    metadata
}

/// `grpc.reflection.v1.ServerReflectionRequest`, of which one field is ever set.
#[derive(Clone, PartialEq, Message)]
struct Question {
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

impl Question {
    fn of(name: &str, request: ReflectionQuery) -> Self {
        let name = Some(name.to_owned());
        match request {
            ReflectionQuery::Symbol => Self {
                file_containing_symbol: name,
                ..Self::default()
            },
            ReflectionQuery::File => Self {
                file_by_filename: name,
                ..Self::default()
            },
            ReflectionQuery::Services => Self {
                list_services: name,
                ..Self::default()
            },
        }
    }
}

/// `grpc.reflection.v1.ServerReflectionResponse`, as far as it answers those questions.
#[derive(Clone, PartialEq, Message)]
struct Reply {
    #[prost(message, optional, tag = "4")]
    file_descriptor_response: Option<Files>,
    #[prost(message, optional, tag = "6")]
    list_services_response: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error_response: Option<Refusal>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file_descriptor_proto: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    service: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct Refusal {
    #[prost(int32, tag = "1")]
    error_code: i32,
    #[prost(string, tag = "2")]
    error_message: String,
}

impl Reply {
    fn items(self) -> Result<Vec<Vec<u8>>, FetchError> {
        match (
            self.file_descriptor_response,
            self.list_services_response,
            self.error_response,
        ) {
            (Some(files), _, _) => Ok(files.file_descriptor_proto),
            (_, Some(services), _) => {
                let names = services.service.into_iter();
                Ok(names.map(|service| service.name.into_bytes()).collect())
            }
            (_, _, Some(refusal)) => Err(FetchError::Refused {
                code: refusal.error_code,
                message: refusal.error_message,
            }),
            (None, None, None) => Err(FetchError::Foul("it has neither files nor names".into())),
        }
    }
}
