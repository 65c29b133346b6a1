//! The services that answer at once: the handler runs where the bytes arrive.

use bookend_server::{Context, Status};

mod helloworld {
    bookend_server::include_proto!("helloworld");
}

mod complex_proto {
    bookend_server::include_proto!("complex_proto");
}

pub use complex_proto::GreeterServer as ComplexGreeterServer;
pub use helloworld::GreeterServer;

pub struct Greeter;

impl helloworld::Greeter for Greeter {
    fn say_hello(
        &self,
        request: helloworld::HelloRequest,
        _: &Context<'_>,
    ) -> Result<helloworld::HelloReply, Status> {
        let message = format!("Hello {}!", request.name);
        Ok(helloworld::HelloReply { message })
    }
}

impl complex_proto::Greeter for Greeter {
    fn say_hello(
        &self,
        request: complex_proto::HelloRequest,
        _: &Context<'_>,
    ) -> Result<complex_proto::HelloReply, Status> {
        let response = request.request;
        Ok(complex_proto::HelloReply { response })
    }
}
