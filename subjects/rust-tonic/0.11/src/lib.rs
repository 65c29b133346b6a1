//! The greeters on tonic 0.11, which was published about, with `BOOKEND_CPUS` workers. Two programs
//! are made of them, which differ in their allocator.

#![forbid(unsafe_code)]

use std::{
    env,
    error::Error,
    net::IpAddr,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
};

use tokio::net::TcpListener;
use tonic::{
    Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};

mod helloworld {
    tonic::include_proto!("helloworld");
}

mod complex_proto {
    tonic::include_proto!("complex_proto");
}

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

/// Calls that reached a handler, for the line `served N`.
static SERVED: AtomicU64 = AtomicU64::new(0);

struct Greeter;

#[tonic::async_trait]
impl helloworld::greeter_server::Greeter for Greeter {
    async fn say_hello(
        &self,
        request: Request<helloworld::HelloRequest>,
    ) -> Result<Response<helloworld::HelloReply>, Status> {
        SERVED.fetch_add(1, Ordering::Relaxed);
        let message = format!("Hello {}!", request.into_inner().name);
        Ok(Response::new(helloworld::HelloReply { message }))
    }
}

#[tonic::async_trait]
impl complex_proto::greeter_server::Greeter for Greeter {
    async fn say_hello(
        &self,
        request: Request<complex_proto::HelloRequest>,
    ) -> Result<Response<complex_proto::HelloReply>, Status> {
        SERVED.fetch_add(1, Ordering::Relaxed);
        let response = request.into_inner().request;
        Ok(Response::new(complex_proto::HelloReply { response }))
    }
}

/// What a program with this `variant`'s allocator does.
///
/// # Errors
/// When the server cannot be started.
pub fn run(variant: &str, allocator: &str) -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("tonic {}{allocator}", env!("LIBRARY_VERSION"));
        return Ok(ExitCode::SUCCESS);
    }
    let supported = [("ROLE", "server"), ("VARIANT", variant), ("TRANSPORT", "h2c")];
    for (name, supported) in supported {
        let asked = variable(&format!("BOOKEND_{name}"), supported);
        if asked != supported {
            eprintln!("BOOKEND_{name}={asked} is not supported; this program has {supported}");
            return Ok(ExitCode::from(NOT_SUPPORTED));
        }
    }
    let workers = variable("BOOKEND_CPUS", "1").parse()?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?
        .block_on(serve())?;
    Ok(ExitCode::SUCCESS)
}

/// What the lab has said; a variable that is set to nothing is not set.
fn variable(name: &str, default: &str) -> String {
    let said = env::var(name).unwrap_or_default();
    if said.is_empty() { default.to_owned() } else { said }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let address: IpAddr = variable("BOOKEND_LISTEN", "127.0.0.1").parse()?;
    let listener = TcpListener::bind((address, 0)).await?;
    println!("ready {}", listener.local_addr()?.port());
    // What `Server::serve` does with an address: TCP_NODELAY, and no keep-alive.
    let incoming = TcpIncoming::from_listener(listener, true, None);
    let incoming = incoming.map_err(|error| -> Box<dyn Error> { error })?;
    Server::builder()
        .add_service(helloworld::greeter_server::GreeterServer::new(Greeter))
        .add_service(complex_proto::greeter_server::GreeterServer::new(Greeter))
        .serve_with_incoming_shutdown(incoming, leash())
        .await?;
    println!("served {}", SERVED.load(Ordering::Relaxed));
    Ok(())
}

/// Ends when the lab closes our standard input; never when no lab started us.
async fn leash() {
    if env::var("BOOKEND_CONTRACT").as_deref() != Ok("1") {
        return std::future::pending().await;
    }
    // A read that fails means the same as the end: the lab is gone.
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}
