//! Every service of `proto/`, as `bookend serve` answers it.
//!
//! They stand in a crate of their own because they are measured: it is optimized as the libraries
//! below it are, and the command around it, which takes longest to compile, need not be.
#![forbid(unsafe_code)]

mod benchmarks;
mod delay;
mod in_place;
mod interop;

use std::io;

use bookend_server::ServerBuilder;

use benchmarks::{Benchmarks, benchmark_message, complex_proto, echo, helloworld};
use in_place::InPlace;

/// How both greeters read and write their messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeters {
    /// As structs of prost.
    Owned,
    /// In place, without an allocation.
    Borrowed,
}

/// Adds every service of `proto/` to a server.
///
/// # Errors
/// When the thread that answers delayed calls cannot be started.
pub fn add_all(server: ServerBuilder, greeters: Greeters) -> io::Result<ServerBuilder> {
    let server = add_greeters(server, greeters)
        .add_service(echo::EchoServer::new(Benchmarks))
        .add_service(benchmark_message::HelloServer::new(Benchmarks))
        .add_service(delay::service()?)
        .add_service(interop::service());
    Ok(server)
}

fn add_greeters(server: ServerBuilder, greeters: Greeters) -> ServerBuilder {
    match greeters {
        Greeters::Owned => server
            .add_service(helloworld::GreeterServer::new(Benchmarks))
            .add_service(complex_proto::GreeterServer::new(Benchmarks)),
        Greeters::Borrowed => server
            .add_service(in_place::helloworld::GreeterServer::new(InPlace))
            .add_service(in_place::complex_proto::GreeterServer::new(InPlace)),
    }
}
