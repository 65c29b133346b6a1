//! One streaming call: what has come and what may go, and whose turn it is.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::Status;
use bookend_wire::grpc::message::{Message, split_first};

use crate::budgets::INFLATED_TURN_BYTES;
use crate::compression::Encoding;
use crate::inbox::Inbox;
use crate::pool::{PoolSide, Request};
use crate::service::InlineStream;
use crate::stream_reply::{Outlet, Progress, StreamReply};
use crate::unary;

/// A streaming call: its state machine, what has come of its requests, how far the answer is.
pub(crate) struct StreamCall {
    machine: Machine,
    /// Requests that have come and were not handed over.
    inbox: Inbox,
    /// Of requests that are flagged as compressed.
    encoding: Encoding,
    client: ClientSide,
    progress: Progress,
    waits: Waits,
    /// The handler stopped because it was full: it is to hear that there is room again.
    owed_ready: bool,
    /// Octets that have come and for which the client has not been given new credit.
    unreleased_bytes: usize,
    /// What its connection has counted of [`StreamCall::unfinished_bytes`].
    pub charged_bytes: usize,
    /// What waited for the client's flow control when this was last looked at.
    pub held_bytes: usize,
    /// It stands in its connection's list of streams that wait for their turn.
    pub in_ready: bool,
}

/// What a call is waiting for before it can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// Nothing but its client.
    No,
    /// The other streams, or the driver, which writes what there is.
    ForTurn,
    /// The client's flow control.
    ForWindow,
    /// Its handler, which has no room for the next request.
    ForHandler,
}

/// How far the requests are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientSide {
    Open,
    /// No more will come.
    Ended,
    /// And the handler knows.
    EndTold,
}

impl StreamCall {
    pub fn new(machine: Machine, encoding: Encoding, progress: Progress) -> Self {
        StreamCall {
            machine,
            inbox: Inbox::default(),
            encoding,
            client: ClientSide::Open,
            progress,
            waits: Waits::No,
            owed_ready: false,
            unreleased_bytes: 0,
            charged_bytes: 0,
            held_bytes: 0,
            in_ready: false,
        }
    }

    pub fn has_ended(&self) -> bool {
        self.progress.ended
    }

    pub fn waits(&self) -> Waits {
        self.waits
    }

    /// What is kept of requests that their handler has not begun with.
    pub fn unfinished_bytes(&self) -> usize {
        self.inbox.len() + self.progress.kept_bytes + self.machine.waiting_bytes()
    }

    /// Octets for which the client may be given new credit now. While the call cannot go on, those
    /// that it has not been handed stay charged: that is what stops a client that does not read.
    pub fn take_releasable(&mut self) -> usize {
        let kept_bytes = match self.waits {
            Waits::No => 0,
            Waits::ForTurn | Waits::ForWindow | Waits::ForHandler => {
                self.inbox.len().min(self.unreleased_bytes)
            }
        };
        let releasable_bytes = self.unreleased_bytes - kept_bytes;
        self.unreleased_bytes = kept_bytes;
        releasable_bytes
    }

    /// All octets that are charged to the client, for a call that is over.
    pub fn take_unreleased(&mut self) -> usize {
        std::mem::take(&mut self.unreleased_bytes)
    }

    /// The one request was handed over when the call was begun, and no more can come.
    pub fn without_requests(mut self) -> Self {
        self.client = ClientSide::EndTold;
        self
    }

    /// Part of the body has come.
    pub fn received(&mut self, outlet: Outlet<'_>, data: &[u8], limit_bytes: usize) {
        self.unreleased_bytes += data.len();
        if self.waits != Waits::No || self.inbox.len() > 0 {
            self.inbox.push(data);
            return self.go_on(outlet, limit_bytes);
        }
        let mut rest = data;
        self.run(outlet, &mut rest, limit_bytes);
        self.inbox.push(rest);
    }

    /// The client sends no more.
    pub fn ended(&mut self, outlet: Outlet<'_>, limit_bytes: usize) {
        self.client = ClientSide::Ended;
        self.go_on(outlet, limit_bytes);
    }

    /// What flow control held back is on its way.
    pub fn drained(&mut self, outlet: Outlet<'_>, limit_bytes: usize) {
        if self.waits == Waits::ForWindow {
            self.waits = Waits::No;
            self.go_on(outlet, limit_bytes);
        }
    }

    /// It is this stream's turn.
    pub fn take_turn(&mut self, outlet: Outlet<'_>, limit_bytes: usize) {
        if self.waits == Waits::ForTurn {
            self.waits = Waits::No;
            self.go_on(outlet, limit_bytes);
        }
    }

    /// Its handler, on another thread, has left something or has made room.
    pub fn look(&mut self, outlet: Outlet<'_>, limit_bytes: usize) {
        self.owed_ready = true;
        if self.waits == Waits::ForHandler {
            self.waits = Waits::No;
        }
        self.go_on(outlet, limit_bytes);
    }

    pub fn fail(&mut self, outlet: Outlet<'_>, status: Status) {
        self.reply(outlet).end(Err(status));
    }

    fn reply<'a>(&'a mut self, outlet: Outlet<'a>) -> StreamReply<'a> {
        StreamReply {
            outlet,
            progress: &mut self.progress,
            request_was_compressed: false,
        }
    }

    /// Goes on with what is in the inbox.
    fn go_on(&mut self, outlet: Outlet<'_>, limit_bytes: usize) {
        if self.waits != Waits::No {
            return;
        }
        let mut inbox = std::mem::take(&mut self.inbox);
        let mut rest = inbox.octets();
        self.run(outlet, &mut rest, limit_bytes);
        let left_bytes = rest.len();
        inbox.keep_last(left_bytes);
        self.inbox = inbox;
    }

    /// Calls the handler as long as it has something to do and there is room for what it sends;
    /// takes what it was handed off the front of `body`.
    fn run(&mut self, outlet: Outlet<'_>, body: &mut &[u8], limit_bytes: usize) {
        let StreamCall {
            machine,
            encoding,
            client,
            progress,
            waits,
            owed_ready,
            ..
        } = self;
        progress.begin_turn();
        let mut reply = StreamReply {
            outlet,
            progress,
            request_was_compressed: false,
        };
        loop {
            if reply.ended() {
                return;
            }
            *waits = reply.shortage();
            if *waits != Waits::No {
                return;
            }
            if std::mem::take(owed_ready) {
                machine.go_on(&mut reply);
            } else {
                match split_first(body, limit_bytes) {
                    Ok(Some(_)) if !machine.takes_requests() => {
                        *waits = Waits::ForHandler;
                        return;
                    }
                    Ok(Some((message, behind))) => {
                        *body = behind;
                        reply.request_was_compressed = message.compressed;
                        match plain(message, *encoding, limit_bytes, reply.inflated_bytes()) {
                            Ok(octets) => machine.take(octets, &mut reply),
                            Err(status) => reply.end(Err(status)),
                        }
                        if *reply.inflated_bytes() > INFLATED_TURN_BYTES && !reply.ended() {
                            *owed_ready = reply.is_full();
                            *waits = Waits::ForTurn;
                            return;
                        }
                    }
                    Ok(None) if *client != ClientSide::Ended => return,
                    Ok(None) if !body.is_empty() => reply.end(Err(unary::cut_off())),
                    Ok(None) => {
                        *client = ClientSide::EndTold;
                        machine.end_requests(&mut reply);
                    }
                    Err(error) => reply.end(Err(unary::unreadable(error))),
                }
            }
            *owed_ready = reply.is_full();
        }
    }
}

/// Who handles a call.
pub(crate) enum Machine {
    Inline(Handler),
    /// A thread of the pool.
    Pool(PoolSide),
}

/// A handler that is dropped without harm: one whose `drop` panics costs nobody anything.
pub(crate) struct Handler(Option<Box<dyn InlineStream>>);

impl Machine {
    pub fn inline(handler: Box<dyn InlineStream>) -> Self {
        Machine::Inline(Handler(Some(handler)))
    }

    /// Whether the next request may be handed over.
    fn takes_requests(&self) -> bool {
        match self {
            Machine::Inline(_) => true,
            Machine::Pool(side) => side.has_room(),
        }
    }

    /// What was handed over and waits for a thread to take it.
    fn waiting_bytes(&self) -> usize {
        match self {
            Machine::Inline(_) => 0,
            Machine::Pool(side) => side.waiting_bytes(),
        }
    }

    fn take(&mut self, octets: Cow<'_, [u8]>, reply: &mut StreamReply<'_>) {
        match self {
            Machine::Inline(handler) => handler.get().on_message(&octets, reply),
            Machine::Pool(side) => side.hand_over(Request {
                octets: octets.into_owned(),
                was_compressed: reply.request_was_compressed,
            }),
        }
    }

    fn end_requests(&mut self, reply: &mut StreamReply<'_>) {
        match self {
            Machine::Inline(handler) => handler.get().on_end(reply),
            Machine::Pool(side) => side.end_requests(),
        }
    }

    fn go_on(&mut self, reply: &mut StreamReply<'_>) {
        match self {
            Machine::Inline(handler) => handler.get().on_ready(reply),
            Machine::Pool(side) => side.send(reply),
        }
    }
}

impl Handler {
    fn get(&mut self) -> &mut dyn InlineStream {
        let handler = self.0.as_deref_mut();
        handler.expect("it is there until it is dropped")
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        let handler = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handler)));
    }
}

/// What a message stands for.
fn plain<'a>(
    message: Message<'a>,
    encoding: Encoding,
    limit_bytes: usize,
    inflated_bytes: &mut usize,
) -> Result<Cow<'a, [u8]>, Status> {
    match message.compressed {
        false => Ok(Cow::Borrowed(message.octets)),
        true => encoding
            .inflate(message.octets, limit_bytes, inflated_bytes)
            .map(Cow::Owned),
    }
}
