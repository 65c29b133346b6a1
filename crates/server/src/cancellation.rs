use std::sync::{Arc, Weak};

/// Tells whether a call is over: [`crate::Context::cancellation`].
///
/// For deferred handlers whose work is worth stopping when nobody waits for it any more. A handler
/// that does not ask for one costs its call nothing.
#[derive(Clone, Debug)]
pub struct Cancellation(Weak<()>);

impl Cancellation {
    /// Whether the call is over: given up by its client, past its deadline, its connection lost, or
    /// answered.
    pub fn is_cancelled(&self) -> bool {
        self.0.strong_count() == 0
    }
}

/// What a call keeps as long as it lasts, so that its [`Cancellation`]s know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lasting(Arc<()>);

impl Lasting {
    pub fn cancellation(&self) -> Cancellation {
        Cancellation(Arc::downgrade(&self.0))
    }
}
