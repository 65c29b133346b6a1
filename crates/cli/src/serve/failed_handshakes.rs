//! Telling an operator that clients fail to agree on TLS, while the server runs.

use bookend_server::tls::ServerConfig;
use std::io;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// No line follows another sooner. Trouble is seen as it begins, and whoever makes it on purpose
/// fills no disk with it: twelve lines a minute.
const PAUSE: Duration = Duration::from_secs(5);

/// Has `say` called, on a thread of its own, when a handshake fails: at once the first time, and
/// then with what has come together in the meantime.
///
/// # Errors
/// Where no thread can be had.
pub fn tell(config: ServerConfig, say: fn(&str)) -> io::Result<ServerConfig> {
    let failures = Arc::new(Failures::default());
    let teller = Arc::clone(&failures);
    thread::Builder::new()
        .name("handshakes".into())
        .spawn(move || {
            loop {
                say(&teller.next_line());
                thread::sleep(PAUSE);
            }
        })?;
    Ok(config.on_failure(move |why| failures.note(why)))
}

/// What is to be told.
#[derive(Debug, Default)]
struct Failures {
    untold: Mutex<Untold>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Untold {
    count: u64,
    /// Why the last of them failed.
    last: String,
    /// Whether others were told before.
    is_sequel: bool,
}

impl Failures {
    /// A handshake has failed. Called by the threads that serve: they wait for nobody's terminal.
    fn note(&self, why: &str) {
        let mut untold = self.lock();
        untold.count += 1;
        why.clone_into(&mut untold.last);
        self.came.notify_one();
    }

    /// Waits until there is something to tell.
    fn next_line(&self) -> String {
        let untold = self
            .came
            .wait_while(self.lock(), |untold| untold.count == 0);
        let mut untold = untold.unwrap_or_else(PoisonError::into_inner);
        let Untold {
            count,
            last,
            is_sequel,
        } = mem::take(&mut *untold);
        untold.is_sequel = true;
        line(count, &last, is_sequel)
    }

    fn lock(&self) -> MutexGuard<'_, Untold> {
        self.untold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn line(count: u64, last: &str, is_sequel: bool) -> String {
    // Names in a client's certificate are whatever the client likes.
    let last = last.replace(char::is_control, " ");
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
        assert_eq!(
            first,
            "a TLS handshake has failed: the client speaks no TLS"
        );
        for number in 1..=10_000 {
            failures.note(&format!("of number {number}"));
        }
        assert_eq!(
            failures.next_line(),
            "10000 more TLS handshakes have failed, the last because of number 10000"
        );
        failures.note("of\nthis");
        assert_eq!(
            failures.next_line(),
            "1 more TLS handshake has failed: of this"
        );
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
        assert!(
            line.starts_with("4000 TLS handshakes have failed"),
            "{line}"
        );
    }
}
