//! Calls that are sent by one write.

use super::{RawConnection, WindowRefill, quick_ack};
use crate::probe::check::CheckError;
use crate::probe::check_request::CheckRequest;
use bookend_wire::frame::kind;
use std::time::{Duration, Instant};

impl RawConnection {
    /// Makes as many calls as the server allows, `calls` at most, by one write, and returns how
    /// long it took until all were answered, however. Meanwhile nothing is
    /// sent that would carry an acknowledgement along.
    pub fn call_at_once(
        &mut self,
        request: &CheckRequest,
        calls: usize,
        acknowledges_at_once: bool,
    ) -> Result<Duration, CheckError> {
        let streams = self.peer.max_concurrent_streams.map_or(calls, |most| most as usize);
        let window_bytes = self.send_window.available_bytes();
        let calls = calls.min(streams).min(window_bytes / request.body.len().max(1));
        if calls < 2 {
            let why = "the server allows no two calls at once";
            return Err(CheckError::NotChecked(why.to_owned()));
        }
        self.held = Some(Vec::new());
        let begun: Result<Vec<u32>, CheckError> = (0..calls).map(|_| self.call(request)).collect();
        let frames = self.held.take().unwrap_or_default();
        let streams = begun?;
        quick_ack::set(&self.stream, acknowledges_at_once)?;
        self.acknowledges_at_once = Some(acknowledges_at_once);
        let begun = Instant::now();
        self.write(&frames)?;
        let all = |connection: &Self| streams.iter().all(|&id| connection.has_ended(id));
        let refill = std::mem::replace(&mut self.refill, WindowRefill::Never);
        let waited = self.wait_until(all);
        self.refill = refill;
        let took = begun.elapsed();
        self.acknowledges_at_once = None;
        waited?;
        let came: usize = streams.iter().map(|&id| self.body_bytes(id)).sum();
        if came > 0 {
            self.send(kind::WINDOW_UPDATE, 0, 0, &(came as u32).to_be_bytes())?;
        }
        Ok(took)
    }
}
