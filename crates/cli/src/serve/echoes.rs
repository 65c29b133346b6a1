//! The two echo services of the published benchmarks: of the Python clients, and of the servers in
//! Go.

use bookend_server::{Context, Status};

mod echo {
    bookend_server::include_proto!("echo");
}

mod benchmark_message {
    bookend_server::include_proto!("main");
}

/// `echo.Echo`.
pub fn text() -> echo::EchoServer<TextEcho> {
    echo::EchoServer::new(TextEcho)
}

/// `main.Hello`, whose message has forty fields.
pub fn forty_fields() -> benchmark_message::HelloServer<FortyFieldsEcho> {
    benchmark_message::HelloServer::new(FortyFieldsEcho)
}

/// Sends the text back.
#[derive(Debug)]
pub struct TextEcho;

impl echo::Echo for TextEcho {
    fn hi(&self, request: echo::EchoRequest, _: &Context<'_>) -> Result<echo::EchoReply, Status> {
        Ok(echo::EchoReply { message: request.message })
    }
}

/// Sends the message back with two fields set, as the published servers did.
#[derive(Debug)]
pub struct FortyFieldsEcho;

impl benchmark_message::Hello for FortyFieldsEcho {
    fn say(
        &self,
        request: benchmark_message::BenchmarkMessage,
        _: &Context<'_>,
    ) -> Result<benchmark_message::BenchmarkMessage, Status> {
        Ok(benchmark_message::BenchmarkMessage { field1: "OK".to_owned(), field2: 100, ..request })
    }
}
