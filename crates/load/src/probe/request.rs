//! What is sent to a probed server: made of the flags that the load generator has too.

use crate::options::{CallOptions, FlagsError};
use crate::prepare::{PrepareError, PreparedCall};
use std::io::Read;

/// One call that can be made again and again, in any shape.
#[derive(Clone, Debug)]
pub struct ProbeRequest {
    /// Where the server listens, and how it is called.
    pub options: CallOptions,
    /// The method, and its messages: one, unless the method takes a stream.
    pub call: PreparedCall,
}

impl ProbeRequest {
    /// Reads the schema and the data that the options name. `input` is standard input.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn prepare(options: &CallOptions, input: &mut impl Read) -> Result<Self, PrepareError> {
        let mut call = PreparedCall::read(options, input)?;
        if !call.method.is_client_streaming() {
            call.messages.truncate(1);
        }
        let mut options = options.clone();
        options.metadata.constant = call.metadata.of_first_call().map_err(FlagsError::from)?;
        Ok(Self { options, call })
    }
}
