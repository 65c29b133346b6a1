//! bookend-server in its drivers, a server that calls another one, and the one behind that.

#![forbid(unsafe_code)]

mod greeters;
mod hello;
mod persistence;

mod messages {
    bookend_server::include_proto!("com.example.grpc");
}

use std::{env, error::Error, io, net::Ipv4Addr, process::ExitCode, thread, time::Duration};

use bookend_server::{Builder, Io, Limits, Server};

use greeters::{ComplexGreeterServer, Greeter, GreeterServer};
use hello::Hello;
use messages::{HelloServiceServer, PersistenceServiceServer};
use persistence::Persistence;

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

/// Where the published comparison has its backend.
const BACKEND: &str = "127.0.0.1:9999";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("bookend-server {}", env!("LIBRARY_VERSION"));
        return Ok(ExitCode::SUCCESS);
    }
    let role = variable("BOOKEND_ROLE", "server");
    let variant = variable("BOOKEND_VARIANT", "auto");
    match (role.as_str(), variant.as_str()) {
        ("server", "auto") => serve(greeters(), Io::Auto),
        ("server", "epoll") => serve(greeters(), Io::Epoll),
        ("server", "blocking") => serve(greeters(), Io::Blocking),
        ("server", "hello") => serve(hello()?, Io::Epoll),
        ("backend", "persistence") => serve(persistence(Duration::from_secs(1))?, Io::Epoll),
        ("backend", "persistence-100ms") => {
            serve(persistence(Duration::from_millis(100))?, Io::Epoll)
        }
        _ => {
            eprintln!("rust-bookend has no variant {variant} as {role}");
            Ok(ExitCode::from(NOT_SUPPORTED))
        }
    }
}

fn greeters() -> Builder {
    Server::builder()
        .add_service(GreeterServer::new(Greeter))
        .add_service(ComplexGreeterServer::new(Greeter))
}

fn hello() -> Result<Builder, Box<dyn Error>> {
    let hello = Hello::new(&variable("BOOKEND_BACKEND", BACKEND))?;
    Ok(Server::builder()
        .add_service(HelloServiceServer::new(hello))
        .reflection())
}

fn persistence(delay: Duration) -> io::Result<Builder> {
    let persistence = PersistenceServiceServer::new(Persistence::new(delay)?);
    Ok(Server::builder().add_service(persistence).reflection())
}

fn serve(services: Builder, io: Io) -> Result<ExitCode, Box<dyn Error>> {
    let threads = variable("BOOKEND_CPUS", "0").parse()?;
    let server = services
        // A thousand streams a connection, as pajamax offers; the default for strangers is 250.
        .limits(Limits::trusted())
        .bind((Ipv4Addr::LOCALHOST, 0))?
        .io(io)
        .threads(threads);
    let stopper = server.stopper();
    if variable("BOOKEND_CONTRACT", "") == "1" {
        thread::spawn(move || {
            // A read that fails ends the process as the end of the input does.
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            stopper.stop();
        });
    }
    println!("ready {}", server.local_address().port());
    let statistics = server.serve()?;
    println!("served {}", statistics.calls.served());
    Ok(ExitCode::SUCCESS)
}

/// What the lab has said; a variable that is set to nothing is not set.
fn variable(name: &str, default: &str) -> String {
    let said = env::var(name).unwrap_or_default();
    if said.is_empty() {
        default.to_owned()
    } else {
        said
    }
}
