//! How a connection writes straight into the buffer of its driver, so that no byte is copied.

use bookend_io::{ConnectionId, IoContext};
use bookend_wire::Connection;

/// Something that writes through an HTTP/2 connection.
pub(super) trait DirectOutput {
    /// Where the HTTP/2 connection writes.
    fn output(&mut self) -> &mut Vec<u8>;

    /// Runs `exchange` while everything that is written goes into the driver's buffer for `id`.
    #[inline]
    fn with_output<T>(
        &mut self,
        id: ConnectionId,
        io: &mut IoContext,
        exchange: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let buffer = io.output(id);
        std::mem::swap(self.output(), buffer);
        let result = exchange(self);
        std::mem::swap(self.output(), buffer);
        result
    }

    /// Hands over what was written while there was no buffer of the driver.
    fn flush_output(&mut self, id: ConnectionId, io: &mut IoContext) {
        io.output(id).append(self.output());
    }
}

impl DirectOutput for Connection {
    #[inline]
    fn output(&mut self) -> &mut Vec<u8> {
        &mut self.sender.output
    }
}
