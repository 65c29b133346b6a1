//! The greeters on tonic: its transport as it comes, a tokio runtime with `BOOKEND_CPUS` workers.

#![forbid(unsafe_code)]

use std::{
    env,
    error::Error,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
};

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

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("tonic {}", env!("LIBRARY_VERSION"));
        return Ok(ExitCode::SUCCESS);
    }
    for (name, supported) in [("BOOKEND_ROLE", "server"), ("BOOKEND_VARIANT", "default")] {
        let asked = variable(name, supported);
        if asked != supported {
            eprintln!("{name}={asked} is not supported; rust-tonic has {supported}");
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
    if said.is_empty() {
        default.to_owned()
    } else {
        said
    }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into())?.with_nodelay(Some(true));
    println!("ready {}", incoming.local_addr()?.port());
    Server::builder()
        .add_service(helloworld::greeter_server::GreeterServer::new(Greeter))
        .add_service(complex_proto::greeter_server::GreeterServer::new(Greeter))
        .serve_with_incoming_shutdown(incoming, leash())
        .await?;
    println!("served {}", SERVED.load(Ordering::Relaxed));
    Ok(())
}

/// Ends when the lab closes our standard input; never when nobody holds the other end.
async fn leash() {
    if env::var("BOOKEND_CONTRACT").as_deref() != Ok("1") {
        return std::future::pending().await;
    }
    // A read that fails ends the leash as its end does: nobody is there any more.
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}
