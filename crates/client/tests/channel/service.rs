//! A server of this project with a service written by hand: what it is sent is what it answers.

use bookend_server::{
    Code, Context, HandlerKind, InlineStream, Limits, MethodDescriptor, RawResponder, Reply,
    Server, ServerBuilder, ServerHandle, Service, Status, StreamReply,
};
use bookend_wire::grpc::reserved::is_reserved;
use std::path::Path;
use std::sync::mpsc;

pub const ECHO: &str = "/test.Any/Echo";
pub const HOLD: &str = "/test.Any/Hold";
pub const FAIL: &str = "/test.Any/Fail";
pub const TALK: &str = "/test.Any/Talk";

/// A request that waits for the test to answer it.
pub struct Held {
    pub request: Vec<u8>,
    pub answerer: RawResponder,
}

impl Held {
    pub fn echo(self) {
        self.answerer.message(self.request);
    }
}

struct Any {
    held: mpsc::Sender<Held>,
}

const fn method(name: &'static str, kind: HandlerKind) -> MethodDescriptor {
    MethodDescriptor { name, kind }
}

impl Service for Any {
    fn name(&self) -> &'static str {
        "test.Any"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        const METHODS: [MethodDescriptor; 4] = [
            method("Echo", HandlerKind::Inline),
            method("Hold", HandlerKind::Deferred),
            method("Fail", HandlerKind::Inline),
            method("Talk", HandlerKind::Stream),
        ];
        &METHODS
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        let metadata = context.metadata().iter();
        for (name, value) in metadata.filter(|(name, _)| !is_reserved(name)) {
            context.add_trailer(std::str::from_utf8(name).unwrap(), value);
        }
        match method {
            0 => reply.message(|output| output.extend_from_slice(request)),
            1 => {
                let (request, answerer) = (request.to_vec(), reply.defer());
                // A test that has ended drops the call, and that answers it.
                let _ = self.held.send(Held { request, answerer });
            }
            _ => reply.fail(Status::with_details(Code::NotFound, "there is no café", *b"why\0")),
        }
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        Some(Box::new(Talk))
    }
}

/// Says everything twice, compressed as it was heard.
struct Talk;

impl InlineStream for Talk {
    fn on_message(&mut self, message: &[u8], reply: &mut StreamReply<'_>) {
        reply.compress(reply.request_was_compressed());
        for _ in 0..2 {
            reply.message(|output| output.extend_from_slice(message));
        }
    }

    fn on_end(&mut self, reply: &mut StreamReply<'_>) {
        reply.end(Ok(()));
    }
}

/// Starts the server; gives what `HOLD` holds.
pub fn start(address: &str) -> (ServerHandle, mpsc::Receiver<Held>) {
    let (builder, holding) = builder();
    (builder.bind(address).unwrap().spawn().unwrap(), holding)
}

/// The same on a unix socket.
pub fn start_unix(path: &Path) -> (ServerHandle, mpsc::Receiver<Held>) {
    let (builder, holding) = builder();
    (builder.bind_unix(path).unwrap().spawn().unwrap(), holding)
}

fn builder() -> (ServerBuilder, mpsc::Receiver<Held>) {
    let (held, holding) = mpsc::channel();
    let builder = Server::builder().add_service(Any { held });
    (builder.limits(Limits::trusted()), holding)
}
