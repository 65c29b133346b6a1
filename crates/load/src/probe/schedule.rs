//! All checks, a few at a time, within a time that is known beforehand.

use super::attempt::Attempt;
use super::check::{Check, Finding};
use super::checks;
use super::conversation::Way;
use super::request::Request;
use super::verify::{CallOutcome, Failure};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How long one connection of a check may take. A server on the same machine that has just answered
/// a call needs a few milliseconds; one that will never answer costs all of it.
const PATIENCE: Duration = Duration::from_millis(500);

/// The same where the plain call itself took long: a handler that waits makes every check wait.
/// With it, all checks together still end within the time that the lab gives a probe.
const PATIENCE_MAX: Duration = Duration::from_secs(5);

/// Checks made at a time, each on a connection of its own: few enough not to press a server that
/// has one processor.
const CHECKS_AT_A_TIME: usize = 5;

/// What came of all checks.
pub(super) struct Semantics {
    pub findings: Vec<(Check, Finding)>,
    pub calls_sent: u64,
}

/// Makes every check that says something, `call` being what came of the plain call.
pub(super) fn check_all(request: &Request, call: &CallOutcome) -> Semantics {
    let addresses = match request.target.resolve() {
        Ok(addresses) if !matches!(call.result, Err(Failure::Connect(_))) => addresses,
        Ok(_) => return none_of_them("there is no connection"),
        Err(error) => return none_of_them(&error.to_string()),
    };
    let tls = request.tls.as_ref();
    let connector = tls
        .map(|config| config.connector(&request.authority))
        .transpose();
    let connector = match connector {
        Ok(connector) => connector,
        Err(error) => return none_of_them(&error.to_string()),
    };
    let way = Way {
        addresses: &addresses,
        connector: connector.as_ref(),
    };
    let next = AtomicUsize::new(0);
    let latency = call.result.as_ref().ok().map(|verified| verified.latency);
    let patience = patience_after(latency);
    let work = || worker(&next, request, way, patience, latency.is_some());
    let done: Vec<Semantics> = thread::scope(|scope| {
        let workers: Vec<_> = (0..CHECKS_AT_A_TIME).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(thread::ScopedJoinHandle::join);
        joined.flatten().collect()
    });
    let mut all = none_of_them("its thread ended early");
    for (check, finding) in &mut all.findings {
        let mut found = done.iter().flat_map(|part| &part.findings);
        if let Some((_, known)) = found.find(|(one, _)| one == check) {
            *finding = known.clone();
        }
    }
    all.calls_sent = done.iter().map(|part| part.calls_sent).sum();
    all
}

/// How long a check may take when the plain call took `latency`.
fn patience_after(latency: Option<Duration>) -> Duration {
    let handler = latency.unwrap_or_default();
    PATIENCE
        .saturating_add(handler.saturating_mul(2))
        .min(PATIENCE_MAX)
}

fn none_of_them(reason: &str) -> Semantics {
    let unchecked = |check| (check, Finding::NotChecked(reason.to_owned()));
    Semantics {
        findings: Check::ALL.map(unchecked).to_vec(),
        calls_sent: 0,
    }
}

/// Takes one check after another from the common list.
fn worker(
    next: &AtomicUsize,
    request: &Request,
    way: Way<'_>,
    patience: Duration,
    call_is_good: bool,
) -> Semantics {
    let mut attempt = Attempt {
        request,
        way,
        patience,
        calls_sent: 0,
    };
    let mut findings = Vec::new();
    while let Some(&check) = Check::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
        let finding = match check.needs_good_call() && !call_is_good {
            true => Finding::NotChecked("the plain call failed".to_owned()),
            false => checks::run(check, &mut attempt),
        };
        findings.push((check, finding));
    }
    Semantics {
        findings,
        calls_sent: attempt.calls_sent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_that_waits_a_second_is_given_two_and_a_half() {
        assert_eq!(patience_after(None), PATIENCE);
        let slow = patience_after(Some(Duration::from_secs(1)));
        assert_eq!(slow, Duration::from_millis(2500));
        assert_eq!(patience_after(Some(Duration::MAX)), PATIENCE_MAX);
    }

    #[test]
    fn even_when_everything_fails_it_takes_less_than_three_seconds() {
        // Two checks may use two connections each; whoever begins last begins when all others are
        // done at the latest.
        let connections = Check::ALL.len() as u32 + 2;
        let longest = PATIENCE * connections / CHECKS_AT_A_TIME as u32 + PATIENCE * 2;
        assert!(longest < Duration::from_secs(3));
    }
}
