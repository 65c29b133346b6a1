//! One call, and whether its answer is what the method promises.

use super::request::ProbeRequest;
use crate::reflect::{client_metadata, client_options};
use bookend_client::{Answer, Call, CallError, Client, Code, ConnectError, Status};
use prost_reflect::DynamicMessage;
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
    /// There is no connection.
    #[error(transparent)]
    Connect(ConnectError),
    /// The call could not be made, or not to its end.
    #[error(transparent)]
    Call(CallError),
    /// The call ended with another status than OK.
    #[error("the call ended with {0}")]
    Status(Status),
    /// The status is OK, and the reply is not what the method promises. The server's fault.
    #[error("{0}")]
    Reply(String),
}

/// The outcome of the verified call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedCall {
    /// The reply, or why there is none.
    pub result: Result<VerifiedReply, VerifyError>,
    /// 1, or 0 where nothing was sent.
    pub calls_made: u64,
}

pub(super) fn call(request: &ProbeRequest) -> VerifiedCall {
    let options = client_options(
        &request.authority,
        request.connect_timeout,
        request.tls.as_ref(),
    );
    let mut client = match Client::connect(&request.target.to_string(), &options) {
        Ok(client) => client,
        Err(error) => return VerifiedCall::unsent(VerifyError::Connect(error)),
    };
    let metadata = client_metadata(&request.metadata);
    let messages: Vec<&[u8]> = request.messages.iter().map(Vec::as_slice).collect();
    let call = Call {
        metadata: Some(&metadata),
        timeout: request.timeout,
        ..Call::new(&request.method.path, &messages)
    };
    let started = Instant::now();
    let answered = client.call(&call);
    let latency = started.elapsed();
    match answered {
        Ok(answer) => VerifiedCall::sent(check(request, answer, latency)),
        Err(error @ (CallError::Path(_) | CallError::CannotOpen { .. })) => {
            VerifiedCall::unsent(VerifyError::Call(error))
        }
        Err(error) => VerifiedCall::sent(Err(VerifyError::Call(error))),
    }
}

impl VerifiedCall {
    fn unsent(failure: VerifyError) -> Self {
        Self {
            result: Err(failure),
            calls_made: 0,
        }
    }

    fn sent(result: Result<VerifiedReply, VerifyError>) -> Self {
        Self {
            result,
            calls_made: 1,
        }
    }
}

fn check(
    request: &ProbeRequest,
    answer: Answer,
    latency: Duration,
) -> Result<VerifiedReply, VerifyError> {
    if answer.status.code != Code::Ok {
        return Err(VerifyError::Status(answer.status));
    }
    if !request.method.server_streaming {
        answer.single_message().map_err(VerifyError::Status)?;
    }
    for message in &answer.messages {
        let output = request.method.output.clone();
        if let Err(error) = DynamicMessage::decode(output, message.as_slice()) {
            let name = request.method.output.full_name();
            let reason = format!("the reply is no {name}: {error}");
            return Err(VerifyError::Reply(reason));
        }
    }
    Ok(VerifiedReply {
        messages: answer.messages,
        latency,
    })
}
