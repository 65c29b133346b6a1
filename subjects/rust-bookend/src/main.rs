//! bookend-server in its drivers, a server that calls another one, and the one behind that.

#![forbid(unsafe_code)]

mod greeters;
mod hello;
mod persistence;

mod messages {
    bookend_server::include_proto!("com.example.grpc");
}

use std::{
    env,
    error::Error,
    io,
    net::Ipv4Addr,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use bookend_server::{Builder, Io, Limits, Server, Statistics, io::UringRefusal};

use greeters::{ComplexGreeterServer, Greeter, GreeterServer};
use hello::Hello;
use messages::{HelloServiceServer, PersistenceServiceServer};
use persistence::Persistence;

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

/// Calls answered by the services that answer later. The library's own count would have those calls
/// in it by which ghz asks what services there are.
static ANSWERED: AtomicU64 = AtomicU64::new(0);

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
        ("server", "auto") => serve(greeters(), Io::Auto, all),
        ("server", "epoll") => serve(greeters(), Io::Epoll, all),
        ("server", "blocking") => serve(greeters(), Io::Blocking, all),
        ("server", "uring") => serve(greeters(), Io::Uring, all),
        ("server", "hello") => serve(hello()?, Io::Epoll, answered),
        ("backend", "persistence") => serve(persistence(1_000)?, Io::Epoll, answered),
        ("backend", "persistence-100ms") => serve(persistence(100)?, Io::Epoll, answered),
        _ => {
            eprintln!("rust-bookend has no variant {variant} as {role}");
            Ok(ExitCode::from(NOT_SUPPORTED))
        }
    }
}

fn all(statistics: &Statistics) -> u64 {
    statistics.calls.served()
}

fn answered(_: &Statistics) -> u64 {
    ANSWERED.load(Ordering::Relaxed)
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

fn persistence(delay_ms: u64) -> io::Result<Builder> {
    let delay = Duration::from_millis(delay_ms);
    let persistence = PersistenceServiceServer::new(Persistence::new(delay)?);
    Ok(Server::builder().add_service(persistence).reflection())
}

fn serve(
    services: Builder,
    io: Io,
    served: fn(&Statistics) -> u64,
) -> Result<ExitCode, Box<dyn Error>> {
    let refusal = (io == Io::Uring).then(UringRefusal::ask).flatten();
    if let Some(refusal) = refusal {
        eprintln!("{refusal}");
        return Ok(ExitCode::from(NOT_SUPPORTED));
    }
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
    println!("ready {}", server.port().unwrap_or_default());
    println!("served {}", served(&server.serve()?));
    Ok(ExitCode::SUCCESS)
}

/// What the lab has said; a variable that is set to nothing is not set.
fn variable(name: &str, default: &str) -> String {
    let said = env::var(name).unwrap_or_default();
    match said.as_str() {
        "" => default.to_owned(),
        _ => said,
    }
}
