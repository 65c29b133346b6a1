//! A service that sends requests back, for tests of clients.

use bookend_server::{Context, HandlerKind, MethodDescriptor, Reply, Service};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The path of its one method.
pub const ECHO: &str = "/test.Echo/Echo";

/// The service, and what it has done. A clone is the same one.
#[derive(Clone, Default)]
pub struct Echo {
    /// Calls that have come.
    pub calls: Arc<AtomicU64>,
    /// Whether one has.
    pub was_called: Arc<AtomicBool>,
}

impl Service for Echo {
    fn name(&self) -> &'static str {
        "test.Echo"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[
            MethodDescriptor { name: "Echo", kind: HandlerKind::Inline },
            // Answers with the client's own certificate.
            MethodDescriptor { name: "Certificate", kind: HandlerKind::Inline },
        ]
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.was_called.store(true, Ordering::Relaxed);
        let certificate = context.client_certificates().first();
        let answer = certificate.filter(|_| method == 1).map_or(request, |shown| shown);
        reply.message(|output| output.extend_from_slice(answer));
    }
}
