//! One call and its connection.

use crate::call::LoadCall;
use crate::record::{DEADLINE_EXCEEDED, SetupTimes};
use crate::worker::connect_schedule::ConnectionEnd;
use crate::worker::received_goaway::ReceivedGoAway;
use crate::worker::request::NotWritten;
use bookend_io::{ConnectionId, IoContext};
use bookend_wire::grpc::{Code, Status};

/// One call at a time, each with a connection of its own.
#[derive(Debug, Default)]
pub(super) struct OneShotCall {
    /// While there is a call.
    pub connection: Option<ConnectionId>,
    pub call: LoadCall,
    /// How the call ended, before its connection does.
    pub outcome: Option<Result<(), Status>>,
    pub goaway: Option<ReceivedGoAway>,
    /// When the transport was established.
    connected_ns: u64,
    /// When both ends had agreed on everything below HTTP/2: with TLS later than the transport.
    /// 0 before.
    opened_ns: u64,
    written_ns: u64,
    has_heard: bool,
    /// 0 before the head of the response has come.
    first_byte_ns: u64,
}

impl OneShotCall {
    /// A call begins, before its connection is requested.
    pub fn begin(&mut self, start_ns: u64, counted: bool) {
        *self = Self { call: LoadCall::new(0, counted), ..Self::default() };
        self.call.start_ns = start_ns;
    }

    /// Its connection is established.
    pub fn note_opened(&mut self, id: ConnectionId, io: &IoContext) {
        self.opened_ns = io.now_ns();
        self.connected_ns = io.transport_opened_ns(id).unwrap_or(self.opened_ns);
    }

    /// Its request is written, all in one.
    pub fn note_written(&mut self, io: &IoContext) {
        self.written_ns = io.clock_ns();
    }

    /// Its request cannot be written.
    pub fn fail_to_write(&mut self, why: &NotWritten) {
        let text = match why {
            NotWritten::CannotOpen(_) => "--first-stream-id leaves no stream for a call",
            NotWritten::Template(_) => "the template of the call gave no message",
        };
        self.outcome = Some(Err(Status::new(Code::Internal, text)));
    }

    /// Bytes have come.
    pub fn note_heard(&mut self) {
        self.has_heard = true;
    }

    /// The response has begun by `now_ns`.
    pub fn note_first_byte(&mut self, now_ns: u64) {
        if self.first_byte_ns == 0 {
            self.first_byte_ns = now_ns;
        }
    }

    /// What has come makes the connection useless. A call that has ended before stays as it is.
    pub fn fail(&mut self, text: &str) {
        self.outcome.get_or_insert_with(|| Err(Status::new(Code::Unavailable, text)));
    }

    /// Gives the call up if it started before `limit_ns`: `cancel` says so to the server, where
    /// there is a connection to it. One that does not take its end is cut off the next time.
    pub fn expire(
        &mut self,
        limit_ns: u64,
        io: &mut IoContext,
        cancel: impl FnOnce(u32, ConnectionId, &mut IoContext),
    ) {
        let Some(id) = self.connection else { return };
        if self.call.start_ns > limit_ns {
            return;
        }
        if self.outcome.is_some() {
            return io.abort(id);
        }
        self.outcome = Some(Err(Status::new(Code::DeadlineExceeded, DEADLINE_EXCEEDED)));
        if self.opened_ns > 0 {
            cancel(self.call.stream_id, id, io);
        }
        io.close(id);
    }

    /// Whether anything has come from the server.
    pub fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// How its connection has ended. The next call follows at once, unless the server has answered
    /// nothing.
    pub fn connection_end(&self) -> ConnectionEnd {
        let went_well = matches!(self.outcome, Some(Ok(())));
        let is_finished = self.first_byte_ns > 0 || went_well;
        if is_finished { ConnectionEnd::Finished } else { ConnectionEnd::Unanswered }
    }

    /// The parts of the call.
    pub fn setup_times(&self) -> SetupTimes {
        SetupTimes {
            connect_ns: self.connected_ns.saturating_sub(self.call.start_ns),
            tls_ns: self.opened_ns.saturating_sub(self.connected_ns),
            first_byte_ns: self.first_byte_ns.saturating_sub(self.written_ns),
        }
    }
}
