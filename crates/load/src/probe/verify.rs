//! One call, and whether its response is what the method promises.

use super::request::ProbeRequest;
use crate::channel;
use bookend_client::{Channel, Code, ConnectError, Responses, Status, StreamCall, UnaryCall};
use prost_reflect::{DynamicMessage, MessageDescriptor};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

/// A call that succeeded, every message of it whole and of the declared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedReply {
    /// The reply's messages.
    pub messages: Vec<Vec<u8>>,
    /// From the first byte sent to the last one received, on a connection that was there.
    pub latency: Duration,
}

/// Why a call did not succeed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VerifyError {
    /// There is no connection, and nothing was sent.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The call ended with another status than OK: the server's, or `UNAVAILABLE` where the
    /// connection was lost.
    #[error("the call ended with {0}")]
    Status(Status),
    /// The status is OK, and the reply is not what the method promises. The server's fault.
    #[error("{0}")]
    Reply(String),
}

pub(super) fn call(request: &ProbeRequest) -> Result<VerifiedReply, VerifyError> {
    let channel = channel::connect(&request.options)?;
    let method = &request.call.method;
    let started = Instant::now();
    let (messages, status) = match request.call.messages.as_slice() {
        [message] if !method.is_server_streaming() => unary(&channel, request, message),
        _ => streaming(&channel, request),
    };
    let latency = started.elapsed();
    if status.code != Code::Ok {
        return Err(VerifyError::Status(status));
    }
    for message in &messages {
        check(message, &method.output()).map_err(VerifyError::Reply)?;
    }
    Ok(VerifiedReply { messages, latency })
}

/// Whether bytes are a message of that type.
fn check(bytes: &[u8], output: &MessageDescriptor) -> Result<(), String> {
    let Err(error) = DynamicMessage::decode(output.clone(), bytes) else {
        return Ok(());
    };
    let words = error.to_string();
    // The limit is that of the decoder: prost reads no deeper, and has no other words for it.
    Err(match words.ends_with("recursion limit reached") {
        true => {
            "the reply has messages in each other more than 100 deep: no more is read".to_owned()
        }
        false => format!("the reply is no {}: {words}", output.full_name()),
    })
}

fn unary(channel: &Channel, request: &ProbeRequest, message: &[u8]) -> (Vec<Vec<u8>>, Status) {
    let response = channel.unary(UnaryCall {
        metadata: channel::metadata(&request.options.metadata),
        timeout: request.options.timeout,
        ..UnaryCall::new(request.call.path.clone(), message.to_vec())
    });
    (response.message.into_iter().collect(), response.status)
}

/// Sends and receives at once: a server may answer each message before it reads the next.
fn streaming(channel: &Channel, request: &ProbeRequest) -> (Vec<Vec<u8>>, Status) {
    let (mut requests, responses) = channel.open(StreamCall {
        metadata: channel::metadata(&request.options.metadata),
        timeout: request.options.timeout,
        ..StreamCall::new(request.call.path.clone())
    });
    thread::scope(|scope| {
        scope.spawn(move || {
            // A call that has ended early takes no more messages, and its status says why.
            if request.call.messages.iter().all(|message| requests.send(message).is_ok()) {
                requests.finish();
            }
        });
        receive(responses, request.call.method.is_server_streaming())
    })
}

fn receive(mut responses: Responses, any_number: bool) -> (Vec<Vec<u8>>, Status) {
    if !any_number {
        let response = responses.into_response();
        return (response.message.into_iter().collect(), response.status);
    }
    let messages = responses.by_ref().filter_map(Result::ok).map(|message| message.bytes).collect();
    (messages, responses.end().status.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message as _;
    use prost_reflect::DescriptorPool;

    #[test]
    fn a_reply_that_is_too_deep_to_be_read_is_not_said_to_be_no_message() {
        let pool = DescriptorPool::global();
        let value = pool.get_message_by_name("google.protobuf.Value").unwrap();
        let deep = (0..60).fold(prost_types::Value::default(), |inner, _| {
            let list = prost_types::ListValue { values: vec![inner] };
            prost_types::Value { kind: Some(prost_types::value::Kind::ListValue(list)) }
        });
        let said = "the reply has messages in each other more than 100 deep: no more is read";
        assert_eq!(check(&deep.encode_to_vec(), &value), Err(said.to_owned()));
        assert_eq!(check(b"", &value), Ok(()));
        let error = check(b"\xff", &value).unwrap_err();
        assert!(error.starts_with("the reply is no google.protobuf.Value: "), "{error}");
    }
}
