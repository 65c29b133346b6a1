//! What calls keep of their requests, and with them.

/// What one call keeps, or all calls of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Of requests that their handlers have not begun with, bytes: what
    /// [`Limits::max_unfinished_bytes`](crate::Limits::max_unfinished_bytes) limits.
    pub unfinished_bytes: usize,
    /// Memory that is held for those, used or not, and for the calls themselves, bytes: a part of
    /// [`Limits::max_held_bytes`](crate::Limits::max_held_bytes).
    pub held_bytes: usize,
}

impl Kept {
    /// As many bytes of a request as are held for it.
    pub fn exactly(bytes: usize) -> Self {
        Kept { unfinished_bytes: bytes, held_bytes: bytes }
    }

    /// One of the calls kept `before`, and keeps `now`.
    pub fn replace(&mut self, before: Kept, now: Kept) {
        self.unfinished_bytes =
            self.unfinished_bytes + now.unfinished_bytes - before.unfinished_bytes;
        self.held_bytes = self.held_bytes + now.held_bytes - before.held_bytes;
    }
}
