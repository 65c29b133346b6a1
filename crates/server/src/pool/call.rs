use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bookend_io::clock_ns;
use bookend_wire::grpc::{Code, Status};

use super::channel::Channel;
use crate::reply::internal;
use crate::response_metadata::ResponseFields;
use bookend_wire::grpc::{Metadata, MetadataError};

/// One call, on the thread that handles it: [`crate::Service::work`].
///
/// Generated code and [`crate::codec`] turn it into what a handler gets. A call that is dropped
/// before [`PoolCall::finish`] ends with `INTERNAL`.
pub struct PoolCall {
    context: CallContext,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Queued,
    /// The handler has it.
    Begun,
    Finished,
}

/// What a handler on the pool can know about its call, and add to its answer.
///
/// The requests and replies of a call may be moved to other threads; this one stays.
pub struct CallContext {
    channel: Arc<Channel>,
    metadata: Metadata,
    deadline_ns: Option<u64>,
}

/// The call is over: given up by its client, past its deadline, its connection lost, or ended.
/// There is nothing left to do for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallOver;

impl PoolCall {
    pub(crate) fn new(channel: Arc<Channel>, metadata: Metadata, deadline_ns: Option<u64>) -> Self {
        PoolCall {
            context: CallContext {
                channel,
                metadata,
                deadline_ns,
            },
            progress: Progress::Queued,
        }
    }

    /// What is known about the call.
    pub fn context(&self) -> &CallContext {
        &self.context
    }

    /// The next request; waits until it has come. `None` once the client sends no more.
    ///
    /// # Errors
    /// When the call is over.
    pub fn next_request(&self) -> Result<Option<Vec<u8>>, CallOver> {
        let request = self.context.channel.next_request()?;
        Ok(request.map(|request| request.octets))
    }

    /// Sends a reply; waits until there is room for it.
    ///
    /// # Errors
    /// When the call is over.
    pub fn send(&self, message: Vec<u8>) -> Result<(), CallOver> {
        self.context.channel.send(message)
    }

    /// Ends the call. A status `OK` as an error is a mistake and sent as `INTERNAL`.
    pub fn finish(mut self, result: Result<(), Status>) {
        self.progress = Progress::Finished;
        let result = result.map_err(|status| match status.code {
            Code::Ok => internal("the handler failed with the status OK"),
            _ => status,
        });
        let late = self.is_over();
        self.context.channel.finish(result, late, false);
    }

    /// Ends the call because the service has no method of that number.
    pub fn no_such_method(self) {
        self.finish(Err(Status::new(Code::Unimplemented, "unknown method")));
    }

    pub(crate) fn channel(&self) -> &Arc<Channel> {
        &self.context.channel
    }

    pub(crate) fn is_over(&self) -> bool {
        self.context.channel.is_over()
    }

    pub(crate) fn begin(mut self) -> Self {
        self.progress = Progress::Begun;
        self
    }

    /// Takes back a call that its shard does not count on.
    pub(crate) fn withdraw(mut self) {
        self.progress = Progress::Finished;
    }
}

impl Drop for PoolCall {
    fn drop(&mut self) {
        if self.progress == Progress::Finished {
            return;
        }
        // A call that was given up before a handler had it misses nobody's answer.
        let late = self.progress == Progress::Begun && self.is_over();
        let panicked = thread::panicking();
        let why = match panicked {
            true => "the handler panicked",
            false => "the handler dropped the call",
        };
        let channel = &self.context.channel;
        channel.finish(Err(internal(why)), late, panicked);
    }
}

impl CallContext {
    /// The metadata that came with the request.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The time that the client still waits for the answer, as it stands now; `None` if it waits
    /// for ever.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline_ns = self.deadline_ns?;
        Some(Duration::from_nanos(deadline_ns.saturating_sub(clock_ns())))
    }

    /// Does nothing for so long, or until the call is over.
    ///
    /// # Errors
    /// When the call is over.
    pub fn sleep(&self, duration: Duration) -> Result<(), CallOver> {
        self.channel.sleep(duration)
    }

    /// Whether nobody waits for the answer any more: for work that neither takes requests nor sends
    /// replies, both of which tell.
    pub fn is_cancelled(&self) -> bool {
        self.channel.is_over()
    }

    /// Whether the request that was handed out last came compressed.
    pub fn request_was_compressed(&self) -> bool {
        self.channel.request_was_compressed()
    }

    /// Sends the replies compressed, if the client accepts that. It has to be asked for before the
    /// first reply; [`crate::ReplySender::compress`] switches it between any two.
    pub fn compress_replies(&self) {
        self.channel.compress(true);
    }

    /// Adds metadata that goes before the first reply; as [`crate::Context::add_header`].
    pub fn add_header(&self, name: &str, value: &[u8]) {
        self.change(|fields| fields.headers.push(name, value));
    }

    /// As [`CallContext::add_header`], with any bytes; `name` ends in `-bin`.
    pub fn add_binary_header(&self, name: &str, bytes: &[u8]) {
        self.change(|fields| fields.headers.push_binary(name, bytes));
    }

    /// Adds metadata that goes behind the replies, beside the status; as
    /// [`crate::Context::add_header`].
    pub fn add_trailer(&self, name: &str, value: &[u8]) {
        self.change(|fields| fields.trailers.push(name, value));
    }

    /// As [`CallContext::add_trailer`], with any bytes; `name` ends in `-bin`.
    pub fn add_binary_trailer(&self, name: &str, bytes: &[u8]) {
        self.change(|fields| fields.trailers.push_binary(name, bytes));
    }

    fn change(&self, change: impl FnOnce(&mut ResponseFields) -> Result<(), MetadataError>) {
        self.channel.change_fields(|fields| {
            if let Err(mistake) = change(fields) {
                fields.mistake = Some(mistake.to_string());
            }
        });
    }
}

impl fmt::Display for CallOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call is over")
    }
}

impl std::error::Error for CallOver {}

impl From<CallOver> for Status {
    /// `CANCELLED`; there is nobody left to read it.
    fn from(over: CallOver) -> Self {
        Status::new(Code::Cancelled, over.to_string())
    }
}
