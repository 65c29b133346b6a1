//! One call, and whether its response is what the method promises.

use super::request::ProbeRequest;
use crate::channel;
use bookend_client::{Channel, Code, ConnectError, Responses, Status, StreamCall, UnaryCall};
use prost_reflect::DynamicMessage;
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
        if let Err(error) = DynamicMessage::decode(method.output(), message.as_slice()) {
            let output = method.output();
            let reason = format!("the reply is no {}: {error}", output.full_name());
            return Err(VerifyError::Reply(reason));
        }
    }
    Ok(VerifiedReply { messages, latency })
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
