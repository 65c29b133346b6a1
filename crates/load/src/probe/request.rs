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
    /// [`PrepareError`], where there are messages that the call would not send as well.
    pub fn prepare(options: &CallOptions, input: &mut impl Read) -> Result<Self, PrepareError> {
        let call = PreparedCall::read(options, input)?;
        if !call.method.is_client_streaming() && call.messages.len() > 1 {
            return Err(FlagsError::ProbeMessages(call.path, call.messages.len()).into());
        }
        Self::of(options, call)
    }

    /// The first of the calls that the load generator makes by these options, which sends each
    /// message of a unary method in a call of its own.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn of_first_call(
        options: &CallOptions,
        input: &mut impl Read,
    ) -> Result<Self, PrepareError> {
        let mut call = PreparedCall::read(options, input)?;
        if !call.method.is_client_streaming() {
            call.messages.truncate(1);
        }
        Self::of(options, call)
    }

    fn of(options: &CallOptions, call: PreparedCall) -> Result<Self, PrepareError> {
        let mut options = options.clone();
        options.metadata.constant = call.metadata.of_first_call().map_err(FlagsError::from)?;
        Ok(Self { options, call })
    }
}
