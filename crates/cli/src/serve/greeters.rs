//! The two services of the published gRPC benchmarks.

use bookend_server::{Context, Status};

mod helloworld {
    bookend_server::include_proto!("helloworld");
}

mod complex_proto {
    bookend_server::include_proto!("complex_proto");
}

/// `helloworld.Greeter`.
pub fn plain() -> helloworld::GreeterServer<Plain> {
    helloworld::GreeterServer::new(Plain)
}

/// `complex_proto.Greeter`.
pub fn complex() -> complex_proto::GreeterServer<Complex> {
    complex_proto::GreeterServer::new(Complex)
}

/// Greets by name.
#[derive(Debug)]
pub struct Plain;

impl helloworld::Greeter for Plain {
    fn say_hello(
        &self,
        request: helloworld::HelloRequest,
        _: &Context<'_>,
    ) -> Result<helloworld::HelloReply, Status> {
        let message = ["Hello ", &request.name, "!"].concat();
        Ok(helloworld::HelloReply { message })
    }
}

/// Sends back what came.
#[derive(Debug)]
pub struct Complex;

impl complex_proto::Greeter for Complex {
    fn say_hello(
        &self,
        request: complex_proto::HelloRequest,
        _: &Context<'_>,
    ) -> Result<complex_proto::HelloReply, Status> {
        Ok(complex_proto::HelloReply {
            response: request.request,
        })
    }
}
