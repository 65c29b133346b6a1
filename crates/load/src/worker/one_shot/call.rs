//! One call and its connection.

use crate::call::Call;
use crate::metadata::varying_value;
use crate::plan::LoadPlan;
use crate::record::SetupTimes;
use crate::worker::connection_manager::ConnectionEnd;
use crate::worker::load_connection::ReceivedGoAway;
use crate::worker::state::WorkerState;
use bookend_io::{AfterRead, ConnectionId, IoContext, Received};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{
    CannotOpen, Connection, ErrorCode, ExtraField, FirstFlight, HeaderBlock, HeaderList, Indexing,
    Initiator, Sender, Side, StreamKey, Visitor,
};

/// Messages of a run beyond this are not kept a second time, as part of what a connection begins
/// with.
const KEPT_MESSAGES_BYTES: usize = 4 << 20;

/// What all connections of a worker to the target of one name say first.
#[derive(Debug)]
pub(super) struct RequestTemplate {
    /// One a message, where they are the same each time.
    first_flights: Vec<FirstFlight>,
    head: HeaderBlock,
}

impl RequestTemplate {
    pub fn new(plan: &LoadPlan, name: usize) -> Self {
        let head = plan.head(name);
        let total_bytes: usize = plan.messages.iter().map(Vec::len).sum();
        let vary = plan.varying_metadata.is_some() || total_bytes > KEPT_MESSAGES_BYTES;
        let first_flight = |message: &Vec<u8>| FirstFlight::new(&plan.config, &head, message);
        let first_flights = match vary {
            true => Vec::new(),
            false => plan.messages.iter().map_while(first_flight).collect(),
        };
        Self {
            first_flights,
            head,
        }
    }

    /// Has the connection begin again, with the request of call `number` in its output.
    fn begin(
        &mut self,
        connection: &mut Connection,
        plan: &LoadPlan,
        number: u64,
    ) -> Result<StreamKey, CannotOpen> {
        let at = (number % plan.messages.len() as u64) as usize;
        if let Some(first_flight) = self.first_flights.get(at) {
            return connection.renew_with(&plan.config, first_flight);
        }
        connection.renew(&plan.config);
        let value = varying_value(number);
        let extra = plan.varying_metadata.as_ref().map(|name| ExtraField {
            name,
            value: &value,
            indexing: Indexing::Never,
        });
        let sender = &mut connection.sender;
        sender.request(&mut self.head, extra.as_slice(), &plan.messages[at])
    }
}

/// One call at a time, each with a connection of its own. The memory of the connection is used
/// again by the next.
#[derive(Debug)]
pub(super) struct OneShotCall {
    /// While there is a call.
    pub id: Option<ConnectionId>,
    pub call: Call,
    /// How the call ended, before its connection does.
    pub outcome: Option<Result<(), Status>>,
    pub farewell: Option<ReceivedGoAway>,
    connection: Connection,
    /// When the transport was there.
    connected_ns: u64,
    /// When both ends had agreed on everything below HTTP/2: with TLS later than the transport.
    /// 0 before.
    opened_ns: u64,
    written_ns: u64,
    /// 0 before the answer's head has come.
    first_byte_ns: u64,
}

impl OneShotCall {
    pub fn new(plan: &LoadPlan) -> Self {
        Self {
            id: None,
            call: Call::default(),
            outcome: None,
            farewell: None,
            connection: Connection::new(Side::Client, &plan.config),
            connected_ns: 0,
            opened_ns: 0,
            written_ns: 0,
            first_byte_ns: 0,
        }
    }

    /// A call begins, before its connection is asked for.
    pub fn begin(&mut self, start_ns: u64, counted: bool) {
        self.call = Call::new(0, counted);
        self.call.start_ns = start_ns;
        (self.outcome, self.farewell) = (None, None);
        (self.connected_ns, self.opened_ns) = (0, 0);
        (self.written_ns, self.first_byte_ns) = (0, 0);
    }

    /// The connection is there: everything goes out in one write.
    pub fn write_request(
        &mut self,
        script: &mut RequestTemplate,
        state: &mut WorkerState,
        id: ConnectionId,
        io: &mut IoContext,
    ) {
        self.opened_ns = io.now_ns();
        let transport_opened_ns = io.transport_opened_ns(id);
        self.connected_ns = transport_opened_ns.unwrap_or(self.opened_ns);
        let number = state.take_number();
        match script.begin(&mut self.connection, &state.plan, number) {
            Ok(stream) => self.call.stream_id = stream.id,
            Err(_) => {
                let text = "--first-stream-id leaves no stream for a call";
                self.outcome = Some(Err(Status::new(Code::Internal, text)));
                io.close(id);
            }
        }
        let output = io.output(id);
        output.append(&mut self.connection.sender.output);
        self.written_ns = io.clock_ns();
    }

    /// Bytes have come.
    pub fn hear(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let sender = &mut self.connection.sender;
        std::mem::swap(&mut sender.output, io.output(id));
        let mut hearing = OneShotVisitor {
            call: &mut self.call,
            outcome: &mut self.outcome,
            farewell: &mut self.farewell,
            head_came: false,
        };
        let result = self.connection.receive(bytes, &mut hearing);
        if hearing.head_came && self.first_byte_ns == 0 {
            self.first_byte_ns = io.now_ns();
        }
        if let Err(error) = &result {
            let fault = Status::new(Code::Unavailable, error.to_string());
            self.outcome.get_or_insert(Err(fault));
        } else if self.outcome.is_some() {
            self.connection.sender.goaway(ErrorCode::NO_ERROR, b"");
        }
        let sender = &mut self.connection.sender;
        std::mem::swap(&mut sender.output, io.output(id));
        Received {
            consumed: result.unwrap_or(bytes.len()),
            after: match self.outcome {
                Some(_) => AfterRead::Close,
                None => AfterRead::Continue,
            },
        }
    }

    /// Gives the call up if it started before `limit_ns`. A connection that does not take its end
    /// is cut off the next time.
    pub fn expire(&mut self, limit_ns: u64, io: &mut IoContext) {
        let Some(id) = self.id else { return };
        if self.call.start_ns > limit_ns {
            return;
        }
        if self.outcome.is_some() {
            return io.abort(id);
        }
        let text = "context deadline exceeded";
        self.outcome = Some(Err(Status::new(Code::DeadlineExceeded, text)));
        if self.opened_ns > 0 {
            self.take_leave(id, io);
        }
        io.close(id);
    }

    /// Tells the server that nobody waits for the answer.
    fn take_leave(&mut self, id: ConnectionId, io: &mut IoContext) {
        let stream = StreamKey {
            index: 0,
            id: self.call.stream_id,
        };
        let sender = &mut self.connection.sender;
        std::mem::swap(&mut sender.output, io.output(id));
        sender.reset(stream, ErrorCode::CANCEL);
        sender.goaway(ErrorCode::NO_ERROR, b"");
        std::mem::swap(&mut sender.output, io.output(id));
    }

    /// Whether the next call may follow at once: not where this server answers nobody.
    pub fn end(&self) -> ConnectionEnd {
        match self.first_byte_ns {
            0 => ConnectionEnd::Useless,
            _ => ConnectionEnd::WorkDone,
        }
    }

    /// What the call was made of.
    pub fn parts(&self) -> SetupTimes {
        SetupTimes {
            connect_ns: self.connected_ns.saturating_sub(self.call.start_ns),
            tls_ns: self.opened_ns.saturating_sub(self.connected_ns),
            first_byte_ns: self.first_byte_ns.saturating_sub(self.written_ns),
        }
    }
}

/// Checks the one answer as it comes.
struct OneShotVisitor<'a> {
    call: &'a mut Call,
    outcome: &'a mut Option<Result<(), Status>>,
    farewell: &'a mut Option<ReceivedGoAway>,
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
        if !self.call.head_came() {
            self.call.head(fields);
        }
        if end_stream {
            let outcome = self.call.trailers(fields);
            self.end(outcome);
        }
        // No block comes twice on a connection with one call.
        None
    }

    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}

    fn data(&mut self, sender: &mut Sender, stream: StreamKey, data: &[u8], end_stream: bool) {
        let is_due = self.call.body(data);
        if end_stream {
            let fault = self.call.no_trailers();
            self.end(Err(fault));
        } else if is_due {
            sender.release(stream, usize::MAX);
        }
    }

    fn reset(&mut self, _: &mut Sender, _: StreamKey, code: ErrorCode, by: Initiator) {
        if let Some(fault) = self.call.fault_of_reset(code, by) {
            self.end(Err(fault));
        }
    }

    fn goaway(&mut self, _: &mut Sender, last_stream_id: u32, code: ErrorCode, debug: &[u8]) {
        let farewell = ReceivedGoAway::new(code, debug);
        if last_stream_id < self.call.stream_id {
            self.end(Err(farewell.left_out()));
        }
        *self.farewell = Some(farewell);
    }
}
