//! What calls with a connection each speak.

use super::call::OneShotCall;
use super::request_template::RequestTemplate;
use crate::call::LoadCall;
use crate::plan::{Call, LoadPlan};
use crate::worker::connect::why_closed;
use crate::worker::direct_output::DirectOutput;
use crate::worker::received_goaway::ReceivedGoAway;
use crate::worker::request::{NotWritten, RequestSource};
use crate::worker::state::WorkerState;
use crate::worker::thrift_replies::{ThriftCommon, ThriftReplies};
use bookend_io::{AfterRead, Closed, ConnectionId, IoContext, Received};
use bookend_payload::thrift::{ReplyFault, SequenceIds};
use bookend_wire::grpc::{Code, Status};
use bookend_wire::{
    Connection, ErrorCode, HeaderList, Initiator, Sender, Side, StreamKey, Visitor,
};
use std::sync::Arc;

/// The protocol of all calls of a worker, with what each of them has of it. The memory of a
/// connection is used again by the next.
#[derive(Debug)]
pub(super) enum OneShotProtocol {
    /// Calls by gRPC.
    Http2 {
        source: RequestSource,
        /// By the name of the target.
        templates: Vec<RequestTemplate>,
        /// By the number of the call.
        connections: Vec<Connection>,
    },
    Thrift {
        common: ThriftCommon,
        /// By the number of the call.
        replies: Vec<ThriftReplies>,
    },
}

impl OneShotProtocol {
    /// That of a worker that has made none of its `calls` calls.
    pub fn new(plan: &LoadPlan, calls: usize) -> Self {
        match &plan.call {
            Call::Grpc(call) => Self::Http2 {
                source: RequestSource { call: Arc::clone(call), threads: plan.threads },
                templates: Vec::new(),
                connections: (0..calls)
                    .map(|_| Connection::new(Side::Client, &call.config))
                    .collect(),
            },
            Call::Thrift(run) => {
                let common = ThriftCommon::new(run, plan.threads);
                let replies = (0..calls).map(|_| ThriftReplies::new(&common)).collect();
                Self::Thrift { common, replies }
            }
        }
    }

    /// The call with that number begins.
    pub fn begin(&mut self, number: u32) {
        if let Self::Thrift { replies, .. } = self {
            replies[number as usize].clear();
        }
    }

    /// The connection of a call to a target of that name is established: everything goes out in one
    /// write.
    pub fn write_request(
        &mut self,
        (number, call): (u32, &mut OneShotCall),
        name: usize,
        state: &mut WorkerState,
        id: ConnectionId,
        io: &mut IoContext,
    ) {
        call.note_opened(id, io);
        let of_run = state.pace.next_number();
        state.pace.advance_number(1);
        match self {
            Self::Http2 { source, templates, connections } => {
                while templates.len() <= name {
                    let next = templates.len();
                    templates.push(RequestTemplate::new(&state.plan, &source.call, next));
                }
                let http2 = &mut connections[number as usize];
                let written = templates[name].write(http2, source, of_run, number);
                http2.flush_output(id, io);
                match written {
                    Ok(stream) => call.call.stream_id = stream.id,
                    Err(why) => {
                        call.fail_to_write(&why);
                        if let NotWritten::Template(why) = why {
                            state.fail_template(why);
                        }
                        io.close(id);
                    }
                }
            }
            Self::Thrift { common, .. } => {
                call.call.stream_id = SequenceIds::default().take();
                common.call.write(of_run, call.call.stream_id, io.output(id));
                // A call without a reply has ended once its connection is closed behind it.
                if common.call.is_oneway() {
                    call.outcome = Some(Ok(()));
                    io.close(id);
                }
            }
        }
        call.note_written(io);
    }

    /// Bytes have come for a call.
    pub fn receive(
        &mut self,
        (number, call): (u32, &mut OneShotCall),
        id: ConnectionId,
        bytes: &[u8],
        io: &mut IoContext,
    ) -> Received {
        let now_ns = io.now_ns();
        call.note_heard();
        let consumed = match self {
            Self::Http2 { connections, .. } => {
                connections[number as usize]
                    .with_output(id, io, |http2| check_response(http2, call, bytes, now_ns))
            }
            Self::Thrift { common, replies } => {
                call.note_first_byte(now_ns);
                check_reply(common, &mut replies[number as usize], call, bytes);
                bytes.len()
            }
        };
        if call.outcome.is_none()
            && let Err(fault) = self.check_parts(number)
        {
            call.fail(&fault.to_string());
        }
        let is_over = call.outcome.is_some();
        let after = if is_over { AfterRead::Close } else { AfterRead::Continue };
        Received { consumed, after }
    }

    /// Whether what has come of replies may be kept.
    ///
    /// # Errors
    /// It is too much: the call with that number has to go.
    fn check_parts(&self, number: u32) -> Result<(), ReplyFault> {
        match self {
            Self::Thrift { common, replies } if replies[number as usize].has_much() => {
                replies[number as usize].check_parts(replies.iter(), common)
            }
            _ => Ok(()),
        }
    }

    /// Tells the server that no response to that call is awaited. Thrift has no way to cancel a
    /// call but to close the connection.
    pub fn cancel(&mut self, number: u32, stream_id: u32, id: ConnectionId, io: &mut IoContext) {
        if let Self::Http2 { connections, .. } = self {
            connections[number as usize].with_output(id, io, |http2| {
                let stream = StreamKey { index: 0, id: stream_id };
                http2.sender.reset(stream, ErrorCode::CANCEL);
                http2.sender.goaway(ErrorCode::NO_ERROR, b"");
            });
        }
    }

    /// Why a connection is gone on which nothing had come.
    pub fn why_silent(&self, why: &Closed, state: &WorkerState) -> String {
        match self {
            Self::Http2 { .. } => state.why_closed_at_once(why),
            Self::Thrift { common, .. } => {
                let (text, spoken) = (why_closed(why), common.call.spoken());
                format!("{text} and answered nothing: does it speak {spoken}?")
            }
        }
    }
}

fn check_reply(
    common: &ThriftCommon,
    replies: &mut ThriftReplies,
    call: &mut OneShotCall,
    bytes: &[u8],
) {
    let (outcome, own_id) = (&mut call.outcome, call.call.stream_id);
    let result = replies.receive(&common.call, bytes, |sequence_id, ended| {
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
        call.fail(&fault.to_string());
    }
}

fn check_response(
    http2: &mut Connection,
    call: &mut OneShotCall,
    bytes: &[u8],
    now_ns: u64,
) -> usize {
    let mut visitor = OneShotVisitor {
        call: &mut call.call,
        outcome: &mut call.outcome,
        goaway: &mut call.goaway,
        head_came: false,
    };
    let result = http2.receive(bytes, &mut visitor);
    if visitor.head_came {
        call.note_first_byte(now_ns);
    }
    if let Err(error) = &result {
        call.fail(&error.to_string());
    } else if call.outcome.is_some() {
        http2.sender.goaway(ErrorCode::NO_ERROR, b"");
    }
    result.unwrap_or(bytes.len())
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
