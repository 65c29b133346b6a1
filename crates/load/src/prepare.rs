//! What has to be right before the first call is made: the method and its messages.

use crate::options::{CallOptions, FlagsError, SchemaSource};
use crate::reflect::{self, ReflectError};
use bookend_payload::data::{self, DataTemplate, PayloadError, RequestData};
use bookend_payload::metadata::CompiledCallMetadata;
use bookend_payload::schema::{self, MethodError, Schema, SchemaError};
use bookend_payload::thrift::ThriftCallError;
use prost_reflect::MethodDescriptor;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A method that can be called, with something to send.
#[derive(Clone, Debug)]
pub struct PreparedCall {
    /// The HTTP/2 `:path`: `/pkg.Service/Method`.
    pub path: String,
    /// The method.
    pub method: MethodDescriptor,
    /// The request messages, in the order in which they are sent. There is at least one, unless
    /// requests are streams. With a template, those of the first call.
    pub messages: Vec<Vec<u8>>,
    /// Where messages differ from call to call.
    pub template: Option<DataTemplate>,
    /// The metadata of calls.
    pub metadata: CompiledCallMetadata,
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
        let data = data::read(&options.data, &method, options.templates, input)?;
        let calls_functions = options.templates.call_functions();
        let metadata =
            options.metadata.compile(&method, calls_functions).map_err(FlagsError::from)?;
        let RequestData { messages, template } = data;
        let path = schema::path(&method);
        Ok(Self { path, method, messages, template, metadata, reflection_calls })
    }
}

fn schema(options: &CallOptions) -> Result<(Schema, u64), PrepareError> {
    Ok(match &options.schema {
        SchemaSource::Proto { file, import_paths } => (from_proto(file, import_paths)?, 0),
        SchemaSource::Protoset(file) => (Schema::from_protoset(file)?, 0),
        SchemaSource::Reflection => reflect::schema(options)?,
    })
}

/// As in ghz, a folder for imports that is not there is passed over, unless something is missing.
pub(crate) fn from_proto(file: &Path, import_paths: &[PathBuf]) -> Result<Schema, SchemaError> {
    let (there, missing): (Vec<_>, Vec<_>) =
        import_paths.iter().cloned().partition(|folder| folder.is_dir());
    Schema::from_proto(file, &there).map_err(|error| match (missing.into_iter().next(), &error) {
        (Some(folder), SchemaError::Unreadable(..) | SchemaError::ImportMissing { .. }) => {
            SchemaError::ImportPathMissing(folder)
        }
        _ => error,
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
    /// The data is not a request message. The user's fault.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// Reflection gave no schema. The server's fault, or the user's.
    #[error(transparent)]
    Reflection(#[from] ReflectError),
    /// The IDL of Thrift gives no method, or the data no arguments. The user's fault, or the
    /// file's.
    #[error(transparent)]
    Thrift(#[from] ThriftCallError),
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
