//! A call as its handler on the pool sees it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bookend_io::{Peer, clock_ns};
use bookend_wire::grpc::{Metadata, MetadataError, Status};

use super::channel::{CallOver, PoolChannel};
use crate::response_metadata::ResponseFields;
use crate::status;

/// One call, on the thread that handles it: [`crate::Service::work`].
///
/// Generated code and [`crate::codec`] turn it into what a handler gets. A call that is dropped
/// before [`PoolCall::finish`] ends with `INTERNAL`.
pub struct PoolCall {
    context: PoolContext,
    state: PoolCallState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolCallState {
    Queued,
    /// The handler has it.
    Begun,
    Finished,
}

/// What a handler on the pool can learn about its call, and add to its response.
///
/// The requests and replies of a call may be moved to other threads; its context may not.
pub struct PoolContext {
    channel: Arc<PoolChannel>,
    metadata: Metadata,
    peer: Arc<Peer>,
    deadline_ns: Option<u64>,
}

impl PoolCall {
    pub(crate) fn new(
        channel: Arc<PoolChannel>,
        metadata: Metadata,
        peer: Arc<Peer>,
        deadline_ns: Option<u64>,
    ) -> Self {
        PoolCall {
            context: PoolContext { channel, metadata, peer, deadline_ns },
            state: PoolCallState::Queued,
        }
    }

    /// What is known about the call.
    pub fn context(&self) -> &PoolContext {
        &self.context
    }

    /// The next request; waits until it has come. `None` once the client sends no more.
    ///
    /// # Errors
    /// When the call is over.
    pub fn next_request(&self) -> Result<Option<Vec<u8>>, CallOver> {
        let request = self.context.channel.next_request()?;
        Ok(request.map(|request| request.bytes))
    }

    /// Sends a reply; waits until there is room for it.
    ///
    /// # Errors
    /// When the call is over.
    pub fn send(&self, message: Vec<u8>) -> Result<(), CallOver> {
        self.context.channel.send(message)
    }

    /// Ends the call. The status `OK` as an error is a mistake and is sent as `INTERNAL`.
    pub fn finish(mut self, result: Result<(), Status>) {
        self.state = PoolCallState::Finished;
        let late = self.is_over();
        self.context.channel.finish(result.map_err(status::of_handler), late, false);
    }

    /// Ends the call because the service has no method of that number.
    pub fn no_such_method(self) {
        self.finish(Err(status::unknown_method()));
    }

    pub(crate) fn channel(&self) -> &Arc<PoolChannel> {
        &self.context.channel
    }

    pub(crate) fn is_over(&self) -> bool {
        self.context.channel.is_over()
    }

    pub(crate) fn begin(mut self) -> Self {
        self.state = PoolCallState::Begun;
        self
    }

    /// Takes back a call that was not submitted.
    pub(crate) fn withdraw(mut self) {
        self.state = PoolCallState::Finished;
    }
}

impl Drop for PoolCall {
    fn drop(&mut self) {
        if self.state == PoolCallState::Finished {
            return;
        }
        // A call that was cancelled before its handler began was not waiting for an answer.
        let late = self.state == PoolCallState::Begun && self.is_over();
        let panicked = thread::panicking();
        let status =
            if panicked { status::handler_panicked() } else { status::handler_dropped_call() };
        self.context.channel.finish(Err(status), late, panicked);
    }
}

impl PoolContext {
    /// The metadata that came with the request.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Where the client's connection comes from: see [`crate::Context::peer_address`].
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.peer.address
    }

    /// The certificates of the client: see [`crate::Context::client_certificates`].
    pub fn client_certificates(&self) -> &[Box<[u8]>] {
        &self.peer.certificates
    }

    /// The time left until the call's deadline; `None` if it has none.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline_ns = self.deadline_ns?;
        Some(Duration::from_nanos(deadline_ns.saturating_sub(clock_ns())))
    }

    /// Sleeps for `duration`, or until the call is over. It may end while others need its thread:
    /// see [`PoolLimits::client_wait`](crate::PoolLimits::client_wait).
    ///
    /// # Errors
    /// When the call is over.
    pub fn sleep(&self, duration: Duration) -> Result<(), CallOver> {
        self.channel.sleep(duration)
    }

    /// Whether the call is over: for work that neither takes requests nor sends replies, both of
    /// which fail then.
    pub fn is_cancelled(&self) -> bool {
        self.channel.is_over()
    }

    /// Whether the request that was taken last came compressed.
    pub fn request_was_compressed(&self) -> bool {
        self.channel.request_was_compressed()
    }

    /// Sends the replies compressed, if the client accepts that. Must be called before the first
    /// reply; [`crate::ReplySender::compress`] switches compression between any two.
    pub fn compress_replies(&self) {
        self.channel.compress(true);
    }

    /// Adds metadata to the response's head: see [`crate::Context::add_header`].
    pub fn add_header(&self, name: &str, value: &[u8]) {
        self.change(|fields| fields.headers.push_to_response(name, value));
    }

    /// Adds binary metadata to the response's head; `name` ends in `-bin`.
    pub fn add_binary_header(&self, name: &str, bytes: &[u8]) {
        self.change(|fields| fields.headers.push_binary(name, bytes));
    }

    /// Adds metadata to the trailers, next to the status: see [`crate::Context::add_header`].
    pub fn add_trailer(&self, name: &str, value: &[u8]) {
        self.change(|fields| fields.trailers.push_to_response(name, value));
    }

    /// Adds binary metadata to the trailers; `name` ends in `-bin`.
    pub fn add_binary_trailer(&self, name: &str, bytes: &[u8]) {
        self.change(|fields| fields.trailers.push_binary(name, bytes));
    }

    fn change(&self, change: impl FnOnce(&mut ResponseFields) -> Result<(), MetadataError>) {
        self.channel.change_fields(|fields| fields.apply(change));
    }
}
