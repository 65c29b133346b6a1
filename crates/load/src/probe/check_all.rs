//! All checks, a few at a time, within a time that has an upper bound.

use super::check::{CheckOutcome, SemanticsCheck};
use super::check_context::CheckContext;
use super::raw_connection::Destination;
use super::request::ProbeRequest;
use super::run_check;
use super::verify::{VerifiedReply, VerifyError};
use crate::options::CallOptions;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How long one connection of a check may take. A server on the same machine that has just answered
/// a call needs a few milliseconds; one that will never answer costs all of it.
const CONNECTION_TIMEOUT: Duration = Duration::from_millis(500);

/// The same where the plain call itself took long: a handler that waits makes every check wait.
/// With it, all checks together still end within the time that the lab gives a probe.
const CONNECTION_TIMEOUT_MAX: Duration = Duration::from_secs(5);

/// Checks made at a time, each on a connection of its own: few enough not to overload a server with
/// one processor.
const CHECKS_AT_A_TIME: usize = 6;

/// Makes every check that can be made, and returns the calls sent with the outcomes. `call` is the
/// outcome of the plain call.
pub(super) fn check_all(
    request: &ProbeRequest,
    call: &Result<VerifiedReply, VerifyError>,
) -> (BTreeMap<SemanticsCheck, CheckOutcome>, u64) {
    let destination = match destination(&request.options, call) {
        Ok(destination) => destination,
        Err(reason) => return (none_of_them(&reason), 0),
    };
    let latency = call.as_ref().ok().map(|verified| verified.latency);
    let context = CheckContext {
        request,
        destination,
        timeout: timeout_after(latency),
        calls_sent: AtomicU64::new(0),
    };
    let next = AtomicUsize::new(0);
    let work = || worker(&next, &context, latency.is_some());
    let mut outcomes = none_of_them("its thread ended early");
    thread::scope(|scope| {
        let workers: Vec<_> = (0..CHECKS_AT_A_TIME).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        outcomes.extend(joined.flatten().flatten());
    });
    (outcomes, context.calls_sent.into_inner())
}

/// Where the server is; or why no check can be made.
fn destination(
    options: &CallOptions,
    call: &Result<VerifiedReply, VerifyError>,
) -> Result<Destination, String> {
    let addresses = options.targets.first().resolve().map_err(|error| error.to_string())?;
    if let Err(VerifyError::Connect(_)) = call {
        return Err("there is no connection".to_owned());
    }
    let connector = options
        .tls
        .as_ref()
        .map(|config| config.connector(&options.authority()))
        .transpose()
        .map_err(|error| error.to_string())?;
    Ok(Destination { addresses, connector })
}

/// How long a check may take when the plain call took `latency`.
fn timeout_after(latency: Option<Duration>) -> Duration {
    let handler = latency.unwrap_or_default();
    CONNECTION_TIMEOUT.saturating_add(handler.saturating_mul(2)).min(CONNECTION_TIMEOUT_MAX)
}

fn none_of_them(reason: &str) -> BTreeMap<SemanticsCheck, CheckOutcome> {
    let unchecked = |check| (check, CheckOutcome::NotChecked(reason.to_owned()));
    SemanticsCheck::ALL.map(unchecked).into()
}

/// Makes one check after another of those that no other worker has taken.
fn worker(
    next: &AtomicUsize,
    context: &CheckContext<'_>,
    call_is_good: bool,
) -> Vec<(SemanticsCheck, CheckOutcome)> {
    let mut outcomes = Vec::new();
    while let Some(&check) = SemanticsCheck::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
        let outcome = if check.needs_good_call() && !call_is_good {
            CheckOutcome::NotChecked("the plain call failed".to_owned())
        } else {
            run_check::run(check, context)
        };
        outcomes.push((check, outcome));
    }
    outcomes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_that_waits_a_second_is_given_two_and_a_half() {
        assert_eq!(timeout_after(None), CONNECTION_TIMEOUT);
        let slow = timeout_after(Some(Duration::from_secs(1)));
        assert_eq!(slow, Duration::from_millis(2500));
        assert_eq!(timeout_after(Some(Duration::MAX)), CONNECTION_TIMEOUT_MAX);
    }

    #[test]
    fn even_when_everything_fails_it_takes_less_than_three_seconds() {
        // Four checks may wait for two connections after each other; the last to begin begins
        // when all others are done at the latest.
        let connections = SemanticsCheck::ALL.len() as u32 + 4;
        let longest =
            CONNECTION_TIMEOUT * connections / CHECKS_AT_A_TIME as u32 + CONNECTION_TIMEOUT * 2;
        assert!(longest < Duration::from_secs(3));
    }
}
