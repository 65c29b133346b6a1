//! All checks, a few at a time, within a time that has an upper bound.

use super::check::{CheckOutcome, SemanticsCheck};
use super::check_context::CheckContext;
use super::raw_connection::Destination;
use super::request::ProbeRequest;
use super::run_check;
use super::verify::{VerifiedCall, VerifyError};
use std::sync::atomic::{AtomicUsize, Ordering};
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
const CHECKS_AT_A_TIME: usize = 5;

/// What came of all checks.
pub(super) struct CheckOutcomes {
    pub outcomes: Vec<(SemanticsCheck, CheckOutcome)>,
    pub calls_sent: u64,
}

/// Makes every check that can be made. `call` is the outcome of the plain call.
pub(super) fn check_all(request: &ProbeRequest, call: &VerifiedCall) -> CheckOutcomes {
    let addresses = match request.target.resolve() {
        Ok(addresses) if !matches!(call.result, Err(VerifyError::Connect(_))) => addresses,
        Ok(_) => return none_of_them("there is no connection"),
        Err(error) => return none_of_them(&error.to_string()),
    };
    let tls = request.tls.as_ref();
    let connector = tls.map(|config| config.connector(&request.authority)).transpose();
    let connector = match connector {
        Ok(connector) => connector,
        Err(error) => return none_of_them(&error.to_string()),
    };
    let destination = Destination { addresses: &addresses, connector: connector.as_ref() };
    let next = AtomicUsize::new(0);
    let latency = call.result.as_ref().ok().map(|verified| verified.latency);
    let timeout = timeout_after(latency);
    let work = || worker(&next, request, destination, timeout, latency.is_some());
    let done: Vec<CheckOutcomes> = thread::scope(|scope| {
        let workers: Vec<_> = (0..CHECKS_AT_A_TIME).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.flatten().collect()
    });
    let mut all = none_of_them("its thread ended early");
    for (check, outcome) in &mut all.outcomes {
        let mut found = done.iter().flat_map(|part| &part.outcomes);
        if let Some((_, known)) = found.find(|(one, _)| one == check) {
            *outcome = known.clone();
        }
    }
    all.calls_sent = done.iter().map(|part| part.calls_sent).sum();
    all
}

/// How long a check may take when the plain call took `latency`.
fn timeout_after(latency: Option<Duration>) -> Duration {
    let handler = latency.unwrap_or_default();
    CONNECTION_TIMEOUT.saturating_add(handler.saturating_mul(2)).min(CONNECTION_TIMEOUT_MAX)
}

fn none_of_them(reason: &str) -> CheckOutcomes {
    let unchecked = |check| (check, CheckOutcome::NotChecked(reason.to_owned()));
    CheckOutcomes { outcomes: SemanticsCheck::ALL.map(unchecked).to_vec(), calls_sent: 0 }
}

/// Makes one check after another of those that no other worker has taken.
fn worker(
    next: &AtomicUsize,
    request: &ProbeRequest,
    destination: Destination<'_>,
    timeout: Duration,
    call_is_good: bool,
) -> CheckOutcomes {
    let mut context = CheckContext { request, destination, timeout, calls_sent: 0 };
    let mut outcomes = Vec::new();
    while let Some(&check) = SemanticsCheck::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
        let outcome = if check.needs_good_call() && !call_is_good {
            CheckOutcome::NotChecked("the plain call failed".to_owned())
        } else {
            run_check::run(check, &mut context)
        };
        outcomes.push((check, outcome));
    }
    CheckOutcomes { outcomes, calls_sent: context.calls_sent }
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
        // Two checks may use two connections each; the last to begin begins when all others
        // are done at the latest.
        let connections = SemanticsCheck::ALL.len() as u32 + 2;
        let longest =
            CONNECTION_TIMEOUT * connections / CHECKS_AT_A_TIME as u32 + CONNECTION_TIMEOUT * 2;
        assert!(longest < Duration::from_secs(3));
    }
}
