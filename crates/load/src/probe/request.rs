//! What is sent to a probed server: made of the flags that the load generator has too.

use crate::options::CallOptions;
use crate::prepare::{PrepareError, PreparedCall};
use crate::schema::SchemaMethod;
use crate::targets::TargetName;
use bookend_io::tls::ClientConfig;
use std::io::Read;
use std::time::Duration;

/// One call that can be made again and again, in any shape.
#[derive(Clone, Debug)]
pub struct ProbeRequest {
    /// Where the server listens.
    pub target: TargetName,
    /// The `:authority`.
    pub authority: String,
    /// TLS; `None` is plain text.
    pub tls: Option<ClientConfig>,
    /// The method.
    pub method: SchemaMethod,
    /// The request messages of a call: one, unless the method takes a stream.
    pub messages: Vec<Vec<u8>>,
    /// Metadata of every call, as it stands on the wire.
    pub metadata: Vec<(Vec<u8>, Vec<u8>)>,
    /// The deadline of the verified call; `None` for no deadline.
    pub timeout: Option<Duration>,
    /// How long a connection may take to be made; `None` is the client library's default.
    pub connect_timeout: Option<Duration>,
    /// Calls made to the server's reflection service to get the schema.
    pub reflection_calls: u64,
}

impl ProbeRequest {
    /// Reads the schema and the data that the options name. `input` is standard input.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn prepare(options: &CallOptions, input: &mut impl Read) -> Result<Self, PrepareError> {
        let PreparedCall { method, payload, reflection_calls } =
            PreparedCall::read(options, input)?;
        let most = if method.client_streaming { usize::MAX } else { 1 };
        let messages = payload.messages().iter().take(most).cloned().collect();
        Ok(Self {
            target: options.targets.first().clone(),
            authority: options.authority(),
            tls: options.tls.clone(),
            method,
            messages,
            metadata: options.metadata.constant.clone(),
            timeout: options.timeout,
            connect_timeout: options.connect_timeout,
            reflection_calls,
        })
    }
}
