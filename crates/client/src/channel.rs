//! Calls from any number of threads over one connection.

mod back_off;
mod calls;
mod deadlines;
mod gate;
mod heads;
mod link;
mod on_answer;
mod options;
mod shard;
mod unary_call;

pub use options::ChannelOptions;
pub use unary_call::UnaryCall;

use crate::answer::Answer;
use crate::client::is_path;
use crate::error::ConnectError;
use crate::greeting;
use bookend_io::{Epoll, Mailbox, Waker, clock_ns};
use bookend_wire::grpc::Code;
use calls::{Pending, Place};
use gate::Gate;
use on_answer::OnAnswer;
use options::nanoseconds;
use shard::{ChannelShard, Server};
use std::sync::Arc;
use std::{fmt, io, thread};

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
    mailbox: Mailbox<Pending>,
    waker: Waker,
    gate: Arc<Gate>,
}

impl Channel {
    /// Starts a channel to `host:port`. Does not wait for the connection: calls do.
    ///
    /// The name is resolved once, here; all its addresses are tried in turn.
    ///
    /// # Errors
    /// [`ChannelError`]; not where the server cannot be reached: calls are told that.
    pub fn connect(target: &str, options: ChannelOptions) -> Result<Self, ChannelError> {
        let server = resolve(target)?;
        let waker = Waker::new()?;
        let mailbox = Mailbox::new(waker.clone());
        let gate = Arc::new(Gate::new(options.max_unanswered_calls));
        let channel = Self(Arc::new(Owner {
            target: target.to_owned(),
            mailbox: mailbox.clone(),
            waker: waker.clone(),
            gate: Arc::clone(&gate),
        }));
        let epoll = Epoll::new(waker, driver_options(&options))?;
        let shard = ChannelShard::new(server, options, mailbox.clone(), Arc::clone(&gate));
        let last_words = LastWords { gate, mailbox };
        thread::Builder::new()
            .name("bookend-channel".into())
            .spawn(move || {
                let _last_words = last_words;
                // What the kernel refuses here ends the shard, and its calls are told with it.
                drop(epoll.run(shard));
            })?;
        Ok(channel)
    }

    /// The address as it was given.
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
        if let Some(reason) = unsendable(&call) {
            return on_answer.fail(Code::InvalidArgument, reason);
        }
        let gate = &self.0.gate;
        if !gate.enter() {
            let text = format!("{} calls wait for an answer already", gate.limit());
            return on_answer.fail(Code::ResourceExhausted, text);
        }
        self.0.mailbox.push(Pending {
            deadline_ns: call.timeout.map(|time| clock_ns() + nanoseconds(time)),
            call,
            on_answer,
            place: Place::Waiting,
            refused: false,
        });
        if gate.is_closed() {
            answer_nobody(&self.0.mailbox);
        }
    }
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
    /// The target is not `host:port`, or nobody knows the host. The user's fault.
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

impl From<io::Error> for ChannelError {
    fn from(error: io::Error) -> Self {
        Self::Machine(error)
    }
}

fn resolve(target: &str) -> Result<Server, ChannelError> {
    let addresses = greeting::resolve(target).map_err(ChannelError::Unresolved)?;
    let addresses: Vec<_> = addresses.collect();
    if addresses.is_empty() {
        let nobody = greeting::unresolved(target, "the name has no address");
        return Err(ChannelError::Unresolved(nobody));
    }
    Ok(Server {
        target: target.to_owned(),
        addresses,
        tries: 0,
    })
}

fn driver_options(options: &ChannelOptions) -> bookend_io::Options {
    bookend_io::Options {
        connect_timeout_ns: nanoseconds(options.connection.connect_timeout),
        backlog_limit_bytes: BACKLOG_LIMIT_BYTES,
        counts_busy_time: false,
        ..bookend_io::Options::default()
    }
}

/// Why a call cannot be sent to any server.
fn unsendable(call: &UnaryCall) -> Option<String> {
    if !is_path(&call.path) {
        let path = &call.path;
        return Some(format!(
            "{path:?} is no path of a method: write /package.Service/Method"
        ));
    }
    // The length of a message has four octets.
    let too_long = u32::try_from(call.message.len()).is_err();
    too_long.then(|| "the message is longer than 4 GiB".to_owned())
}

/// However the thread ends, nobody is left to wait for it.
struct LastWords {
    gate: Arc<Gate>,
    mailbox: Mailbox<Pending>,
}

impl Drop for LastWords {
    fn drop(&mut self) {
        self.gate.close();
        answer_nobody(&self.mailbox);
    }
}

/// Drops calls that came too late; each is told so.
fn answer_nobody(mailbox: &Mailbox<Pending>) {
    let mut late = Vec::new();
    mailbox.drain_into(&mut late);
}
