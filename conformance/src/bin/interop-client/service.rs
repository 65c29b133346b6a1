//! A server of `grpc.testing.TestService`, as its client sees it.

use bookend_client::{
    Channel, ChannelOptions, Code, Requests, Response, Responses, Status, StreamCall, UnaryCall,
};
use bookend_conformance::interop::messages::{EchoStatus, Payload, PayloadType};
use bookend_server::prost::Message;

use crate::Failure;

/// What the cases send and ask for, bytes.
pub const LARGE_REQUEST_BYTES: usize = 271_828;
/// As [`LARGE_REQUEST_BYTES`].
pub const LARGE_RESPONSE_BYTES: i32 = 314_159;

/// One channel to the server.
pub struct Service {
    channel: Channel,
}

impl Service {
    /// Does not wait for the server: the calls of the case do.
    pub fn connect(target: &str) -> Result<Self, Failure> {
        let channel = Channel::connect(target, ChannelOptions::default());
        let channel = channel.map_err(|error| error.to_string())?;
        Ok(Service { channel })
    }

    /// The same server by a channel of its own.
    pub fn again(&self) -> Result<Self, Failure> {
        Service::connect(self.channel.target())
    }

    /// A unary call of this method.
    pub fn unary(&self, method: &str, request: &impl Message) -> Response {
        self.channel.unary(unary_call(method, request))
    }

    /// A unary call with more to it.
    pub fn unary_with(&self, call: UnaryCall) -> Response {
        self.channel.unary(call)
    }

    /// A call of this method whose messages go one by one.
    pub fn open(&self, method: &str) -> (Requests, Responses) {
        self.open_with(stream_call(method))
    }

    /// As [`Service::open`], with more to it.
    pub fn open_with(&self, call: StreamCall) -> (Requests, Responses) {
        self.channel.open(call)
    }
}

/// A unary call of this method, to be added to.
pub fn unary_call(method: &str, request: &impl Message) -> UnaryCall {
    UnaryCall::new(path(method), request.encode_to_vec())
}

/// A streaming call of this method, to be added to.
pub fn stream_call(method: &str) -> StreamCall {
    StreamCall::new(path(method))
}

fn path(method: &str) -> String {
    match method.contains('/') {
        true => format!("/grpc.testing.{method}"),
        false => format!("/grpc.testing.TestService/{method}"),
    }
}

/// A payload of `bytes` zeros.
pub fn payload(bytes: usize) -> Option<Payload> {
    Some(Payload { r#type: PayloadType::Compressable.into(), body: vec![0; bytes] })
}

/// The status that the server is to end the call with.
pub fn echo_status(status: &Status) -> Option<EchoStatus> {
    Some(EchoStatus { code: status.code as i32, message: status.message.clone() })
}

/// The message of a call that had to succeed with one.
pub fn single<M: Message + Default>(answer: &Response) -> Result<M, Failure> {
    let message = answer.single_message();
    decode(message.map_err(|status| format!("ended with {status}"))?)
}

/// A message that came.
pub fn decode<M: Message + Default>(bytes: &[u8]) -> Result<M, Failure> {
    M::decode(bytes).map_err(|error| error.to_string())
}

/// That a payload is as large as was asked for, and zeros.
pub fn check_payload(payload: Option<Payload>, bytes: i32) -> Result<(), Failure> {
    let payload = payload.ok_or("an answer without a payload")?;
    check_equal("the payload's type", payload.r#type(), PayloadType::Compressable)?;
    check_equal("the payload's bytes", payload.body.len(), bytes as usize)?;
    match payload.body.iter().any(|byte| *byte != 0) {
        true => Err("a payload that is not zeros".to_owned()),
        false => Ok(()),
    }
}

/// That a call ended with this code.
pub fn check_code(status: &Status, code: Code) -> Result<(), Failure> {
    match status.code == code {
        true => Ok(()),
        false => Err(format!("ended with {status}, not with {}", code.name())),
    }
}

/// That this is as it should be.
pub fn check_equal<T: PartialEq + std::fmt::Debug>(
    what: &str,
    is: T,
    should: T,
) -> Result<(), Failure> {
    match is == should {
        true => Ok(()),
        false => Err(format!("{what}: {is:?}, not {should:?}")),
    }
}
