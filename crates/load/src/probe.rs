//! `bookend probe`: looking at a server before it is measured. One verified call, and on request
//! the checks of what the server does and does not do, so that "fast because it skips X" can be
//! printed next to the speed.
//!
//! - [`ProbeRequest`]: what is sent, made of the flags that `bookend load` has too.
//! - [`probe`]: the verified call (`verify`), then all checks (`check_all`, `run_check`).
//! - [`ProbeReport`]: the answer, for people and for programs.
//!
//! The verified call goes through the client library. The checks send what no client library would,
//! frame by frame over a `raw_connection`.

mod ack_waits;
mod check;
mod check_all;
mod check_context;
mod check_reply;
mod check_request;
mod cut_frames;
mod enlarge;
mod raw_connection;
mod report;
mod request;
mod run_check;
mod verify;

pub use check::{CheckOutcome, SemanticsCheck};
pub use report::ProbeReport;
pub use request::ProbeRequest;
pub use verify::{VerifiedReply, VerifyError};

/// How much of a server is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeDepth {
    /// One verified call: done before every measurement.
    Call,
    /// The call, and every [`SemanticsCheck`]: done once for each version of a server.
    Semantics,
}

/// Probes the server.
pub fn probe(request: &ProbeRequest, depth: ProbeDepth) -> ProbeReport {
    let call = verify::call(request);
    let is_connected = !matches!(call, Err(VerifyError::Connect(_)));
    let mut calls_made = request.call.reflection_calls + u64::from(is_connected);
    let semantics = (depth == ProbeDepth::Semantics).then(|| {
        let (outcomes, calls_sent) = check_all::check_all(request, &call);
        calls_made += calls_sent;
        outcomes
    });
    ProbeReport {
        target: request.options.targets.first().to_string(),
        path: request.call.path.clone(),
        call,
        calls_made,
        semantics,
    }
}
