//! What every check works with: the request, connections of its own, and how long these may take.

use super::check::CheckError;
use super::check_request::CheckRequest;
use super::raw_connection::{Destination, RawConnection};
use super::request::ProbeRequest;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What all checks share.
pub(super) struct CheckContext<'a> {
    pub request: &'a ProbeRequest,
    pub destination: Destination,
    /// How long one connection of a check may take in all.
    pub timeout: Duration,
    /// Calls sent whole on all connections so far.
    pub calls_sent: AtomicU64,
}

impl CheckContext<'_> {
    /// The request as a client library would send it.
    pub fn plain(&self) -> CheckRequest {
        CheckRequest::plain(self.request)
    }

    /// Runs `exchange` on a new connection, and counts its calls however it ends.
    pub fn on_connection<T>(
        &self,
        settings: &[(u16, u32)],
        exchange: impl FnOnce(&mut RawConnection) -> Result<T, CheckError>,
    ) -> Result<T, CheckError> {
        let mut connection = RawConnection::open(&self.destination, settings, self.timeout)?;
        let result = exchange(&mut connection);
        self.calls_sent.fetch_add(connection.calls_sent, Ordering::Relaxed);
        result
    }
}
