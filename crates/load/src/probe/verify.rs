//! One call, and whether its answer is what the method promises.

use super::request::Request;
use crate::reflect::{client_metadata, client_options};
use bookend_client::{Answer, Call, CallError, Client, Code, ConnectError, Status};
use prost_reflect::DynamicMessage;
use std::fmt;
use std::time::{Duration, Instant};

/// A call that succeeded, every message of it whole and of the declared type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The reply's messages.
    pub messages: Vec<Vec<u8>>,
    /// From the first octet sent to the last one received, on a connection that was there.
    pub latency: Duration,
}

/// Why a call is no success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no connection.
    Connect(ConnectError),
    /// The connection was of no use.
    Call(CallError),
    /// The call ended with another status than OK.
    Status(Status),
    /// The status is OK, and the reply is not what the method promises. The server's fault.
    Reply(String),
}

/// What came of the verified call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutcome {
    /// The reply, or why there is none.
    pub result: Result<Verified, Failure>,
    /// 1, or 0 where nothing was sent.
    pub calls_made: u64,
}

pub(super) fn call(request: &Request) -> CallOutcome {
    let options = client_options(
        &request.authority,
        request.connect_timeout,
        request.tls.as_ref(),
    );
    let mut client = match Client::connect(&request.target.to_string(), &options) {
        Ok(client) => client,
        Err(error) => return CallOutcome::unsent(Failure::Connect(error)),
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
        Ok(answer) => CallOutcome::sent(check(request, answer, latency)),
        Err(error @ (CallError::Path(_) | CallError::CannotOpen { .. })) => {
            CallOutcome::unsent(Failure::Call(error))
        }
        Err(error) => CallOutcome::sent(Err(Failure::Call(error))),
    }
}

impl CallOutcome {
    fn unsent(failure: Failure) -> Self {
        Self {
            result: Err(failure),
            calls_made: 0,
        }
    }

    fn sent(result: Result<Verified, Failure>) -> Self {
        Self {
            result,
            calls_made: 1,
        }
    }
}

fn check(request: &Request, answer: Answer, latency: Duration) -> Result<Verified, Failure> {
    if answer.status.code != Code::Ok {
        return Err(Failure::Status(answer.status));
    }
    if !request.method.server_streaming {
        answer.single_message().map_err(Failure::Status)?;
    }
    for message in &answer.messages {
        let output = request.method.output.clone();
        if let Err(error) = DynamicMessage::decode(output, message.as_slice()) {
            let name = request.method.output.full_name();
            let reason = format!("the reply is no {name}: {error}");
            return Err(Failure::Reply(reason));
        }
    }
    Ok(Verified {
        messages: answer.messages,
        latency,
    })
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(error) => error.fmt(formatter),
            Self::Call(error) => error.fmt(formatter),
            Self::Status(status) => write!(formatter, "the call ended with {status}"),
            Self::Reply(reason) => write!(formatter, "{reason}"),
        }
    }
}

impl std::error::Error for Failure {}
