//! The server under test of connectconformance: reads from standard input what it is to be, serves
//! that, and writes to standard output where. It serves until it is killed.
//!
//! `--io blocking|epoll|uring|auto` chooses the driver. `--wrong-code` ends every call that is to
//! fail with DATA_LOSS: with it the suite has to fail.
#![forbid(unsafe_code)]

mod failure;
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
use bookend_server::tls::{Authorities, Identity, ServerConfig};
use bookend_server::{BoundServer, Io, Limits, Server};

use failure::Failures;
use service::Conformance;

fn main() -> Result<(), Box<dyn Error>> {
    let request: ServerCompatRequest =
        read(&mut io::stdin())?.ok_or("nothing was said about the server that is wanted")?;
    check(&request)?;
    let mut server = bind(request.message_receive_limit)?;
    let mut pem_cert = Vec::new();
    if request.use_tls {
        server = server.tls(tls(&request)?);
        pem_cert = request.server_creds.unwrap_or_default().cert;
    }
    let address = server.local_address().tcp().ok_or("no IP address")?;
    let response = ServerCompatResponse {
        host: address.ip().to_string(),
        port: address.port().into(),
        pem_cert,
    };
    write(&mut io::stdout(), &response)?;
    server.serve()?;
    Ok(())
}

/// Whether the server speaks the requested protocol. The features that the runner is given list no
/// other.
fn check(request: &ServerCompatRequest) -> Result<(), String> {
    let wanted = (request.protocol(), request.http_version());
    match wanted {
        (Protocol::Grpc, HttpVersion::HttpVersion2) => Ok(()),
        _ => Err(format!("gRPC over HTTP/2 only, not {wanted:?}")),
    }
}

/// What to show, and whom to take.
fn tls(request: &ServerCompatRequest) -> Result<ServerConfig, Box<dyn Error>> {
    let own = request.server_creds.as_ref();
    let own = own.ok_or("TLS is wanted, and no certificate came with that")?;
    let identity = Identity::from_pem(&own.cert, &own.key)?;
    let client_authorities = match &*request.client_tls_cert {
        [] => None,
        certificate => Some(Authorities::from_pem(certificate)?),
    };
    Ok(ServerConfig::new(identity, client_authorities)?)
}

fn bind(max_message_bytes: u32) -> Result<BoundServer, Box<dyn Error>> {
    let mut limits = Limits::internet();
    if max_message_bytes != 0 {
        limits.max_message_bytes = max_message_bytes as usize;
    }
    let service = Conformance {
        failures: Failures {
            end_with_wrong_codes: env::args().any(|argument| argument == "--wrong-code"),
        },
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
        Some("uring") => Ok(Io::Uring),
        Some(other) => Err(format!("--io {other}: there is no such driver")),
    }
}
