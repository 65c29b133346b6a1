//! Calls from any number of threads over one connection.

mod back_off;
mod caller;
mod calls;
mod heads;
mod inbox;
mod link;
mod loss;
mod options;
mod requests;
mod resets;
mod responses;
mod server;
mod shard;
mod shared;
mod stream_state;
mod waiting;

pub use caller::Canceller;
pub use inbox::ReceivedMessage;
pub use options::ChannelOptions;
pub use requests::Requests;
pub use responses::Responses;
pub use stream_state::{CallEnd, SendError};

use crate::answer::Answer;
use crate::call::{StreamCall, UnaryCall};
use crate::encoding::{Encoding, append_message, fits_in_prefix};
use crate::error::ConnectError;
#[cfg(doc)]
use crate::targets::Targets;
use bookend_io::tls::Secured;
use bookend_io::{Epoll, Mailbox, Waker, clock_ns};
use bookend_wire::grpc::{Code, Status};
use caller::Caller;
use calls::{Mail, OnAnswer, Pending, RequestHead, Work};
use inbox::Inbox;
use options::nanoseconds;
use server::Server;
use shard::ChannelShard;
use shared::{CallLimit, ChannelShared, ThreadGuard};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{fmt, thread};
use stream_state::{OnEnd, StreamState};
use waiting::{InsideCallback, enter_channel_thread, may_wait};

/// Unwritten output beyond which the server's bytes are not read. No calls are sent long before
/// that: only the rest of large messages gets here, and reading on keeps two ends that both write
/// from waiting for each other.
const BACKLOG_LIMIT_BYTES: usize = 64 << 20;

/// A server that can be called from any thread, any number of calls at a time.
///
/// One thread and one connection serve all clones. The connection is made at once and again
/// whenever it is lost. When the last clone is dropped, the thread ends.
#[derive(Clone)]
pub struct Channel(Arc<ChannelShared>);

impl Channel {
    /// Starts a channel to `host:port`, or whatever else a [`TargetName`](crate::TargetName) can
    /// be, also several with commas between them. Does not wait for the connection: calls do.
    ///
    /// All addresses are tried in turn, and each connection goes to the next one. Names are
    /// resolved here, and again when an address cannot be reached: see [`Targets::lost`].
    ///
    /// # Errors
    /// [`ConnectError::Unresolved`] and [`ConnectError::Machine`], and
    /// [`ConnectError::Unreachable`] where the certificate of no server could be for the target.
    /// A server that cannot be reached is no error here: its calls end with that.
    pub fn connect(target: &str, options: ChannelOptions) -> Result<Self, ConnectError> {
        let server = Server::find(target)?;
        let connectors = options.connectors(server.names())?;
        let waker = Waker::new()?;
        let mailbox = Mailbox::new(waker.clone());
        let limit = Arc::new(CallLimit::new(options.max_unanswered_calls));
        let guard = ThreadGuard {
            mailbox: mailbox.clone(),
            limit: Arc::clone(&limit),
        };
        let epoll = Epoll::new(waker.clone(), driver_options(&options))?;
        let shared =
            ChannelShared::new(target, &options, waker, mailbox.clone(), Arc::clone(&limit));
        let shard = ChannelShard::new(server, options, mailbox, limit);
        let run = move || {
            let _guard = guard;
            enter_channel_thread();
            // An error of the kernel ends the shard, and its calls with it.
            match connectors {
                None => drop(epoll.run(shard)),
                Some(connectors) => {
                    let which = ChannelShard::name_number;
                    drop(epoll.run(Secured::connecting_each(shard, connectors, which)));
                }
            }
        };
        let thread = thread::Builder::new().name("bookend-channel".into());
        thread.spawn(run)?;
        Ok(Self(Arc::new(shared)))
    }

    /// The target as it was given.
    pub fn target(&self) -> &str {
        &self.0.target
    }

    /// Waits until there is a connection whose server has sent its SETTINGS. Calls need not do so:
    /// they wait by themselves. Not inside a callback.
    ///
    /// # Errors
    /// Why none could be made, once every address was tried. The channel tries on.
    pub fn wait_for_connection(&self) -> Result<(), ConnectError> {
        may_wait().map_err(|InsideCallback| ConnectError::InsideCallback)?;
        let (waiter, connected) = mpsc::sync_channel(1);
        self.0.post(Mail::AwaitConnection(waiter));
        connected.recv().unwrap_or(Err(ConnectError::ChannelEnded))
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
        let sendable = check_sendable(&call.path, &call.message);
        if let Err(status) = sendable.and_then(|()| self.0.admit()) {
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
        self.0.call(Pending::new(head, work, due(call.timeout)));
    }

    /// Makes a call and waits for its answer, from any thread and any number of threads. Not inside
    /// a callback, which would wait for itself: that is answered with `FAILED_PRECONDITION`.
    ///
    /// It ends as [`Channel::call`] says.
    pub fn unary(&self, call: UnaryCall) -> Answer {
        if may_wait().is_err() {
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
            channel: Arc::clone(&self.0),
            stream: Arc::clone(&stream),
        };
        let inbox = Inbox::new(self.0.max_message_bytes, self.0.stream_window_bytes);
        let requests = Requests::new(caller.clone(), call.encoding);
        let responses = Responses::new(caller.clone(), inbox);
        match check_sendable(&call.path, &[]).and_then(|()| self.0.admit()) {
            Ok(()) => self.begin(call, stream),
            Err(status) => caller.give_up(status),
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
        self.0.call(Pending::new(head, work, due(call.timeout)));
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

fn driver_options(options: &ChannelOptions) -> bookend_io::IoOptions {
    bookend_io::IoOptions {
        connect_timeout_ns: nanoseconds(options.connect_timeout),
        backlog_limit_bytes: BACKLOG_LIMIT_BYTES,
        counts_busy_time: false,
        ..bookend_io::IoOptions::default()
    }
}

/// # Errors
/// The status of a call that cannot be sent to any server.
fn check_sendable(path: &str, message: &[u8]) -> Result<(), Status> {
    let is_path = path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic());
    let text = if !is_path {
        format!("{path:?} is not the path of a method: write /package.Service/Method")
    } else if !fits_in_prefix(message) {
        "the message is longer than 4 GiB".to_owned()
    } else {
        return Ok(());
    };
    Err(Status::new(Code::InvalidArgument, text))
}
