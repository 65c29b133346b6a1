//! The service that is attacked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use bookend_server::{
    Code, Context, DecodedRequest, HandlerKind, InlineStream, MethodDescriptor, RawResponder,
    Reply, RequestDecoder, Service, Status,
};

use crate::chat::Chat;

pub const ECHO: &str = "/attack.Testing/Echo";
/// Answers with as many bytes as the four of the request say.
pub const FILL: &str = "/attack.Testing/Fill";
/// Counts the bytes of its request, which others may have decoded.
pub const COUNT: &str = "/attack.Testing/Count";
/// Answers when it is let.
pub const WAIT: &str = "/attack.Testing/Wait";
/// Echoes each message of a stream.
pub const CHAT: &str = "/attack.Testing/Chat";
/// Needs the field `token-bin`.
pub const OPEN_SESAME: &str = "/attack.Testing/OpenSesame";

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Echo", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Fill", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Wait", kind: HandlerKind::Deferred },
    MethodDescriptor { name: "Chat", kind: HandlerKind::Stream },
    MethodDescriptor { name: "OpenSesame", kind: HandlerKind::Inline },
    MethodDescriptor { name: "Count", kind: HandlerKind::Inline },
];

static DECODED_BY: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The service, and what it has done.
#[derive(Clone, Default)]
pub struct Testing {
    calls: Arc<AtomicU64>,
    calls_before_last_shout: Arc<AtomicU64>,
    waiting: Arc<Mutex<Vec<RawResponder>>>,
}

/// A request to which the service listens up.
pub const SHOUT: &[u8] = b"is anybody there?";

impl Testing {
    /// The threads that have decoded its requests ahead of their handlers.
    pub fn decoded_by(&self) -> Vec<String> {
        DECODED_BY.lock().unwrap().clone()
    }

    /// Handlers that were called.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Handlers that were called before the one that was last given [`SHOUT`].
    pub fn calls_before_last_shout(&self) -> u64 {
        self.calls_before_last_shout.load(Ordering::Relaxed)
    }

    /// Handlers that run.
    pub fn running(&self) -> usize {
        self.waiting.lock().unwrap().len()
    }

    /// Answers all calls that wait.
    pub fn answer_all(&self) {
        for answerer in self.waiting.lock().unwrap().drain(..) {
            answerer.message(Vec::new());
        }
    }
}

impl Service for Testing {
    fn name(&self) -> &'static str {
        "attack.Testing"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, mut reply: Reply<'_>) {
        let calls_before = self.calls.fetch_add(1, Ordering::Relaxed);
        if request == SHOUT {
            self.calls_before_last_shout.store(calls_before, Ordering::Relaxed);
        }
        match METHODS[method].name {
            "Fill" => {
                let bytes = request.try_into().map_or(0, u32::from_be_bytes);
                reply.message(|output| output.resize(output.len() + bytes as usize, 7));
            }
            "Count" => {
                let bytes = reply.take_decoded().unwrap_or(request.len());
                reply.message(|output| output.extend_from_slice(&bytes.to_be_bytes()));
            }
            "Wait" => self.waiting.lock().unwrap().push(reply.defer()),
            "OpenSesame" => match context.metadata().find_binary("token-bin") {
                Ok(_) => reply.message(|_| ()),
                Err(error) => reply.fail(Status::new(Code::InvalidArgument, error.to_string())),
            },
            _ => reply.message(|output| output.extend_from_slice(request)),
        }
    }

    fn decoder(&self, method: usize) -> Option<RequestDecoder> {
        (METHODS[method].name == "Count").then_some(|request| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            DECODED_BY.lock().unwrap().push(name);
            Ok(DecodedRequest::new(request.len()))
        })
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Some(Box::new(Chat))
    }
}
