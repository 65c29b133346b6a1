//! What the io_uring driver knows of its listener.

use crate::listener::Listener;

/// A listener and how far it is.
pub(super) struct RingListener {
    pub listener: Listener,
    /// A multishot accept is in flight.
    pub is_accepting: bool,
    /// The listener is to be closed.
    pub is_stopping: bool,
}

impl From<Listener> for RingListener {
    fn from(listener: Listener) -> Self {
        Self { listener, is_accepting: false, is_stopping: false }
    }
}
