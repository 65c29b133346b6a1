//! The two services of the published gRPC benchmarks.

use bookend_server::{Context, Status};

mod helloworld {
    bookend_server::include_proto!("helloworld");
}

mod complex_proto {
    bookend_server::include_proto!("complex_proto");
}

/// `helloworld.Greeter`.
pub fn helloworld() -> helloworld::GreeterServer<HelloworldGreeter> {
    helloworld::GreeterServer::new(HelloworldGreeter)
}

/// `complex_proto.Greeter`.
pub fn complex() -> complex_proto::GreeterServer<ComplexGreeter> {
    complex_proto::GreeterServer::new(ComplexGreeter)
}

/// Greets by name.
#[derive(Debug)]
pub struct HelloworldGreeter;

impl helloworld::Greeter for HelloworldGreeter {
    fn say_hello(
        &self,
        request: helloworld::HelloRequest,
        _: &Context<'_>,
    ) -> Result<helloworld::HelloReply, Status> {
        let message = ["Hello ", &request.name, "!"].concat();
        Ok(helloworld::HelloReply { message })
    }
}

/// Sends the request's message back.
#[derive(Debug)]
pub struct ComplexGreeter;

impl complex_proto::Greeter for ComplexGreeter {
    fn say_hello(
        &self,
        request: complex_proto::HelloRequest,
        _: &Context<'_>,
    ) -> Result<complex_proto::HelloReply, Status> {
        Ok(complex_proto::HelloReply { response: request.request })
    }
}
