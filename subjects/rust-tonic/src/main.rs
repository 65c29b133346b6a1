//! The greeters on tonic: its transport as it comes, a tokio runtime with `BOOKEND_CPUS` workers.

#![forbid(unsafe_code)]

use std::{
    env,
    error::Error,
    fs, io,
    net::IpAddr,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
};

use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::{
    Request, Response, Status,
    transport::{Identity, Server, ServerTlsConfig, server::TcpIncoming},
};

mod helloworld {
    tonic::include_proto!("helloworld");
}

mod complex_proto {
    tonic::include_proto!("complex_proto");
}

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

/// What can be asked for, the default first.
const SUPPORTED: [(&str, &[&str]); 3] = [
    ("BOOKEND_ROLE", &["server"]),
    ("BOOKEND_VARIANT", &["default"]),
    ("BOOKEND_TRANSPORT", &["h2c", "tls", "unix"]),
];

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
    for (name, supported) in SUPPORTED {
        let asked = variable(name, supported[0]);
        if !supported.contains(&asked.as_str()) {
            let supported = supported.join(", ");
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
    if said.is_empty() { default.to_owned() } else { said }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let transport = variable("BOOKEND_TRANSPORT", "h2c");
    let mut server = Server::builder();
    if transport == "tls" {
        server = server.tls_config(ServerTlsConfig::new().identity(identity()?))?;
    }
    let router = server
        .add_service(helloworld::greeter_server::GreeterServer::new(Greeter))
        .add_service(complex_proto::greeter_server::GreeterServer::new(Greeter));
    if transport == "unix" {
        let listener = UnixListener::bind(variable("BOOKEND_UNIX_SOCKET", ""))?;
        println!("ready 0");
        let incoming = UnixListenerStream::new(listener);
        router.serve_with_incoming_shutdown(incoming, leash()).await?;
    } else {
        let address: IpAddr = variable("BOOKEND_LISTEN", "127.0.0.1").parse()?;
        let incoming = TcpIncoming::bind((address, 0).into())?.with_nodelay(Some(true));
        println!("ready {}", incoming.local_addr()?.port());
        router.serve_with_incoming_shutdown(incoming, leash()).await?;
    }
    println!("served {}", SERVED.load(Ordering::Relaxed));
    Ok(())
}

fn identity() -> io::Result<Identity> {
    let certificate = fs::read(variable("BOOKEND_TLS_CERTIFICATE", ""))?;
    let key = fs::read(variable("BOOKEND_TLS_KEY", ""))?;
    Ok(Identity::from_pem(certificate, key))
}

/// Ends when the lab closes our standard input; never when no lab started us.
async fn leash() {
    if env::var("BOOKEND_CONTRACT").as_deref() != Ok("1") {
        return std::future::pending().await;
    }
    // A read that fails means the same as the end: the lab is gone.
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}
