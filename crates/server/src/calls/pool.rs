//! Calls that the pool handles.

use std::sync::Arc;

use bookend_wire::grpc::{Code, Status};
use bookend_wire::{Sender, StreamKey};

use super::Handling;
use super::deadlines::exceeded;
use crate::call::Phase;
use crate::heads::HeadIndex;
use crate::pool::{Channel, Job, PoolCall, PoolFull, PoolSide, Request};
use crate::stream_call::{Machine, StreamCall};
use crate::stream_reply::Progress;

impl Handling<'_> {
    /// Hands a call to the pool whose requests are still to come.
    pub(super) fn open_on_pool(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        deadline_ns: Option<u64>,
    ) {
        if !self.may_wait(sender, stream) {
            return;
        }
        if deadline_ns.is_some_and(|deadline_ns| self.io.now_ns() >= deadline_ns) {
            return self.calls.fail(sender, stream, &exceeded());
        }
        self.hand_to_pool(sender, stream, index, deadline_ns, None);
    }

    /// Hands a call to the pool whose one request is there.
    #[cold]
    pub(super) fn handle_on_pool(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        deadline_ns: Option<u64>,
        message: &[u8],
        was_compressed: bool,
    ) {
        // Others may have begun to wait since its head came.
        if self.may_wait(sender, stream) {
            let request = Request {
                octets: message.to_vec(),
                was_compressed,
            };
            self.hand_to_pool(sender, stream, index, deadline_ns, Some(request));
        }
        self.calls.heads.give_back(index);
    }

    /// With the one request, or without any if there may be more than one.
    fn hand_to_pool(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        index: HeadIndex,
        deadline_ns: Option<u64>,
        request: Option<Request>,
    ) {
        let calls = &mut *self.calls;
        let head = calls.heads.head(index);
        let target = self.router.target(head.route);
        let channel = Channel::new(calls.address.notifier(stream), head.accepts_gzip);
        let channel = Arc::new(channel);
        let side = PoolSide::new(Arc::clone(&channel));
        let is_whole = request.is_some();
        if let Some(request) = request {
            side.hand_over(request);
            side.end_requests();
        }
        let job = Job {
            service: Arc::clone(&target.service),
            method: target.method,
            call: PoolCall::new(channel, head.metadata.clone(), deadline_ns),
        };
        if let Err(PoolFull) = self.pool.submit(job) {
            let text = "as many calls as there is room for are being handled or wait for it";
            let status = Status::new(Code::ResourceExhausted, text);
            return calls.fail(sender, stream, &status);
        }
        let progress = Progress::new(Default::default(), head.accepts_gzip);
        let call = StreamCall::new(Machine::Pool(side), head.encoding, progress);
        let mut call = match is_whole {
            true => call.without_requests(),
            false => call,
        };
        call.charged_bytes = call.unfinished_bytes();
        calls.unfinished_bytes += call.charged_bytes;
        calls.answers.is_put_off();
        calls.call(stream).phase = Phase::Streaming(Box::new(call));
        if calls.unfinished_bytes > self.limits.max_unfinished_bytes {
            calls.make_room(sender, stream, self.limits);
        }
        self.watch(stream);
    }
}
