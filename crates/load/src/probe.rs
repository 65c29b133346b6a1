//! Looking at a server before it is measured: one verified call, and on request a check of what the
//! server does and does not do, so that "fast because it skips X" can stand beside the speed.

mod attempt;
mod check;
mod checks;
mod conversation;
mod enlarge;
mod reply;
mod report;
mod request;
mod schedule;
mod verify;

pub use check::{Check, Finding};
pub use report::Report;
pub use request::Request;
pub use verify::{CallOutcome, Failure, Verified};

use schedule::Semantics;

/// What is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// One verified call: what is done before every measurement.
    Call,
    /// The call, and every [`Check`]: what is done once for each version of a server.
    Semantics,
}

/// Probes the server.
pub fn probe(request: &Request, depth: Depth) -> Report {
    let call = verify::call(request);
    let mut calls_made = request.reflection_calls + call.calls_made;
    let semantics = (depth == Depth::Semantics).then(|| {
        let Semantics {
            findings,
            calls_sent,
        } = schedule::check_all(request, &call);
        calls_made += calls_sent;
        findings
    });
    Report {
        target: request.target.to_string(),
        path: request.method.path.clone(),
        call,
        calls_made,
        semantics,
    }
}
