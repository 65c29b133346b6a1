//! What a server needs in a cluster: health checks, a page for monitoring, a token that every call
//! but health checks must have, and an end at SIGTERM that loses no call.
//!
//! `cargo run -p bookend-examples --bin health_server [ADDRESS]`
#![forbid(unsafe_code)]

use std::thread;

use bookend_examples::helloworld::{Greeter, GreeterServer, HelloReply, HelloRequest};
use bookend_server::{Code, Context, HealthReporter, HttpPage, Server, ServingStatus, Status};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

struct Polite;

impl Greeter for Polite {
    fn say_hello(&self, request: HelloRequest, _: &Context<'_>) -> Result<HelloReply, Status> {
        Ok(HelloReply { message: format!("Hello {}!", request.name) })
    }
}

fn check_token(context: &Context<'_>) -> Result<(), Status> {
    match context.metadata().text("authorization") {
        Some("Bearer secret") => Ok(()),
        _ if context.service().starts_with("grpc.health.") => Ok(()),
        _ => Err(Status::new(Code::Unauthenticated, "who are you?")),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let health = HealthReporter::new();
    health.set(GreeterServer::<Polite>::NAME, ServingStatus::Serving);
    let server = Server::builder()
        .add_service(GreeterServer::new(Polite))
        .add_service(health.service())
        .intercept(check_token)
        .page("/healthz", || HttpPage::text("fine\n"))
        .bind(bookend_examples::address())?;
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let shutdown = server.shutdown_handle();
    thread::spawn(move || {
        signals.forever().next();
        health.shut_down();
        shutdown.stop();
    });
    println!("listening on {}", server.local_address());
    println!("answered {} calls", server.serve()?.calls.served());
    Ok(())
}
