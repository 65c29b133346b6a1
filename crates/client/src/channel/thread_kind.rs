//! Which threads must not wait for a channel.

use std::cell::Cell;

thread_local! {
    static IS_OF_A_CHANNEL: Cell<bool> = const { Cell::new(false) };
}

/// From here on this thread serves a channel: who waits on it for an answer waits for himself, or
/// keeps the calls of others waiting.
pub(crate) fn enter_channel() {
    IS_OF_A_CHANNEL.set(true);
}

/// Whether this is the thread of a channel.
pub(crate) fn is_of_a_channel() -> bool {
    IS_OF_A_CHANNEL.get()
}
