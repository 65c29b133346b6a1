//! The greeters on pajamax in its local mode: one blocking thread a connection.
//!
//! pajamax takes an address and neither says which port it got nor ever returns. So the port is
//! read from the kernel, and the process ends by leaving `main`.

#![forbid(unsafe_code)]

mod v0_2;

use std::{
    env,
    error::Error,
    fs, io,
    net::Ipv4Addr,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread::{self, JoinHandle},
    time::Duration,
};

mod helloworld {
    include!(concat!(env!("OUT_DIR"), "/helloworld.rs"));
}

mod complex_proto {
    include!(concat!(env!("OUT_DIR"), "/complex_proto.rs"));
}

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

/// pajamax drops connections beyond 100 unless told; the suites open up to 10,000.
const MAX_CONNECTIONS: usize = 100_000;

/// Calls that reached a handler, for the line `served N`.
static SERVED: AtomicU64 = AtomicU64::new(0);

struct Greeter;

impl helloworld::Greeter for Greeter {
    fn say_hello(
        &self,
        request: helloworld::HelloRequest,
    ) -> pajamax::Response<helloworld::HelloReply> {
        SERVED.fetch_add(1, Ordering::Relaxed);
        let message = format!("Hello {}!", request.name);
        Ok(helloworld::HelloReply { message })
    }
}

impl complex_proto::Greeter for Greeter {
    fn say_hello(
        &self,
        request: complex_proto::HelloRequest,
    ) -> pajamax::Response<complex_proto::HelloReply> {
        SERVED.fetch_add(1, Ordering::Relaxed);
        let response = request.request;
        Ok(complex_proto::HelloReply { response })
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some("--version") {
        let version = match arguments.next().as_deref() {
            Some("0.2.0") => env!("LIBRARY_VERSION_0_2"),
            _ => env!("LIBRARY_VERSION_DEFAULT"),
        };
        println!("pajamax {version}");
        return Ok(ExitCode::SUCCESS);
    }
    let role = variable("BOOKEND_ROLE", "server");
    let variant = variable("BOOKEND_VARIANT", "default");
    let serve = match (role.as_str(), variant.as_str()) {
        ("server", "default") => serve,
        ("server", "0.2.0") => v0_2::serve,
        _ => {
            eprintln!("rust-pajamax has no variant {variant} as {role}");
            return Ok(ExitCode::from(NOT_SUPPORTED));
        }
    };
    let server = thread::spawn(serve);
    while !server.is_finished() {
        if let Some(port) = listening_port()? {
            println!("ready {port}");
            return run(server);
        }
        thread::sleep(Duration::from_millis(1));
    }
    ended(server)
}

fn serve() -> io::Result<()> {
    pajamax::Config::new()
        .max_concurrent_connections(MAX_CONNECTIONS)
        .add_service(helloworld::GreeterServer::new(Greeter))
        .add_service(complex_proto::GreeterServer::new(Greeter))
        .serve((Ipv4Addr::LOCALHOST, 0))
}

/// What the lab has said; a variable that is set to nothing is not set.
fn variable(name: &str, default: &str) -> String {
    let said = env::var(name).unwrap_or_default();
    if said.is_empty() { default.to_owned() } else { said }
}

/// Serves until the lab closes our standard input; without a lab, until killed.
fn run(server: JoinHandle<io::Result<()>>) -> Result<ExitCode, Box<dyn Error>> {
    if env::var("BOOKEND_CONTRACT").as_deref() != Ok("1") {
        return ended(server);
    }
    io::copy(&mut io::stdin(), &mut io::sink())?;
    println!("served {}", SERVED.load(Ordering::Relaxed));
    Ok(ExitCode::SUCCESS)
}

fn ended(server: JoinHandle<io::Result<()>>) -> Result<ExitCode, Box<dyn Error>> {
    server.join().map_err(|_| "pajamax panicked")??;
    Err("pajamax stopped serving".into())
}

/// The port of the one socket of this process that listens, once there is one.
fn listening_port() -> io::Result<Option<u16>> {
    let own_files: Vec<_> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .collect();
    let sockets = fs::read_to_string("/proc/self/net/tcp")?;
    Ok(sockets.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (address, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let listens = *state == "0A";
        let ours = listens && own_files.contains(&format!("socket:[{inode}]").into());
        let (_, port) = address.split_once(':')?;
        ours.then(|| u16::from_str_radix(port, 16).ok()).flatten()
    }))
}
