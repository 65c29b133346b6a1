//! What a program allows all its connections together: memory, and connections from one address.
//! Those in their handshake take part in it, though the shard inside does not know of them yet.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// What a program allows all its connections together. Whoever holds something for them adds it
/// here, from any thread.
pub trait SharedLimits: Send + Sync {
    /// Counts `bytes` more bytes as held.
    fn add(&self, bytes: usize);
    /// Counts `bytes` bytes as released.
    fn subtract(&self, bytes: usize);
    /// Whether not much memory is left.
    fn is_tight(&self) -> bool;
    /// Whether more memory is held than is allowed.
    fn is_exceeded(&self) -> bool;
    /// Counts a connection from that address whose handshake begins. `false`, and not counted, if
    /// there are too many.
    fn enter(&self, address: IpAddr) -> bool;
    /// The handshake of a connection from that address is over, whatever came of it. If it has
    /// succeeded, the shard inside gets its [`opened`](crate::Shard::opened) next.
    fn leave(&self, address: IpAddr);
}

/// The limits of one configuration, if it has any.
#[derive(Clone, Default)]
pub(crate) struct LimitsOption(pub Option<Arc<dyn SharedLimits>>);

impl LimitsOption {
    /// Whether handshakes have to be given up that began before `since_ns`; all of them once too
    /// much memory is held.
    pub fn gives_up(&self, began_ns: u64, since_ns: u64) -> bool {
        let Some(limits) = &self.0 else { return false };
        limits.is_exceeded() || (began_ns < since_ns && limits.is_tight())
    }

    /// Counts a connection whose handshake begins; `None` if there are too many from its address.
    pub fn begin_handshake(&self, address: Option<IpAddr>) -> Option<CountedHandshake> {
        let counted = self.0.clone().zip(address);
        let has_room = counted.as_ref().is_none_or(|(limits, address)| limits.enter(*address));
        has_room.then(|| CountedHandshake(counted))
    }
}

impl fmt::Debug for LimitsOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "SharedLimits" } else { "no limits" })
    }
}

/// A handshake that is counted for its address until this is dropped.
pub(crate) struct CountedHandshake(Option<(Arc<dyn SharedLimits>, IpAddr)>);

impl Drop for CountedHandshake {
    fn drop(&mut self) {
        if let Some((limits, address)) = &self.0 {
            limits.leave(*address);
        }
    }
}
