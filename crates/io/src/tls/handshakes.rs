//! How handshakes have ended.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How the handshakes of all connections of one configuration have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handshakes {
    /// Those in which the ends have verified certificates and agreed on keys.
    pub full: u64,
    /// Those that went on from an earlier session: no certificate is sent, none is verified.
    pub resumed: u64,
    /// Those that failed, whose ever fault it was.
    pub failed: u64,
    /// Why the first of those failed.
    pub first_failure: Option<String>,
}

/// The counts while they grow. Touched once a connection.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    full: AtomicU64,
    resumed: AtomicU64,
    failed: AtomicU64,
    first_failure: Mutex<Option<String>>,
    witness: OnceLock<Witness>,
}

/// Who hears of each failure.
struct Witness(Box<dyn Fn(&str) + Send + Sync>);

impl Tally {
    pub fn succeeded(&self, is_resumed: bool) {
        let count = match is_resumed {
            true => &self.resumed,
            false => &self.full,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub fn failed(&self, why: &dyn fmt::Display) {
        let is_first = self.failed.fetch_add(1, Ordering::Relaxed) == 0;
        let witness = self.witness.get();
        if !is_first && witness.is_none() {
            return;
        }
        let why = why.to_string();
        if let Some(Witness(tell)) = witness {
            tell(&why);
        }
        if is_first {
            let first_failure = self.first_failure.lock();
            *first_failure.unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
    }

    /// Has each failure told; to the first that asks for it.
    pub fn on_failure(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        self.witness.get_or_init(|| Witness(Box::new(tell)));
    }

    pub fn so_far(&self) -> Handshakes {
        let first_failure = self.first_failure.lock();
        Handshakes {
            full: self.full.load(Ordering::Relaxed),
            resumed: self.resumed.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            first_failure: first_failure
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}
