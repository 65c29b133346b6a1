//! A service that counts what its handlers are given, in every kind of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bookend_server::{
    Context, HandlerKind, InlineStream, MethodDescriptor, PoolCall, RawResponder, Reply, Service,
};

use crate::chat::Chat;

pub const INLINE: &str = "/graceful.Testing/Inline";
/// Answers when it is let.
pub const DEFERRED: &str = "/graceful.Testing/Deferred";
/// Echoes each message of a stream.
pub const STREAM: &str = "/graceful.Testing/Stream";
/// Answers from a thread of the pool.
pub const POOL: &str = "/graceful.Testing/Pool";

pub const PATHS: [&str; 4] = [INLINE, DEFERRED, STREAM, POOL];

const METHODS: &[MethodDescriptor] = &[
    method("Inline", HandlerKind::Inline),
    method("Deferred", HandlerKind::Deferred),
    method("Stream", HandlerKind::Stream),
    method("Pool", HandlerKind::Pool),
];

const fn method(name: &'static str, kind: HandlerKind) -> MethodDescriptor {
    MethodDescriptor { name, kind }
}

/// The service, and what it has done.
#[derive(Clone, Default)]
pub struct Testing {
    begun: Arc<AtomicU64>,
    waiting: Arc<Mutex<Vec<RawResponder>>>,
}

impl Testing {
    /// Handlers that were called.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Deferred calls that are not answered.
    pub fn waiting(&self) -> usize {
        self.waiting.lock().unwrap().len()
    }

    /// Answers one of the calls that wait.
    pub fn answer_one(&self, number: usize) {
        let answerer = self.waiting.lock().unwrap().swap_remove(number);
        answerer.message(Vec::new());
    }

    pub fn answer_all(&self) {
        for answerer in self.waiting.lock().unwrap().drain(..) {
            answerer.message(Vec::new());
        }
    }
}

impl Service for Testing {
    fn name(&self) -> &'static str {
        "graceful.Testing"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, method: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        match METHODS[method].kind {
            HandlerKind::Deferred => self.waiting.lock().unwrap().push(reply.defer()),
            _ => reply.message(|output| output.extend_from_slice(request)),
        }
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Some(Box::new(Chat))
    }

    fn work(&self, _: usize, call: PoolCall) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let result = call.send(Vec::new());
        call.finish(result.map_err(Into::into));
    }
}
