//! Which threads must not wait for a channel.

use std::cell::Cell;

thread_local! {
    static IS_A_CHANNELS: Cell<bool> = const { Cell::new(false) };
}

/// The caller is a channel's thread, inside a callback: it would wait for itself, or keep the calls
/// of others waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InsideCallback;

/// From here on this thread is a channel's.
pub(crate) fn enter_channel_thread() {
    IS_A_CHANNELS.set(true);
}

/// Whether this thread may wait for a channel.
pub(crate) fn may_wait() -> Result<(), InsideCallback> {
    if IS_A_CHANNELS.get() {
        return Err(InsideCallback);
    }
    Ok(())
}
