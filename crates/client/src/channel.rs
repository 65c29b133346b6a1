//! Calls from any number of threads over one connection.

mod address_picker;
mod backoff;
mod call_handle;
mod call_key;
mod call_limit;
mod connection;
mod loss;
mod message_reader;
mod options;
mod pending_call;
mod pending_calls;
mod request_heads;
mod requests;
mod responses;
mod shard;
mod shared;
mod shared_stream;
mod waiting;

pub use call_handle::Canceller;
pub use message_reader::ReceivedMessage;
pub use options::ChannelOptions;
pub use requests::Requests;
pub use responses::Responses;
pub use shared_stream::{CallEnd, SendError};

use crate::call::{StreamCall, UnaryCall};
use crate::compression::{fits_in_prefix, framed};
use crate::error::ConnectError;
use crate::response::Response;
#[cfg(doc)]
use crate::targets::Targets;
use address_picker::AddressPicker;
use bookend_io::tls::Secured;
use bookend_io::{Epoll, Mailbox, Waker, clock_ns};
use bookend_wire::grpc::{Code, Encoding, Status};
use call_handle::CallHandle;
use call_limit::CallLimit;
use message_reader::MessageReader;
use options::nanoseconds;
use pending_call::{
    CallKind, ChannelCommand, PendingCall, ResponseCallback, StreamGuard, channel_ended,
};
use shard::ChannelShard;
use shared::{ChannelShared, ThreadGuard};
use shared_stream::SharedStream;
use std::sync::{Arc, mpsc};
use std::{fmt, thread};
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
    /// resolved here, and again when an address cannot be reached: see
    /// [`Targets::report_unreachable`].
    ///
    /// # Errors
    /// [`ConnectError::Unresolved`] and [`ConnectError::Machine`], and
    /// [`ConnectError::Unreachable`] where the certificate of no server could be for the target.
    /// A server that cannot be reached is no error here: its calls end with that.
    pub fn connect(target: &str, options: ChannelOptions) -> Result<Self, ConnectError> {
        let addresses = AddressPicker::find(target)?;
        let connectors = options.connectors(addresses.names())?;
        let waker = Waker::new()?;
        let mailbox = Mailbox::new(waker.clone());
        let limit = Arc::new(CallLimit::new(options.max_pending_calls));
        let guard = ThreadGuard { mailbox: mailbox.clone(), limit: Arc::clone(&limit) };
        let epoll = Epoll::new(waker.clone(), driver_options(&options))?;
        let shared = ChannelShared {
            target: target.to_owned(),
            max_message_bytes: options.max_message_bytes,
            stream_window_bytes: options.http2.settings.initial_window_bytes,
            mailbox: mailbox.clone(),
            waker,
            limit: Arc::clone(&limit),
        };
        let shard = ChannelShard::new(addresses, options, mailbox, limit);
        let run = move || {
            let _guard = guard;
            enter_channel_thread();
            // An error of the kernel ends the shard, and its calls with it.
            match connectors {
                None => drop(epoll.run(shard)),
                Some(connectors) => {
                    let which = ChannelShard::name_index;
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

    /// Waits until there is a connection whose server has sent its SETTINGS. Calls need no such
    /// wait: they wait by themselves. Must not be used inside a callback.
    ///
    /// # Errors
    /// Why none could be made, once every address was tried. The channel tries on.
    pub fn wait_for_connection(&self) -> Result<(), ConnectError> {
        may_wait().map_err(|InsideCallback| ConnectError::InsideCallback)?;
        let (waiter, connected) = mpsc::sync_channel(1);
        self.0.post(ChannelCommand::AwaitConnection(waiter));
        connected.recv().unwrap_or(Err(ConnectError::ChannelEnded))
    }

    /// Makes a call. `on_response` is called exactly once, whatever happens.
    ///
    /// It runs on the channel's thread, which does nothing else meanwhile, so it must not block. It
    /// may make calls. A panic in it ends no other call. Only a call that is refused at once
    /// (`INVALID_ARGUMENT` for a path or message that cannot be sent, `RESOURCE_EXHAUSTED` beyond
    /// [`ChannelOptions::max_pending_calls`]) has its callback called on the calling thread, before
    /// this returns.
    ///
    /// Besides the statuses of servers, a call may end with
    /// - `DEADLINE_EXCEEDED` when [`UnaryCall::timeout`] has passed; its stream is reset;
    /// - `UNAVAILABLE` when the server cannot be reached, or the connection was lost before the
    ///   response: the server may or may not have processed the call. A call that the server says
    ///   it has not processed is first sent once more;
    /// - `CANCELLED` when the last clone of the channel is dropped.
    pub fn call(&self, call: UnaryCall, on_response: impl FnOnce(Response) + Send + 'static) {
        let callback = ResponseCallback::new(on_response);
        let sendable = check_sendable(&call.path, &call.message);
        if let Err(status) = sendable.and_then(|()| self.0.admit()) {
            return callback.call(Response::without_messages(status));
        }
        let UnaryCall { path, metadata, message, timeout, waits_for_ready, encoding } = call;
        let message = match encoding {
            Encoding::Identity => message,
            Encoding::Gzip => framed(&message, encoding),
        };
        let head = StreamCall { path, metadata, timeout, waits_for_ready, encoding };
        self.begin(head, CallKind::Unary(message, callback));
    }

    /// Makes a call and waits for its response, from any thread and any number of threads. Inside a
    /// callback, which would wait for itself, the call ends with `FAILED_PRECONDITION`.
    ///
    /// Otherwise it ends as [`Channel::call`] says.
    pub fn unary(&self, call: UnaryCall) -> Response {
        if may_wait().is_err() {
            let text = "a callback of a channel must not wait for an answer: use Channel::call";
            return Response::without_messages(Status::new(Code::FailedPrecondition, text));
        }
        let (sender, receiver) = mpsc::sync_channel(1);
        self.call(call, move |response| drop(sender.send(response)));
        receiver.recv().unwrap_or_else(|_| Response::without_messages(channel_ended()))
    }

    /// Begins a call whose messages are sent and received one by one, and gives its two halves.
    /// Does not wait: sending and receiving do.
    ///
    /// Both halves keep the channel alive. The call ends as [`Channel::call`] says, and with
    /// `CANCELLED` when either half is dropped before its end. A call that the server says it has
    /// not processed is sent once more, if no more than 64 KiB of it were sent.
    pub fn open(&self, call: StreamCall) -> (Requests, Responses) {
        let stream = Arc::new(SharedStream::default());
        let handle = CallHandle { channel: Arc::clone(&self.0), stream: Arc::clone(&stream) };
        let reader = MessageReader::new(self.0.max_message_bytes, self.0.stream_window_bytes);
        let requests = Requests::new(handle.clone(), call.encoding);
        let responses = Responses::new(handle.clone(), reader);
        match check_sendable(&call.path, &[]).and_then(|()| self.0.admit()) {
            Ok(()) => self.begin(call, CallKind::Stream(StreamGuard(stream))),
            Err(status) => handle.give_up(status),
        }
        (requests, responses)
    }

    fn begin(&self, head: StreamCall, kind: CallKind) {
        let deadline_ns = head.timeout.map(|timeout| clock_ns() + nanoseconds(timeout));
        self.0.post(ChannelCommand::Call(PendingCall::new(head, kind, deadline_ns)));
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("target", &self.0.target).finish_non_exhaustive()
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
