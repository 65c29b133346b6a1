//! The smallest server: one unary method, answered where the bytes arrive.
//!
//! `cargo run -p bookend-examples --bin hello_server [ADDRESS]`
#![forbid(unsafe_code)]

use bookend_examples::helloworld::{Greeter, GreeterServer, HelloReply, HelloRequest};
use bookend_server::{Code, Context, Server, Status};

struct Polite;

impl Greeter for Polite {
    fn say_hello(&self, request: HelloRequest, _: &Context<'_>) -> Result<HelloReply, Status> {
        if request.name.is_empty() {
            return Err(Status::new(Code::InvalidArgument, "whom am I to greet?"));
        }
        Ok(HelloReply { message: format!("Hello {}!", request.name) })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder()
        .add_service(GreeterServer::new(Polite))
        .reflection()
        .bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
