//! Calls from any number of threads over one connection.

mod back_off;
mod caller;
mod calls;
mod gate;
mod heads;
mod inbox;
mod link;
mod on_answer;
mod options;
mod requests;
mod resets;
mod responses;
mod server;
mod shard;
mod stream_call;
mod stream_state;
mod thread_kind;
mod unary_call;

pub use caller::Canceller;
pub use inbox::ReceivedMessage;
pub use options::{ChannelOptions, Keepalive};
pub use requests::Requests;
pub use responses::Responses;
pub use stream_call::StreamCall;
pub use stream_state::{CallEnd, SendError};
pub use unary_call::UnaryCall;

use crate::answer::Answer;
use crate::client::is_path;
use crate::encoding::{Encoding, append_message, fits_in_prefix};
use crate::error::ConnectError;
#[cfg(doc)]
use crate::targets::Targets;
use bookend_io::tls::Secured;
use bookend_io::{Epoll, Mailbox, Waker, clock_ns};
use bookend_wire::grpc::{Code, Status};
use caller::Caller;
use calls::{Mail, Pending, RequestHead, Work};
use gate::Gate;
use inbox::Inbox;
use on_answer::OnAnswer;
use options::nanoseconds;
use server::Server;
use shard::ChannelShard;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fmt, io, thread};
use stream_state::{OnEnd, StreamState};

/// Unwritten output beyond which the server's bytes are not read. No calls are sent long before
/// that: only the rest of large messages gets here, and reading on keeps two ends that both write
/// from waiting for each other.
const BACKLOG_LIMIT_BYTES: usize = 64 << 20;

/// A server that can be called from any thread, any number of calls at a time.
///
/// One thread and one connection serve all clones. The connection is made at once and again
/// whenever it is lost. When the last clone is dropped, the thread ends.
#[derive(Clone)]
pub struct Channel(Arc<Owner>);

/// What ends the thread when it is dropped.
struct Owner {
    target: String,
    mailbox: Mailbox<Mail>,
    waker: Waker,
    gate: Arc<Gate>,
    max_message_bytes: usize,
    stream_window_bytes: u32,
}

impl Channel {
    /// Starts a channel to `host:port`, or whatever else a [`TargetName`](crate::TargetName) can
    /// be, also several with commas between them. Does not wait for the connection: calls do.
    ///
    /// All addresses are tried in turn, and each connection goes to the next one. Names are
    /// resolved here, and again when an address cannot be reached: see [`Targets::lost`].
    ///
    /// # Errors
    /// [`ChannelError`]; not where the server cannot be reached: calls are told that.
    pub fn connect(target: &str, options: ChannelOptions) -> Result<Self, ChannelError> {
        let server = Server::find(target).map_err(ConnectError::from)?;
        let connectors = options.connection.connectors(server.names())?;
        let waker = Waker::new()?;
        let mailbox = Mailbox::new(waker.clone());
        let gate = Arc::new(Gate::new(options.max_unanswered_calls));
        let channel = Self(Arc::new(Owner {
            target: target.to_owned(),
            mailbox: mailbox.clone(),
            waker: waker.clone(),
            gate: Arc::clone(&gate),
            max_message_bytes: options.connection.max_message_bytes,
            stream_window_bytes: options.connection.http2.settings.initial_window_bytes,
        }));
        let epoll = Epoll::new(waker, driver_options(&options))?;
        let shard = ChannelShard::new(server, options, mailbox.clone(), Arc::clone(&gate));
        let last_words = LastWords { gate, mailbox };
        thread::Builder::new()
            .name("bookend-channel".into())
            .spawn(move || {
                let _last_words = last_words;
                thread_kind::enter_channel();
                // What the kernel refuses here ends the shard, and its calls are told with it.
                match connectors {
                    None => drop(epoll.run(shard)),
                    Some(connectors) => {
                        let which = ChannelShard::name_number;
                        drop(epoll.run(Secured::connecting_each(shard, connectors, which)));
                    }
                }
            })?;
        Ok(channel)
    }

    /// The target as it was given.
    pub fn target(&self) -> &str {
        &self.0.target
    }

    /// Makes a call. `on_answer` is called exactly once, whatever happens.
    ///
    /// It runs on the channel's thread, which answers nobody else meanwhile, so it must not block.
    /// It may make calls. If it panics, nothing else is lost. Only a call that is refused at once
    /// (`INVALID_ARGUMENT` for a path or message that cannot be sent, `RESOURCE_EXHAUSTED` beyond
    /// [`ChannelOptions::max_unanswered_calls`]) is answered on the calling thread, before this
    /// returns.
    ///
    /// Besides what servers answer, a call may end with
    /// - `DEADLINE_EXCEEDED` when [`UnaryCall::timeout`] has passed; the server is told to stop;
    /// - `UNAVAILABLE` when the server cannot be reached, or the connection was lost before the
    ///   answer: the server may or may not have handled it. Calls that the server says it has not
    ///   looked at are sent again once before they end so;
    /// - `CANCELLED` when the last clone of the channel is dropped.
    pub fn call(&self, call: UnaryCall, on_answer: impl FnOnce(Answer) + Send + 'static) {
        let on_answer = OnAnswer::new(on_answer);
        if let Some(status) = unsendable(&call.path, &call.message) {
            return on_answer.answer(Answer::without_response(status));
        }
        if let Some(status) = self.refusal() {
            return on_answer.answer(Answer::without_response(status));
        }
        let message = match call.encoding {
            Encoding::Identity => call.message,
            Encoding::Gzip => compressed(&call.message),
        };
        let head = RequestHead {
            path: call.path,
            metadata: call.metadata,
            encoding: call.encoding,
            waits_for_ready: call.waits_for_ready,
        };
        let work = Work::Unary(message, on_answer);
        self.post(Pending::new(head, work, due(call.timeout)));
    }

    /// Makes a call and waits for its answer, from any thread and any number of threads. Not inside
    /// a callback, which would wait for itself: that is answered with `FAILED_PRECONDITION`.
    ///
    /// It ends as [`Channel::call`] says.
    pub fn unary(&self, call: UnaryCall) -> Answer {
        if thread_kind::is_of_a_channel() {
            let text = "a callback of a channel must not wait for an answer: use Channel::call";
            return Answer::without_response(Status::new(Code::FailedPrecondition, text));
        }
        let (tell, hear) = mpsc::sync_channel(1);
        self.call(call, move |answer| drop(tell.send(answer)));
        hear.recv().unwrap_or_else(|_| {
            let status = Status::new(Code::Unavailable, "the channel has ended");
            Answer::without_response(status)
        })
    }

    /// Begins a call whose messages are sent and received one by one, and gives its two halves.
    /// Does not wait: sending and receiving do.
    ///
    /// Both halves keep the channel alive. The call ends as [`Channel::call`] says, and with
    /// `CANCELLED` when either half is dropped before its end. A call that the server says it has
    /// not looked at is made again once, if no more than 64 KiB of it were sent.
    pub fn open(&self, call: StreamCall) -> (Requests, Responses) {
        let stream = Arc::new(StreamState::default());
        let caller = Caller {
            channel: self.clone(),
            stream: Arc::clone(&stream),
        };
        let owner = &self.0;
        let inbox = Inbox::new(owner.max_message_bytes, owner.stream_window_bytes);
        let requests = Requests::new(caller.clone(), call.encoding);
        let responses = Responses::new(caller.clone(), inbox);
        match unsendable(&call.path, &[]).or_else(|| self.refusal()) {
            Some(status) => caller.give_up(status),
            None => self.begin(call, stream),
        }
        (requests, responses)
    }

    fn begin(&self, call: StreamCall, stream: Arc<StreamState>) {
        let head = RequestHead {
            path: call.path,
            metadata: call.metadata,
            encoding: call.encoding,
            waits_for_ready: call.waits_for_ready,
        };
        let work = Work::Stream(OnEnd::new(stream));
        self.post(Pending::new(head, work, due(call.timeout)));
    }

    /// Why no further call may wait for an answer; else it counts from now on.
    fn refusal(&self) -> Option<Status> {
        let gate = &self.0.gate;
        if gate.enter() {
            return None;
        }
        let text = format!("{} calls wait for an answer already", gate.limit());
        Some(Status::new(Code::ResourceExhausted, text))
    }

    fn post(&self, pending: Pending) {
        self.0.mailbox.push(Mail::Call(pending));
        if self.0.gate.is_closed() {
            answer_nobody(&self.0.mailbox);
        }
    }
}

/// When a call is given up, nanoseconds of the driver's clock.
fn due(timeout: Option<Duration>) -> Option<u64> {
    timeout.map(|time| clock_ns() + nanoseconds(time))
}

fn compressed(message: &[u8]) -> Vec<u8> {
    let mut framed = Vec::new();
    append_message(message, Encoding::Gzip, &mut framed);
    framed
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("target", &self.0.target)
            .finish_non_exhaustive()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.waker.stop();
    }
}

/// Why there is no channel.
#[derive(Debug)]
pub enum ChannelError {
    /// The target is none, or nobody knows the host. The user's fault.
    Unresolved(ConnectError),
    /// This machine has no thread or descriptor left.
    Machine(io::Error),
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unresolved(error) => error.fmt(f),
            Self::Machine(error) => write!(f, "cannot start the thread of a channel: {error}"),
        }
    }
}

impl std::error::Error for ChannelError {}

impl From<ConnectError> for ChannelError {
    fn from(error: ConnectError) -> Self {
        Self::Unresolved(error)
    }
}

impl From<io::Error> for ChannelError {
    fn from(error: io::Error) -> Self {
        Self::Machine(error)
    }
}

fn driver_options(options: &ChannelOptions) -> bookend_io::IoOptions {
    bookend_io::IoOptions {
        connect_timeout_ns: nanoseconds(options.connection.connect_timeout),
        backlog_limit_bytes: BACKLOG_LIMIT_BYTES,
        counts_busy_time: false,
        ..bookend_io::IoOptions::default()
    }
}

/// Why a call cannot be sent to any server.
fn unsendable(path: &str, message: &[u8]) -> Option<Status> {
    let text = if !is_path(path) {
        format!("{path:?} is no path of a method: write /package.Service/Method")
    } else if !fits_in_prefix(message) {
        "the message is longer than 4 GiB".to_owned()
    } else {
        return None;
    };
    Some(Status::new(Code::InvalidArgument, text))
}

/// However the thread ends, nobody is left to wait for it.
struct LastWords {
    gate: Arc<Gate>,
    mailbox: Mailbox<Mail>,
}

impl Drop for LastWords {
    fn drop(&mut self) {
        self.gate.close();
        answer_nobody(&self.mailbox);
    }
}

/// Drops calls that came too late; each is told so.
fn answer_nobody(mailbox: &Mailbox<Mail>) {
    let mut late = Vec::new();
    mailbox.drain_into(&mut late);
}
