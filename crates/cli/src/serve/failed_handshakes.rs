//! Reports failed TLS handshakes while the server runs.

use bookend_contract::printable;
use bookend_server::tls::ServerConfig;
use std::io;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The least time between two lines. Trouble shows as it begins, and an attacker cannot fill the
/// disk with it: twelve lines a minute.
const PAUSE: Duration = Duration::from_secs(5);

/// Calls `say`, on a new thread, when a handshake fails: at once the first time, and then with what
/// has accumulated in the meantime.
///
/// # Errors
/// When no thread can be started.
pub fn report(config: ServerConfig, say: fn(&str)) -> io::Result<ServerConfig> {
    let failures = Arc::new(Failures::default());
    let reporter = Arc::clone(&failures);
    thread::Builder::new().name("handshakes".into()).spawn(move || {
        loop {
            say(&reporter.next_line());
            thread::sleep(PAUSE);
        }
    })?;
    Ok(config.on_failure(move |why| failures.note(why)))
}

/// Failures that were not reported yet.
#[derive(Debug, Default)]
struct Failures {
    unreported: Mutex<Unreported>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Unreported {
    count: u64,
    /// Why the last of them failed.
    last: String,
    /// Whether others were reported before.
    is_sequel: bool,
}

impl Failures {
    /// A handshake has failed. Called by the threads that serve, which must not wait for a
    /// terminal.
    fn note(&self, why: &str) {
        let mut unreported = self.lock();
        unreported.count += 1;
        why.clone_into(&mut unreported.last);
        self.came.notify_one();
    }

    /// Waits until there is something to report.
    fn next_line(&self) -> String {
        let mut unreported = self
            .came
            .wait_while(self.lock(), |unreported| unreported.count == 0)
            .unwrap_or_else(PoisonError::into_inner);
        let Unreported { count, last, is_sequel } = mem::take(&mut *unreported);
        unreported.is_sequel = true;
        line(count, &last, is_sequel)
    }

    fn lock(&self) -> MutexGuard<'_, Unreported> {
        self.unreported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line(count: u64, last: &str, is_sequel: bool) -> String {
    // A client chooses the names in its certificate.
    let last = printable::line(last);
    match (count, is_sequel) {
        (1, false) => format!("a TLS handshake has failed: {last}"),
        (1, true) => format!("1 more TLS handshake has failed: {last}"),
        (count, false) => format!("{count} TLS handshakes have failed, the last because {last}"),
        (count, true) => {
            format!("{count} more TLS handshakes have failed, the last because {last}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn the_first_failure_is_told_at_once_and_a_flood_behind_it_is_one_line() {
        let failures = Failures::default();
        failures.note("the client speaks no TLS");
        let first = failures.next_line();
        assert_eq!(first, "a TLS handshake has failed: the client speaks no TLS");
        for number in 1..=10_000 {
            failures.note(&format!("of number {number}"));
        }
        assert_eq!(
            failures.next_line(),
            "10000 more TLS handshakes have failed, the last because of number 10000"
        );
        failures.note("of\nthis");
        assert_eq!(failures.next_line(), "1 more TLS handshake has failed: of this");
    }

    #[test]
    fn nothing_is_said_before_something_fails() {
        let failures = Arc::new(Failures::default());
        let teller = Arc::clone(&failures);
        let (say, said) = channel();
        let telling = thread::spawn(move || say.send(teller.next_line()).unwrap());
        assert!(said.try_recv().is_err());
        failures.note("why");
        assert_eq!(said.recv().unwrap(), "a TLS handshake has failed: why");
        telling.join().unwrap();
    }

    #[test]
    fn threads_that_serve_lose_no_failure() {
        let failures = Failures::default();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1_000).for_each(|_| failures.note("why")));
            }
        });
        let line = failures.next_line();
        assert!(line.starts_with("4000 TLS handshakes have failed"), "{line}");
    }
}
