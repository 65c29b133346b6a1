//! Calls whose handler runs on the pool.

use std::sync::Arc;

use bookend_wire::{Sender, StreamKey};

use super::call::CallPhase;
use super::visitor::{RequestVisitor, UnaryRequest};
use crate::head_cache::HeadIndex;
use crate::pool::clients::PoolFull;
use crate::pool::{PoolCall, PoolChannel, PoolJob, PoolMessage, ShardEnd};
use crate::status;
use crate::stream_reply::ResponseState;
use crate::streaming_call::{CallHandler, StreamingCall};

impl RequestVisitor<'_> {
    /// Submits a call whose requests are still to come.
    pub(super) fn open_on_pool(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        head: HeadIndex,
        deadline_ns: Option<u64>,
    ) {
        if !self.admit_handler(sender, stream) {
            return;
        }
        if deadline_ns.is_some_and(|deadline_ns| self.environment.io.now_ns() >= deadline_ns) {
            return self.calls.fail(sender, stream, &status::deadline_exceeded());
        }
        if !self.environment.interceptors.is_empty()
            && let Err(status) = self.intercept(stream, head, deadline_ns, false)
        {
            return self.refuse(sender, stream, &status);
        }
        self.submit(sender, stream, head, deadline_ns, None);
    }

    /// Submits a call whose one request is there.
    #[cold]
    pub(super) fn handle_on_pool(&mut self, sender: &mut Sender, request: UnaryRequest<'_>) {
        let UnaryRequest { stream, head, deadline_ns, was_compressed, .. } = request;
        // Other handlers may have begun since its head came.
        let is_admitted = self.admit_handler(sender, stream);
        if is_admitted
            && !self.environment.interceptors.is_empty()
            && let Err(status) = self.intercept(stream, head, deadline_ns, was_compressed)
        {
            self.refuse(sender, stream, &status);
        } else if is_admitted {
            let message =
                PoolMessage { bytes: request.message.to_vec(), compressed: request.was_compressed };
            self.submit(sender, stream, head, request.deadline_ns, Some(message));
        }
        self.calls.heads.release(head);
    }

    /// With the one request, or without any if there may be more than one.
    fn submit(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        head: HeadIndex,
        deadline_ns: Option<u64>,
        request: Option<PoolMessage>,
    ) {
        let calls = &mut *self.calls;
        let head = calls.heads.head(head);
        let method = self.environment.router.method(head.route);
        let notifier = calls.origin.reply_to.notifier(stream);
        let channel = PoolChannel::new(notifier, head.accepts_gzip, calls.metadata.take());
        let channel = Arc::new(channel);
        let shard_end = ShardEnd::new(Arc::clone(&channel));
        let is_whole = request.is_some();
        if let Some(request) = request {
            channel.push_request(request);
            channel.end_requests();
        }
        let peer = Arc::clone(&calls.origin.peer);
        let job = PoolJob {
            service: Arc::clone(&method.service),
            method: method.number,
            call: PoolCall::new(channel, head.metadata.clone(), peer, deadline_ns),
        };
        if let Err(PoolFull) = self.environment.pool.submit(job) {
            return calls.fail(sender, stream, &status::pool_full());
        }
        let response = ResponseState::new(Default::default(), head.accepts_gzip);
        let handler = CallHandler::Pool(Box::new(shard_end));
        let mut call = StreamingCall::new(handler, head.encoding, response);
        if is_whole {
            call.expect_no_requests();
        }
        call.charge(&mut calls.kept);
        calls.responses.count_deferred();
        calls.call(stream).phase = CallPhase::Streaming(Box::new(call));
        if calls.kept.unfinished_bytes > self.environment.limits.max_unfinished_bytes {
            calls.make_room(sender, stream, self.environment.limits);
        }
        self.watch_deadline(stream);
    }
}
