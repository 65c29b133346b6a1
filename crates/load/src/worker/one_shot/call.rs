//! One call and its connection.

use super::request_template::RequestTemplate;
use crate::call::LoadCall;
use crate::plan::LoadPlan;
use crate::record::{DEADLINE_EXCEEDED, SetupTimes};
use crate::thrift::{ReplyFault, SequenceIds, ThriftCall};
use crate::worker::connect_schedule::ConnectionEnd;
use crate::worker::direct_output::DirectOutput;
use crate::worker::received_goaway::ReceivedGoAway;
use crate::worker::request::NotWritten;
use crate::worker::state::WorkerState;
use crate::worker::thrift_replies::ThriftReplies;
use bookend_io::{AfterRead, ConnectionId, IoContext, Received};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{
    Connection, ErrorCode, HeaderList, Initiator, Sender, Side, StreamKey, Visitor,
};

/// One call at a time, each with a connection of its own. The memory of the connection is used
/// again by the next.
#[derive(Debug)]
pub(super) struct OneShotCall {
    /// While there is a call.
    pub connection: Option<ConnectionId>,
    pub call: LoadCall,
    /// How the call ended, before its connection does.
    pub outcome: Option<Result<(), Status>>,
    pub goaway: Option<ReceivedGoAway>,
    http2: Connection,
    /// In its place, where calls go by Thrift.
    pub replies: ThriftReplies,
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
    pub fn new(plan: &LoadPlan) -> Self {
        Self {
            connection: None,
            call: LoadCall::default(),
            outcome: None,
            goaway: None,
            http2: Connection::new(Side::Client, &plan.config),
            replies: ThriftReplies::new(plan.response_max_bytes),
            connected_ns: 0,
            opened_ns: 0,
            written_ns: 0,
            has_heard: false,
            first_byte_ns: 0,
        }
    }

    /// A call begins, before its connection is requested.
    pub fn begin(&mut self, start_ns: u64, counted: bool) {
        self.call = LoadCall::new(0, counted);
        self.call.start_ns = start_ns;
        (self.outcome, self.goaway) = (None, None);
        self.replies.clear();
        (self.connected_ns, self.opened_ns) = (0, 0);
        (self.written_ns, self.first_byte_ns) = (0, 0);
        self.has_heard = false;
    }

    /// The connection is established: everything goes out in one write.
    pub fn write_request(
        &mut self,
        template: &mut RequestTemplate,
        place: u32,
        state: &mut WorkerState,
        id: ConnectionId,
        io: &mut IoContext,
    ) {
        self.opened_ns = io.now_ns();
        self.connected_ns = io.transport_opened_ns(id).unwrap_or(self.opened_ns);
        let number = state.pace.next_number();
        state.pace.advance_number(1);
        match &state.plan.thrift {
            Some(thrift) => self.write_thrift(thrift, number, id, io),
            None => self.write_http2(template, (number, place), state, id, io),
        }
        self.written_ns = io.clock_ns();
    }

    /// A call without a reply has ended once its connection is closed behind it.
    fn write_thrift(
        &mut self,
        thrift: &ThriftCall,
        number: u64,
        id: ConnectionId,
        io: &mut IoContext,
    ) {
        self.call.stream_id = SequenceIds::default().take();
        thrift.write(number, self.call.stream_id, io.output(id));
        if thrift.is_oneway() {
            self.outcome = Some(Ok(()));
            io.close(id);
        }
    }

    fn write_http2(
        &mut self,
        template: &mut RequestTemplate,
        (number, place): (u64, u32),
        state: &mut WorkerState,
        id: ConnectionId,
        io: &mut IoContext,
    ) {
        match template.write(&mut self.http2, &state.plan, number, place) {
            Ok(stream) => self.call.stream_id = stream.id,
            Err(why) => {
                let text = match why {
                    NotWritten::CannotOpen(_) => "--first-stream-id leaves no stream for a call",
                    NotWritten::Template(_) => "the template of the call gave no message",
                };
                self.outcome = Some(Err(Status::new(Code::Internal, text)));
                if let NotWritten::Template(why) = why {
                    state.fail_template(why);
                }
                io.close(id);
            }
        }
        self.flush_output(id, io);
    }

    /// Bytes have come: of HTTP/2, unless calls go by Thrift.
    pub fn receive(
        &mut self,
        thrift: Option<&ThriftCall>,
        id: ConnectionId,
        bytes: &[u8],
        io: &mut IoContext,
    ) -> Received {
        let now_ns = io.now_ns();
        self.has_heard = true;
        let consumed = match thrift {
            Some(thrift) => {
                self.check_reply(thrift, bytes, now_ns);
                bytes.len()
            }
            None => self.with_output(id, io, |this| this.check_response(bytes, now_ns)),
        };
        Received {
            consumed,
            after: if self.outcome.is_some() { AfterRead::Close } else { AfterRead::Continue },
        }
    }

    fn check_reply(&mut self, thrift: &ThriftCall, bytes: &[u8], now_ns: u64) {
        if self.first_byte_ns == 0 {
            self.first_byte_ns = now_ns;
        }
        let (outcome, own_id) = (&mut self.outcome, self.call.stream_id);
        let result = self.replies.receive(thrift, bytes, |sequence_id, ended| {
            if outcome.is_some() {
                return Err(ReplyFault::unasked());
            }
            if sequence_id != own_id {
                let fault = ReplyFault::out_of_order(sequence_id, own_id);
                *outcome = Some(Err(Status::new(Code::Internal, fault.to_string())));
                return Err(fault);
            }
            *outcome = Some(ended.map_err(|status| *status));
            Ok(())
        });
        if let Err(fault) = result {
            self.fail(&fault);
        }
    }

    /// What has come makes the connection useless. A call that has ended before stays as it is.
    pub fn fail(&mut self, fault: &ReplyFault) {
        self.outcome.get_or_insert(Err(Status::new(Code::Unavailable, fault.to_string())));
    }

    fn check_response(&mut self, bytes: &[u8], now_ns: u64) -> usize {
        let mut visitor = OneShotVisitor {
            call: &mut self.call,
            outcome: &mut self.outcome,
            goaway: &mut self.goaway,
            head_came: false,
        };
        let result = self.http2.receive(bytes, &mut visitor);
        if visitor.head_came && self.first_byte_ns == 0 {
            self.first_byte_ns = now_ns;
        }
        if let Err(error) = &result {
            let status = Status::new(Code::Unavailable, error.to_string());
            self.outcome.get_or_insert(Err(status));
        } else if self.outcome.is_some() {
            self.http2.sender.goaway(ErrorCode::NO_ERROR, b"");
        }
        result.unwrap_or(bytes.len())
    }

    /// Gives the call up if it started before `limit_ns`. A connection that does not take its end
    /// is cut off the next time.
    pub fn expire(&mut self, limit_ns: u64, is_thrift: bool, io: &mut IoContext) {
        let Some(id) = self.connection else { return };
        if self.call.start_ns > limit_ns {
            return;
        }
        if self.outcome.is_some() {
            return io.abort(id);
        }
        self.outcome = Some(Err(Status::new(Code::DeadlineExceeded, DEADLINE_EXCEEDED)));
        // Thrift has no way to cancel a call but to close the connection.
        if self.opened_ns > 0 && !is_thrift {
            self.with_output(id, io, Self::cancel);
        }
        io.close(id);
    }

    /// Tells the server that no response is awaited.
    fn cancel(&mut self) {
        let stream = StreamKey { index: 0, id: self.call.stream_id };
        let sender = &mut self.http2.sender;
        sender.reset(stream, ErrorCode::CANCEL);
        sender.goaway(ErrorCode::NO_ERROR, b"");
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

impl DirectOutput for OneShotCall {
    fn output(&mut self) -> &mut Vec<u8> {
        &mut self.http2.sender.output
    }
}

/// Checks the one response as it comes.
struct OneShotVisitor<'a> {
    call: &'a mut LoadCall,
    outcome: &'a mut Option<Result<(), Status>>,
    goaway: &'a mut Option<ReceivedGoAway>,
    head_came: bool,
}

impl OneShotVisitor<'_> {
    fn end(&mut self, outcome: Result<(), Status>) {
        self.outcome.get_or_insert(outcome);
    }
}

impl Visitor for OneShotVisitor<'_> {
    fn headers(
        &mut self,
        _: &mut Sender,
        _: StreamKey,
        fields: &HeaderList,
        end_stream: bool,
    ) -> Option<u32> {
        self.head_came = true;
        if let (_, Some(outcome)) = self.call.headers(fields, end_stream) {
            self.end(outcome);
        }
        // No block comes twice on a connection with one call.
        None
    }

    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let is_due = self.call.body(data);
        if end_stream {
            let status = self.call.no_trailers();
            self.end(Err(status));
        } else if is_due {
            sender.release(stream, usize::MAX);
        }
    }

    fn reset(&mut self, _: &mut Sender, _: StreamKey, code: ErrorCode, by: Initiator) {
        if let Some(status) = self.call.fault_of_reset(code, by) {
            self.end(Err(status));
        }
    }

    fn goaway(&mut self, _: &mut Sender, last_stream_id: u32, code: ErrorCode, debug: &[u8]) {
        let goaway = ReceivedGoAway::new(code, debug);
        if last_stream_id < self.call.stream_id {
            self.end(Err(goaway.unprocessed()));
        }
        *self.goaway = Some(goaway);
    }
}
