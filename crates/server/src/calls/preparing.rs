//! Requests that are too large for the thread that reads them.

use bookend_wire::grpc::Status;
use bookend_wire::{Sender, StreamKey};

use super::call::CallPhase;
use super::visitor::{RequestVisitor, UnaryRequest};
use crate::head_cache::HeadIndex;
use crate::kept::Kept;
use crate::large_request::{LargeRequest, PreparationResult, PreparedRequest, RequestDecoder};
use crate::method::HandlerKind;

impl RequestVisitor<'_> {
    /// What decodes the requests of that method, unless its handler does so on the pool.
    pub(super) fn decoder(&self, head: HeadIndex) -> Option<RequestDecoder> {
        let route = self.calls.heads.head(head).route;
        let method = self.environment.router.method(route);
        match route.kind {
            HandlerKind::Inline | HandlerKind::Deferred => method.service.decoder(method.number),
            HandlerKind::Stream | HandlerKind::Pool | HandlerKind::PoolStream => None,
        }
    }

    /// Hands the request of a call to another thread.
    #[cold]
    pub(super) fn prepare(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        head: HeadIndex,
        request: LargeRequest,
    ) {
        let calls = &mut *self.calls;
        // It counts as a handler that runs, also if its stream is reset.
        calls.call(stream).head = Some(head);
        if !self.admit_handler(sender, stream) {
            return;
        }
        let calls = &mut *self.calls;
        let notifier = calls.origin.reply_to.notifier(stream);
        let preparation = calls.origin.preparation.begin(request, notifier);
        calls.responses.count_deferred();
        calls.kept.replace(Kept::default(), Kept::exactly(preparation.bytes));
        calls.call(stream).phase = CallPhase::Preparing(preparation);
    }

    /// A large request is ready, or has failed.
    #[cold]
    pub fn prepared(&mut self, sender: &mut Sender, stream: StreamKey, result: PreparationResult) {
        self.calls.responses.outstanding -= 1;
        // Also if the call is over by now.
        let result = result.map_err(|error| error.charged(sender));
        if !self.calls.has(stream) {
            return;
        }
        let call = self.calls.call(stream);
        match call.phase {
            CallPhase::Streaming(_) => {
                self.step_stream(sender, stream, |call, writer, limit_bytes| {
                    call.prepared(writer, result, limit_bytes);
                });
            }
            CallPhase::Preparing(_) => {
                let (head, deadline_ns) = (call.head.take(), call.deadline_ns);
                let CallPhase::Preparing(preparation) = self.calls.leave(stream) else { return };
                let Some(head) = head else { return };
                let was_compressed = preparation.was_compressed;
                let request =
                    UnaryRequest { stream, head, deadline_ns, was_compressed, message: &[] };
                self.handle_prepared(sender, request, result);
            }
            _ => {}
        }
    }

    fn handle_prepared(
        &mut self,
        sender: &mut Sender,
        request: UnaryRequest<'_>,
        result: Result<PreparedRequest, Status>,
    ) {
        match result {
            Ok(PreparedRequest::Message(message)) => {
                self.handle(sender, UnaryRequest { message: &message, ..request });
            }
            Ok(PreparedRequest::Decoded(decoded)) => {
                self.calls.responses.decoded = Some(decoded);
                self.handle(sender, request);
                self.calls.responses.decoded = None;
            }
            Err(status) => {
                self.calls.heads.release(request.head);
                self.calls.responses.fail(sender, request.stream, &status);
            }
        }
    }
}
