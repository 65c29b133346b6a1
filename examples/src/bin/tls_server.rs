//! Mutual TLS: only clients whose certificate the authority has signed, greeted by where they are.
//!
//! `cargo run -p bookend-examples --bin tls_server ADDRESS CERTIFICATE KEY CLIENT_AUTHORITY`
//!
//! docs/use/tls.md says how to make the files.
#![forbid(unsafe_code)]

use std::env;
use std::path::Path;

use bookend_examples::helloworld::{Greeter, GreeterServer, HelloReply, HelloRequest};
use bookend_server::tls::{Authorities, Identity, ServerConfig};
use bookend_server::{Context, Server, Status};

struct Polite;

impl Greeter for Polite {
    fn say_hello(
        &self,
        request: HelloRequest,
        context: &Context<'_>,
    ) -> Result<HelloReply, Status> {
        let address = context.peer_address().map_or("here".into(), |address| address.to_string());
        let certificates = context.client_certificates().len();
        let message =
            format!("Hello {} at {address}, with {certificates} certificate(s)!", request.name);
        Ok(HelloReply { message })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = env::args().skip(2).collect();
    let [certificate, key, authority] = &files[..] else {
        return Err("usage: tls_server ADDRESS CERTIFICATE KEY CLIENT_AUTHORITY".into());
    };
    let identity = Identity::read(Path::new(certificate), Path::new(key))?;
    let authorities = Authorities::read(Path::new(authority))?;
    let server = Server::builder()
        .add_service(GreeterServer::new(Polite))
        .bind(bookend_examples::address())?
        .tls(ServerConfig::new(identity, Some(authorities))?);
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
