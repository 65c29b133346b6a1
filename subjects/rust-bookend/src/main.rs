//! The greeters on bookend-server.

#![forbid(unsafe_code)]

use std::{env, error::Error, io, net::Ipv4Addr, process::ExitCode, thread};

use bookend_server::{Context, Io, Limits, Server, Status};

mod helloworld {
    bookend_server::include_proto!("helloworld");
}

mod complex_proto {
    bookend_server::include_proto!("complex_proto");
}

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

struct Greeter;

impl helloworld::Greeter for Greeter {
    fn say_hello(
        &self,
        request: helloworld::HelloRequest,
        _: &Context<'_>,
    ) -> Result<helloworld::HelloReply, Status> {
        let message = format!("Hello {}!", request.name);
        Ok(helloworld::HelloReply { message })
    }
}

impl complex_proto::Greeter for Greeter {
    fn say_hello(
        &self,
        request: complex_proto::HelloRequest,
        _: &Context<'_>,
    ) -> Result<complex_proto::HelloReply, Status> {
        let response = request.request;
        Ok(complex_proto::HelloReply { response })
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("bookend-server {}", env!("LIBRARY_VERSION"));
        return Ok(ExitCode::SUCCESS);
    }
    let role = env::var("BOOKEND_ROLE").unwrap_or_else(|_| "server".to_owned());
    let variant = env::var("BOOKEND_VARIANT").unwrap_or_else(|_| "auto".to_owned());
    let io = match (role.as_str(), variant.as_str()) {
        ("server", "auto") => Io::Auto,
        ("server", "epoll") => Io::Epoll,
        ("server", "blocking") => Io::Blocking,
        _ => {
            eprintln!("rust-bookend has no variant {variant} as {role}");
            return Ok(ExitCode::from(NOT_SUPPORTED));
        }
    };
    serve(io)
}

fn serve(io: Io) -> Result<ExitCode, Box<dyn Error>> {
    let threads = match env::var("BOOKEND_CPUS") {
        Ok(threads) => threads.parse()?,
        Err(_) => 0,
    };
    let server = Server::builder()
        .add_service(helloworld::GreeterServer::new(Greeter))
        .add_service(complex_proto::GreeterServer::new(Greeter))
        // A thousand streams a connection, as pajamax offers; the default for strangers is 250.
        .limits(Limits::trusted())
        .bind((Ipv4Addr::LOCALHOST, 0))?
        .io(io)
        .threads(threads);
    let stopper = server.stopper();
    if env::var("BOOKEND_CONTRACT").as_deref() == Ok("1") {
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
