//! The reference server with one service, as a test of everything that it should do.

use bookend_payload::schema::Schema;
use bookend_server::prost::Message;
use bookend_server::{
    Context, HandlerKind, InlineStream, Io, Limits, MethodDescriptor, Reply, Server, ServerHandle,
    Service, StreamReply, reflection,
};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The definition that all subjects share.
pub fn proto() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "proto", "helloworld.proto"].iter().collect()
}

pub fn schema() -> Schema {
    Schema::from_proto(&proto(), &[]).unwrap()
}

#[derive(Clone, PartialEq, Message)]
struct Text {
    #[prost(string, tag = "1")]
    text: String,
}

/// `helloworld.Greeter`.
pub struct Greeter;

impl Service for Greeter {
    fn name(&self) -> &'static str {
        "helloworld.Greeter"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[MethodDescriptor { name: "SayHello", kind: HandlerKind::Inline }]
    }

    fn descriptors(&self) -> &'static [u8] {
        static DESCRIPTORS: OnceLock<Vec<u8>> = OnceLock::new();
        DESCRIPTORS.get_or_init(|| {
            let path = proto();
            let folder = path.parent().unwrap();
            protox::compile([&path], [folder]).unwrap().encode_to_vec()
        })
    }

    fn call(&self, _: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        let late = context.remaining() == Some(Duration::ZERO);
        match Text::decode(request) {
            Err(error) => reply.undecodable(&error),
            Ok(_) if late => reply.fail(bookend_server::Status::new(
                bookend_server::Code::DeadlineExceeded,
                "too late",
            )),
            Ok(Text { text }) => reply.message(|output| output.extend(hello(&text))),
        }
    }
}

/// The serialized reply to a name.
pub fn hello(name: &str) -> Vec<u8> {
    let text = format!("Hello {name}!");
    Text { text }.encode_to_vec()
}

/// Serves the greeter on a free port.
pub fn start(reflection: bool) -> ServerHandle {
    let builder = Server::builder().add_service(Greeter).limits(Limits::internet());
    let builder = match reflection {
        true => builder.reflection(),
        false => builder,
    };
    let bound = builder.bind("127.0.0.1:0").unwrap();
    bound.threads(1).spawn().unwrap()
}

/// Serves the greeter by this driver.
pub fn start_on(io: Io) -> ServerHandle {
    let bound = Server::builder().add_service(Greeter).bind("127.0.0.1:0").unwrap();
    bound.io(io).threads(1).spawn().unwrap()
}

/// Serves the greeter, and of the two versions of reflection only the older one.
pub fn start_with_older_reflection() -> ServerHandle {
    let [_, older] = reflection::services(&[Arc::new(Greeter)]);
    let builder = Server::builder().add_service(Greeter);
    let bound = builder.add_service(Alone(older)).bind("127.0.0.1:0");
    bound.unwrap().threads(1).spawn().unwrap()
}

/// A service that is known only as such.
struct Alone(Arc<dyn Service>);

impl Service for Alone {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        self.0.methods()
    }

    fn call(&self, method: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        self.0.call(method, request, context, reply);
    }

    fn open(&self, method: usize, context: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        self.0.open(method, context)
    }
}

/// Serves a service of reflection that answers each question with these messages.
pub fn start_with_answers(answers: Vec<Vec<u8>>) -> ServerHandle {
    let server = Server::builder().add_service(Answers(answers));
    server.bind("127.0.0.1:0").unwrap().threads(1).spawn().unwrap()
}

#[derive(Clone)]
struct Answers(Vec<Vec<u8>>);

impl Service for Answers {
    fn name(&self) -> &'static str {
        "grpc.reflection.v1.ServerReflection"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[MethodDescriptor { name: "ServerReflectionInfo", kind: HandlerKind::Stream }]
    }

    fn call(&self, _: usize, _: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.message(|_| {});
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        Some(Box::new(self.clone()))
    }
}

impl InlineStream for Answers {
    fn on_message(&mut self, _: &[u8], replies: &mut StreamReply<'_>) {
        for answer in &self.0 {
            replies.message(|output| output.extend(answer));
        }
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.end(Ok(()));
    }
}
