use std::sync::{Arc, Weak};

/// Tells whether a call is over: see [`crate::Context::cancellation`].
///
/// For deferred handlers whose work is worth stopping when the client waits for it no more. A call
/// whose handler does not ask for one pays nothing.
#[derive(Clone, Debug)]
pub struct Cancellation(Weak<()>);

impl Cancellation {
    /// Whether the call is over: cancelled by its client, past its deadline, its connection lost,
    /// or answered.
    pub fn is_cancelled(&self) -> bool {
        self.0.strong_count() == 0
    }
}

/// What a call keeps while it is open, so that each [`Cancellation`] sees its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallLifetime(Arc<()>);

impl CallLifetime {
    pub fn cancellation(&self) -> Cancellation {
        Cancellation(Arc::downgrade(&self.0))
    }
}
