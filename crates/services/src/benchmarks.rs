//! The services of the published benchmarks: two greeters, the echo of the Python clients, and that
//! of the servers in Go.

use bookend_server::{Context, Status};

pub mod helloworld {
    bookend_server::include_proto!("helloworld");
}

pub mod complex_proto {
    bookend_server::include_proto!("complex_proto");
}

pub mod echo {
    bookend_server::include_proto!("echo");
}

pub mod benchmark_message {
    bookend_server::include_proto!("main");
}

/// Answers as the published servers did.
#[derive(Debug)]
pub struct Benchmarks;

impl helloworld::Greeter for Benchmarks {
    fn say_hello(
        &self,
        request: helloworld::HelloRequest,
        _: &Context<'_>,
    ) -> Result<helloworld::HelloReply, Status> {
        let message = ["Hello ", &request.name, "!"].concat();
        Ok(helloworld::HelloReply { message })
    }
}

impl complex_proto::Greeter for Benchmarks {
    fn say_hello(
        &self,
        request: complex_proto::HelloRequest,
        _: &Context<'_>,
    ) -> Result<complex_proto::HelloReply, Status> {
        Ok(complex_proto::HelloReply { response: request.request })
    }
}

impl echo::Echo for Benchmarks {
    fn hi(&self, request: echo::EchoRequest, _: &Context<'_>) -> Result<echo::EchoReply, Status> {
        Ok(echo::EchoReply { message: request.message })
    }
}

/// Of forty fields, two are set anew.
impl benchmark_message::Hello for Benchmarks {
    fn say(
        &self,
        request: benchmark_message::BenchmarkMessage,
        _: &Context<'_>,
    ) -> Result<benchmark_message::BenchmarkMessage, Status> {
        Ok(benchmark_message::BenchmarkMessage { field1: "OK".to_owned(), field2: 100, ..request })
    }
}
