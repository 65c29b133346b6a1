//! How long handshakes may take, and how they have ended.

use super::advice::TlsAdvice;
use super::shared_limits::LimitsOption;
use crate::options::CONNECT_TIMEOUT_NS;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

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
    /// Those that failed, for whatever reason.
    pub failed: u64,
    /// Why the first of those failed.
    pub first_failure: Option<String>,
}

/// The timeout of one configuration's handshakes, and their counts.
#[derive(Clone, Debug)]
pub(crate) struct HandshakePolicy {
    /// Of all clones.
    pub counters: Arc<HandshakeCounters>,
    /// How long one may take.
    pub timeout_ns: u64,
    /// What is said to do where one fails.
    pub advice: &'static TlsAdvice,
    /// Where what connections hold is counted.
    pub limits: LimitsOption,
}

impl HandshakePolicy {
    pub fn new(advice: &'static TlsAdvice) -> Self {
        Self {
            counters: Arc::default(),
            timeout_ns: HANDSHAKE_TIMEOUT_NS,
            advice,
            limits: LimitsOption::default(),
        }
    }
}

/// The running counts, updated once a connection.
#[derive(Debug, Default)]
pub(crate) struct HandshakeCounters {
    full: AtomicU64,
    resumed: AtomicU64,
    failed: AtomicU64,
    first_failure: OnceLock<String>,
    callback: OnceLock<FailureCallback>,
}

/// Called for each failure.
struct FailureCallback(Box<dyn Fn(&str) + Send + Sync>);

impl HandshakeCounters {
    pub fn succeeded(&self, is_resumed: bool) {
        let count = if is_resumed { &self.resumed } else { &self.full };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub fn failed(&self, why: &dyn fmt::Display) {
        let is_first = self.failed.fetch_add(1, Ordering::Relaxed) == 0;
        let callback = self.callback.get();
        if !is_first && callback.is_none() {
            return;
        }
        let why = why.to_string();
        if let Some(FailureCallback(tell)) = callback {
            tell(&why);
        }
        if is_first {
            self.first_failure.get_or_init(|| why);
        }
    }

    /// Sets the callback, unless there is one.
    pub fn on_failure(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        self.callback.get_or_init(|| FailureCallback(Box::new(tell)));
    }

    pub fn so_far(&self) -> Handshakes {
        Handshakes {
            full: self.full.load(Ordering::Relaxed),
            resumed: self.resumed.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            first_failure: self.first_failure.get().cloned(),
        }
    }
}

impl fmt::Debug for FailureCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FailureCallback")
    }
}
