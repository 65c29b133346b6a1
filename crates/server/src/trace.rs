//! A span of `tracing` for each call.
//!
//! [`Traced`] wraps a service. Each of its calls has a span `grpc` of the level `INFO`, with the
//! service, the method and the peer, which is entered while the handler runs: so what the handler
//! logs belongs to its call. Where nobody subscribes to such spans, that costs a load a call.
//!
//! ```no_run
//! use bookend_server::trace::Traced;
//! use bookend_server::{Server, Service};
//!
//! fn server(service: impl Service) -> bookend_server::ServerBuilder {
//!     Server::builder().add_service(Traced::new(service))
//! }
//! ```

use std::net::SocketAddr;

use tracing::{Span, info_span};

use crate::{
    Context, InlineStream, MethodDescriptor, PoolCall, Reply, RequestDecoder, Service, StreamReply,
};

/// A service whose calls have spans.
#[derive(Clone, Debug)]
pub struct Traced<S>(S);

impl<S: Service> Traced<S> {
    /// Gives each call of `service` a span.
    pub fn new(service: S) -> Self {
        Traced(service)
    }

    fn span(&self, method: usize, peer: Option<SocketAddr>) -> Span {
        let method = self.0.methods().get(method).map_or("", |method| method.name);
        let span =
            info_span!("grpc", service = self.0.name(), method, peer = tracing::field::Empty);
        if let Some(peer) = peer {
            span.record("peer", tracing::field::display(peer));
        }
        span
    }
}

impl<S: Service> Service for Traced<S> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        self.0.methods()
    }

    fn descriptors(&self) -> &'static [u8] {
        self.0.descriptors()
    }

    fn codec(&self) -> &'static str {
        self.0.codec()
    }

    fn decoder(&self, method: usize) -> Option<RequestDecoder> {
        self.0.decoder(method)
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        let _entered = self.span(method, context.peer_address()).entered();
        self.0.call(method, request, context, reply);
    }

    fn work(&self, method: usize, call: PoolCall) {
        let _entered = self.span(method, call.context().peer_address()).entered();
        self.0.work(method, call);
    }

    fn open(&self, method: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        let span = self.span(method, context.peer_address());
        let stream = span.in_scope(|| self.0.open(method, context))?;
        Some(Box::new(TracedStream { stream, span }))
    }
}

/// A stream whose handler runs within its span.
struct TracedStream {
    stream: Box<dyn InlineStream>,
    span: Span,
}

impl InlineStream for TracedStream {
    fn decoder(&self) -> Option<RequestDecoder> {
        self.stream.decoder()
    }

    fn held_bytes(&self) -> usize {
        self.stream.held_bytes()
    }

    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        let _entered = self.span.enter();
        self.stream.on_message(message, replies);
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        let _entered = self.span.enter();
        self.stream.on_end(replies);
    }

    fn on_ready(&mut self, replies: &mut StreamReply<'_>) {
        let _entered = self.span.enter();
        self.stream.on_ready(replies);
    }
}
