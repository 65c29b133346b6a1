//! bookend-server in its drivers, a server that calls another one, and the one behind that.

#![forbid(unsafe_code)]

mod greeters;
mod hello;
mod persistence;

mod messages {
    bookend_server::include_proto!("com.example.grpc");
}

use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, error::Error, fmt, io, net::IpAddr, process::ExitCode, thread, time::Duration};

use bookend_server::tls::{ConfigError, Identity, ServerConfig};
use bookend_server::{Io, Limits, Server, ServerBuilder, ServerStatistics, io::UringRefusal};

use greeters::{ComplexGreeterServer, Greeter, GreeterServer};
use hello::Hello;
use messages::{HelloServiceServer, PersistenceServiceServer};
use persistence::Persistence;

/// Calls answered by the services that answer later. The library's own count would have those calls
/// in it by which ghz asks what services there are.
static ANSWERED: AtomicU64 = AtomicU64::new(0);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("bookend-server {}", env!("LIBRARY_VERSION"));
        return Ok(ExitCode::SUCCESS);
    }
    let role = variable("BOOKEND_ROLE", "server");
    let variant = variable("BOOKEND_VARIANT", "auto");
    match (role.as_str(), variant.split("-threads-").next().unwrap_or_default()) {
        ("server", "auto") => serve(greeters(), Io::Auto, all),
        ("server", "internet") => serve(greeters().limits(Limits::internet()), Io::Auto, all),
        ("server", "epoll") => serve(greeters(), Io::Epoll, all),
        ("server", "blocking") => serve(greeters(), Io::Blocking, all),
        ("server", "uring") => match UringRefusal::ask() {
            None => serve(greeters(), Io::Uring, all),
            Some(refusal) => unsupported(refusal),
        },
        ("server", "hello") => serve(hello()?, Io::Epoll, answered),
        ("backend", "persistence") => serve(persistence(1_000)?, Io::Epoll, answered),
        ("backend", "persistence-100ms") => serve(persistence(100)?, Io::Epoll, answered),
        _ => unsupported(format_args!("no variant {variant} as {role}")),
    }
}

/// As the contract says it.
fn unsupported(why: impl fmt::Display) -> Result<ExitCode, Box<dyn Error>> {
    eprintln!("{why}");
    Ok(ExitCode::from(89))
}

fn all(statistics: &ServerStatistics) -> u64 {
    statistics.calls.served()
}

fn answered(_: &ServerStatistics) -> u64 {
    ANSWERED.load(Ordering::Relaxed)
}

/// A thousand streams a connection, as pajamax offers; the default for strangers is 250.
fn trusting() -> ServerBuilder {
    Server::builder().limits(Limits::trusted())
}

fn greeters() -> ServerBuilder {
    trusting()
        .add_service(GreeterServer::new(Greeter))
        .add_service(ComplexGreeterServer::new(Greeter))
}

fn hello() -> Result<ServerBuilder, Box<dyn Error>> {
    // Where the published comparison has its backend.
    let hello = Hello::new(&variable("BOOKEND_BACKEND", "127.0.0.1:9999"))?;
    Ok(trusting().add_service(HelloServiceServer::new(hello)).reflection())
}

fn persistence(delay_ms: u64) -> io::Result<ServerBuilder> {
    let delay = Duration::from_millis(delay_ms);
    let persistence = PersistenceServiceServer::new(Persistence::new(delay)?);
    Ok(trusting().add_service(persistence).reflection())
}

fn serve(
    services: ServerBuilder,
    io: Io,
    served: fn(&ServerStatistics) -> u64,
) -> Result<ExitCode, Box<dyn Error>> {
    // A variant may name its number of workers, whatever the number of CPUs: `epoll-threads-4`.
    let (cpus, variant) = (variable("BOOKEND_CPUS", "0"), variable("BOOKEND_VARIANT", ""));
    let threads = variant.split_once("-threads-").map_or(&*cpus, |(_, threads)| threads).parse()?;
    let address: (IpAddr, u16) = (variable("BOOKEND_LISTEN", "127.0.0.1").parse()?, 0);
    let server = match variable("BOOKEND_TRANSPORT", "h2c").as_str() {
        "h2c" => services.bind(address)?,
        "tls" => services.bind(address)?.tls(tls()?),
        "unix" => services.bind_unix(variable("BOOKEND_UNIX_SOCKET", ""))?,
        other => return unsupported(format_args!("no transport {other}")),
    };
    let server = server.io(io).threads(threads);
    let shutdown = server.shutdown_handle();
    if variable("BOOKEND_CONTRACT", "") == "1" {
        thread::spawn(move || {
            // A read that fails ends the process as the end of the input does.
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            shutdown.stop();
        });
    }
    println!("ready {}", server.port().unwrap_or_default());
    let statistics = server.serve()?;
    println!("served {}", served(&statistics));
    let tls = &statistics.handshakes;
    println!("note tls_handshakes_full {}", tls.full);
    println!("note tls_handshakes_resumed {}", tls.resumed);
    Ok(ExitCode::SUCCESS)
}

fn tls() -> Result<ServerConfig, ConfigError> {
    let certificate = variable("BOOKEND_TLS_CERTIFICATE", "");
    let key = variable("BOOKEND_TLS_KEY", "");
    let identity = Identity::read(certificate.as_ref(), key.as_ref())?;
    ServerConfig::new(identity, None)
}

/// What the lab has said; a variable that is set to nothing is not set.
fn variable(name: &str, default: &str) -> String {
    let said = env::var(name).ok().filter(|said| !said.is_empty());
    said.unwrap_or_else(|| default.to_owned())
}
