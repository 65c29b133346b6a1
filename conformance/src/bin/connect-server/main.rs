//! The server under test of connectconformance: reads from standard input what it is to be, serves
//! that, and writes to standard output where. It serves until it is killed.
//!
//! `--io blocking|epoll|auto` chooses the driver. `--wrong-code` ends every call that is to fail
//! with DATA_LOSS: with it the suite has to fail.
#![forbid(unsafe_code)]

mod replying;
mod request_info;
mod service;

use std::env;
use std::error::Error;
use std::io;

use bookend_conformance::connect::messages::{
    ConformanceServiceServer, HttpVersion, Protocol, ServerCompatRequest, ServerCompatResponse,
};
use bookend_conformance::connect::{read, write};
use bookend_server::{Bound, Io, Limits, Server};

use service::Conformance;

fn main() -> Result<(), Box<dyn Error>> {
    let request: ServerCompatRequest =
        read(&mut io::stdin())?.ok_or("nothing was said about the server that is wanted")?;
    check(&request)?;
    let server = bind(request.message_receive_limit)?;
    let address = server.local_address().tcp().ok_or("no IP address")?;
    let response = ServerCompatResponse {
        host: address.ip().to_string(),
        port: address.port().into(),
        ..Default::default()
    };
    write(&mut io::stdout(), &response)?;
    server.serve()?;
    Ok(())
}

/// What this server cannot be is none of the features that it is run with.
fn check(request: &ServerCompatRequest) -> Result<(), String> {
    let wanted = (request.protocol(), request.http_version(), request.use_tls);
    match wanted {
        (Protocol::Grpc, HttpVersion::HttpVersion2, false) => Ok(()),
        _ => Err(format!("gRPC over cleartext HTTP/2 only, not {wanted:?}")),
    }
}

fn bind(max_message_bytes: u32) -> Result<Bound, Box<dyn Error>> {
    let mut limits = Limits::internet();
    if max_message_bytes != 0 {
        limits.max_message_bytes = max_message_bytes as usize;
    }
    let service = Conformance {
        ends_with_wrong_codes: env::args().any(|argument| argument == "--wrong-code"),
    };
    let server = Server::builder()
        .add_service(ConformanceServiceServer::new(service))
        .limits(limits)
        .bind("127.0.0.1:0")?;
    Ok(server.io(driver()?))
}

fn driver() -> Result<Io, String> {
    let flag = env::args().skip_while(|argument| argument != "--io").nth(1);
    match flag.as_deref() {
        None | Some("auto") => Ok(Io::Auto),
        Some("blocking") => Ok(Io::Blocking),
        Some("epoll") => Ok(Io::Epoll),
        Some(other) => Err(format!("--io {other}: there is no such driver")),
    }
}
