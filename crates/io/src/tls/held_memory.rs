//! What TLS holds of a connection, counted in a budget that the program has for all of them.

use std::fmt;
use std::sync::Arc;

/// The memory that a program allows all its connections together. Whoever holds some for them adds
/// it here, from any thread.
pub trait SharedMemory: Send + Sync {
    /// So many bytes more are held.
    fn add(&self, bytes: usize);
    /// So many bytes are held no longer.
    fn subtract(&self, bytes: usize);
    /// Whether not much is left.
    fn is_tight(&self) -> bool;
    /// Whether more is held than is allowed.
    fn is_exceeded(&self) -> bool;
}

/// What one connection takes as soon as its handshake has begun: its keys, and what rustls knows of
/// it (`crates/io/tests/tls_memory.rs` counts it).
const SESSION_BYTES: usize = 8 << 10;

/// Changes smaller than this are not counted.
const STEP_BYTES: usize = 4 << 10;

/// What the TLS of one connection is charged with; given back when it is dropped.
pub(crate) struct HeldMemory {
    shared: Option<Arc<dyn SharedMemory>>,
    /// What it takes whatever is buffered.
    session_bytes: usize,
    charged_bytes: usize,
}

impl HeldMemory {
    /// Of a connection that begins. Without a budget nothing is counted.
    pub fn of_session(shared: Option<Arc<dyn SharedMemory>>) -> Self {
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

    /// So much is buffered now.
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

/// The budget of one configuration, if it has one.
#[derive(Clone, Default)]
pub(crate) struct MemoryOption(pub Option<Arc<dyn SharedMemory>>);

impl MemoryOption {
    /// Whether handshakes have to be given up that began before `since_ns`; all of them once too
    /// much is held.
    pub fn gives_up(&self, began_ns: u64, since_ns: u64) -> bool {
        let Some(memory) = &self.0 else { return false };
        memory.is_exceeded() || (began_ns < since_ns && memory.is_tight())
    }
}

impl fmt::Debug for MemoryOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "SharedMemory" } else { "no limit" })
    }
}
