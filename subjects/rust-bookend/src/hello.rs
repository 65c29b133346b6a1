//! The service that needs another one: its answer waits for a call to the backend, no thread does.

use std::sync::atomic::Ordering;

use bookend_client::{Channel, ChannelOptions, ConnectError, UnaryCall};
use bookend_server::prost::{DecodeError, Message};
use bookend_server::{Code, Context, Responder, Status};

use crate::ANSWERED;
use crate::messages::{CountReply, CountRequest, HelloReply, HelloRequest, HelloService};

const COUNT: &str = "/com.example.grpc.PersistenceService/Count";

pub struct Hello {
    backend: Channel,
}

impl Hello {
    pub fn new(backend: &str) -> Result<Self, ConnectError> {
        let backend = Channel::connect(backend, ChannelOptions::default())?;
        Ok(Hello { backend })
    }
}

impl HelloService for Hello {
    fn say_hello(&self, request: HelloRequest, _: &Context<'_>, responder: Responder<HelloReply>) {
        let name = request.name;
        let question = CountRequest { name: name.clone() };
        let call = UnaryCall::new(COUNT, question.encode_to_vec());
        self.backend.call(call, move |answer| {
            let counted = answer.into_single_message().and_then(|message| count(&message));
            let message = counted.map(|count| format!("Hello {name} Greeting number {count}."));
            ANSWERED.fetch_add(1, Ordering::Relaxed);
            responder.send(message.map(|message| HelloReply { message }));
        });
    }
}

fn count(message: &[u8]) -> Result<i64, Status> {
    let unreadable = |error: DecodeError| Status::new(Code::Internal, error.to_string());
    let reply = CountReply::decode(message).map_err(unreadable)?;
    Ok(reply.count)
}
