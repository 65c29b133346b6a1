//! How long handshakes may take, and how they have ended.

use crate::options::CONNECT_TIMEOUT_NS;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How long a handshake may take: as long as a connection may take to be made. An end that needs
/// longer for two round trips is not there.
pub const HANDSHAKE_TIMEOUT_NS: u64 = CONNECT_TIMEOUT_NS;

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

/// What one configuration, of whichever end, says and knows of its handshakes.
#[derive(Clone, Debug)]
pub(crate) struct Supervision {
    /// Of all clones.
    pub tally: Arc<Tally>,
    /// How long one may take.
    pub timeout_ns: u64,
}

impl Default for Supervision {
    fn default() -> Self {
        Self {
            tally: Arc::default(),
            timeout_ns: HANDSHAKE_TIMEOUT_NS,
        }
    }
}

/// The counts while they grow. Touched once a connection.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    full: AtomicU64,
    resumed: AtomicU64,
    failed: AtomicU64,
    first_failure: Mutex<Option<String>>,
}

impl Tally {
    pub fn succeeded(&self, is_resumed: bool) {
        let count = match is_resumed {
            true => &self.resumed,
            false => &self.full,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub fn failed(&self, why: &dyn std::fmt::Display) {
        if self.failed.fetch_add(1, Ordering::Relaxed) == 0 {
            *self
                .first_failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
        }
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
