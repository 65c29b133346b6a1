//! The two calls on pajamax 0.3.3, the last version that has a generator.

use std::io;

use pajamax_0_3::{Config, Response};

use crate::greeters::{MAX_CONNECTIONS, complex_proto, helloworld};

struct Greeter;

impl helloworld::Greeter for Greeter {
    fn say_hello(&self, request: helloworld::HelloRequest) -> Response<helloworld::HelloReply> {
        Ok(helloworld::say_hello(request))
    }
}

impl complex_proto::Greeter for Greeter {
    fn say_hello(
        &self,
        request: complex_proto::HelloRequest,
    ) -> Response<complex_proto::HelloReply> {
        Ok(complex_proto::say_hello(request))
    }
}

pub fn serve() -> io::Result<()> {
    Config::new()
        .max_concurrent_connections(MAX_CONNECTIONS)
        .add_service(helloworld::GreeterServer::new(Greeter))
        .add_service(complex_proto::GreeterServer::new(Greeter))
        .serve((crate::variable("BOOKEND_LISTEN", "127.0.0.1"), 0))
}
