//! What has to be right before the first byte is sent: options, method and messages.

use crate::failure::Failure;
use bookend_load::options::{Options, SchemaSource};
use bookend_load::payload::Payload;
use bookend_load::schema::{Method, Schema};

/// What a run needs besides a server.
#[derive(Debug)]
pub struct Prepared {
    /// The meaning of the flags.
    pub options: Options,
    /// The method that is called.
    pub method: Method,
    /// The request messages.
    pub payload: Payload,
}

impl Prepared {
    /// Resolves the method and makes the messages.
    ///
    /// # Errors
    /// [`Failure`] naming the place that is wrong.
    pub fn new(options: Options) -> Result<Prepared, Failure> {
        let schema = resolve(&options)?;
        let method = schema.method(&options.call).map_err(Failure::usage)?;
        if method.client_streaming || method.server_streaming {
            return Err(Failure::usage(format!(
                "{} is a streaming method, which is not built yet: calls are unary so far",
                method.path
            )));
        }
        let mut input = std::io::stdin().lock();
        let payload = Payload::read(&options.data, &method, options.templates, &mut input)
            .map_err(Failure::usage)?;
        Ok(Prepared {
            options,
            method,
            payload,
        })
    }
}

fn resolve(options: &Options) -> Result<Schema, Failure> {
    match &options.schema {
        SchemaSource::Proto { file, import_paths } => {
            Schema::from_proto(file, import_paths).map_err(Failure::usage)
        }
        SchemaSource::Protoset(file) => Schema::from_protoset(file).map_err(Failure::usage),
        SchemaSource::Reflection => Err(Failure::usage(
            "reflection is not built yet: give the schema with --proto or --protoset",
        )),
    }
}
