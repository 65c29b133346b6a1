//! What TLS holds of a connection, counted in a budget that the program has for all of them.

use super::shared_limits::SharedLimits;
use std::sync::Arc;

/// What one connection takes as soon as its handshake has begun: its keys, and what rustls knows of
/// it (`crates/io/tests/tls_memory.rs` counts it).
const SESSION_BYTES: usize = 8 << 10;

/// Changes smaller than this are not counted.
const STEP_BYTES: usize = 4 << 10;

/// What the TLS of one connection is charged with; given back when it is dropped.
pub(crate) struct HeldMemory {
    shared: Option<Arc<dyn SharedLimits>>,
    /// What it takes whatever is buffered.
    session_bytes: usize,
    charged_bytes: usize,
}

impl HeldMemory {
    /// Of a connection that begins. Without a budget nothing is counted.
    pub fn of_session(shared: Option<Arc<dyn SharedLimits>>) -> Self {
        let mut held = Self { shared, session_bytes: SESSION_BYTES, charged_bytes: 0 };
        held.note(0);
        held
    }

    /// What the peer has shown is kept for as long as the session lasts: by rustls, and for the
    /// shard.
    pub fn keep_shown(&mut self, certificates: &[Box<[u8]>]) {
        self.session_bytes += 2 * certificates.iter().map(|shown| shown.len()).sum::<usize>();
        self.note(0);
    }

    /// `buffered_bytes` bytes are buffered now.
    #[inline]
    pub fn note(&mut self, buffered_bytes: usize) {
        let bytes = self.session_bytes + buffered_bytes;
        if bytes.abs_diff(self.charged_bytes) >= STEP_BYTES {
            self.charge(bytes);
        }
    }

    #[cold]
    fn charge(&mut self, bytes: usize) {
        let Some(shared) = &self.shared else { return };
        if bytes > self.charged_bytes {
            shared.add(bytes - self.charged_bytes);
        } else {
            shared.subtract(self.charged_bytes - bytes);
        }
        self.charged_bytes = bytes;
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.subtract(self.charged_bytes);
        }
    }
}
