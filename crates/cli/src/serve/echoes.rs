//! The two services of the published benchmarks that send back what came: those of the Python
//! clients and of the servers in Go.

use bookend_server::{Context, Status};

mod echo {
    bookend_server::include_proto!("echo");
}

mod benchmark_message {
    bookend_server::include_proto!("main");
}

/// `echo.Echo`.
pub fn short() -> echo::EchoServer<Short> {
    echo::EchoServer::new(Short)
}

/// `main.Hello`, whose message has forty fields.
pub fn forty_fields() -> benchmark_message::HelloServer<FortyFields> {
    benchmark_message::HelloServer::new(FortyFields)
}

/// Sends the text back.
#[derive(Debug)]
pub struct Short;

impl echo::Echo for Short {
    fn hi(&self, request: echo::EchoRequest, _: &Context<'_>) -> Result<echo::EchoReply, Status> {
        Ok(echo::EchoReply {
            message: request.message,
        })
    }
}

/// Sends the message back with two fields set, as the published servers did.
#[derive(Debug)]
pub struct FortyFields;

impl benchmark_message::Hello for FortyFields {
    fn say(
        &self,
        request: benchmark_message::BenchmarkMessage,
        _: &Context<'_>,
    ) -> Result<benchmark_message::BenchmarkMessage, Status> {
        Ok(benchmark_message::BenchmarkMessage {
            field1: "OK".to_owned(),
            field2: 100,
            ..request
        })
    }
}
