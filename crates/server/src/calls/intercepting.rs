//! Calls that interceptors look at before their handlers begin, and requests that are not gRPC.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bookend_wire::grpc::Status;
use bookend_wire::{HeaderList, Sender, StreamKey};

use super::visitor::RequestVisitor;
use crate::Context;
use crate::head_cache::HeadIndex;
use crate::page::HttpPage;
use crate::rejection::{HttpStatus, RequestRejection};
use crate::status;

impl RequestVisitor<'_> {
    /// Whether the handler of a call may begin. What the interceptors add to the response stays
    /// where the handler's own additions go.
    ///
    /// # Errors
    /// The status of the first interceptor that objects.
    #[cold]
    pub(super) fn intercept(
        &mut self,
        stream: StreamKey,
        head: HeadIndex,
        deadline_ns: Option<u64>,
        compressed: bool,
    ) -> Result<(), Status> {
        let head = self.calls.heads.head(head);
        let context = Context {
            head,
            path: &self.environment.router.method(head.route).path,
            compressed,
            response: &self.calls.metadata,
            deadline_ns,
            now_ns: deadline_ns.map_or(0, |_| self.environment.io.now_ns()),
            connection: &self.calls.origin,
            stream,
        };
        let interceptors = self.environment.interceptors;
        let ask = || interceptors.iter().try_for_each(|each| each.intercept(&context));
        match catch_unwind(AssertUnwindSafe(ask)) {
            Ok(result) => result.map_err(status::of_handler),
            Err(_) => {
                self.calls.panics += 1;
                Err(status::handler_panicked())
            }
        }
    }

    /// Ends a call to which an interceptor objects, with what was added to its response.
    #[cold]
    pub(super) fn refuse(&mut self, sender: &mut Sender, stream: StreamKey, status: &Status) {
        self.calls.leave(stream);
        let fields = self.calls.metadata.take();
        let responses = &mut self.calls.responses;
        match fields.checked() {
            Ok(fields) => {
                responses.trailers_only(sender, stream, HttpStatus::OK, &fields, status);
            }
            Err(mistake) => responses.fail(sender, stream, &mistake),
        }
    }

    /// Answers a request of which the head alone is enough: with a page, if it is not gRPC and
    /// there is one.
    #[cold]
    pub(super) fn reject(
        &mut self,
        sender: &mut Sender,
        stream: StreamKey,
        fields: &HeaderList,
        rejection: &RequestRejection,
    ) {
        let is_plain = rejection.http_status != HttpStatus::OK;
        match self.page(fields).filter(|_| is_plain) {
            Some(page) => {
                let is_head = fields.find(b":method") == Some(b"HEAD");
                self.calls.responses.page(sender, stream, &page, is_head);
            }
            None => self.calls.responses.reject(sender, stream, rejection),
        }
    }

    /// The page of that path, or the one for all paths.
    fn page(&mut self, fields: &HeaderList) -> Option<HttpPage> {
        let router = self.environment.router;
        let is_read = matches!(fields.find(b":method"), Some(b"GET" | b"HEAD"));
        let path = fields.find(b":path").unwrap_or_default();
        let Some(make) = router.page(path).filter(|_| is_read) else {
            return router.fallback_page().map(HttpPage::text);
        };
        let made = catch_unwind(AssertUnwindSafe(make));
        self.calls.panics += u64::from(made.is_err());
        Some(made.unwrap_or_else(|_| HttpPage::text("the page could not be made").with_status(500)))
    }
}
