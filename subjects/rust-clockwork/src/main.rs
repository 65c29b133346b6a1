//! A server whose answers are known beforehand, on h2 alone: what the instrument is held against.

#![forbid(unsafe_code)]

mod clock;
mod connection;
mod order;
mod record;
mod schedule;
mod socket;

use connection::Connection;
use record::Record;
use schedule::Schedule;
use std::{
    cell::{Cell, RefCell},
    env,
    error::Error,
    process::ExitCode,
    rc::Rc,
};
use tokio::{
    net::TcpListener,
    task::{LocalSet, spawn_local},
};

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

/// What can be asked for, the default first.
const SUPPORTED: [(&str, &[&str]); 3] = [
    ("BOOKEND_ROLE", &["server"]),
    ("BOOKEND_VARIANT", &["spin", "sleep"]),
    ("BOOKEND_TRANSPORT", &["h2c"]),
];

/// What all connections share. There is one thread.
pub struct Server {
    /// Whether it looks again and again instead of being woken up.
    spins: bool,
    schedule: Schedule,
    record: RefCell<Record>,
    held: RefCell<Vec<u8>>,
    /// CPU time that calls ordered, nanoseconds.
    ordered_ns: Cell<u64>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut words = env::args().skip(1);
    match words.next().as_deref() {
        Some("--version") => println!("h2 {}", env!("LIBRARY_VERSION")),
        // The child of a call that burns its time in one.
        Some("--burn-ns") => clock::burn(words.next().unwrap_or_default().parse()?),
        _ => return serve(),
    }
    Ok(ExitCode::SUCCESS)
}

fn serve() -> Result<ExitCode, Box<dyn Error>> {
    for (name, supported) in SUPPORTED {
        let asked = variable(name, supported[0]);
        if !supported.contains(&asked.as_str()) {
            let supported = supported.join(", ");
            eprintln!("{name}={asked} is not supported; rust-clockwork has {supported}");
            return Ok(ExitCode::from(NOT_SUPPORTED));
        }
    }
    let server = Rc::new(Server {
        spins: variable("BOOKEND_VARIANT", "spin") == "spin",
        schedule: Schedule::default(),
        record: RefCell::default(),
        held: RefCell::default(),
        ordered_ns: Cell::new(0),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, until_the_end(Rc::clone(&server)))?;
    print!("{}", server.record.borrow().notes(server.ordered_ns.get()));
    // Whoever is still connected need not be waited for.
    Ok(ExitCode::SUCCESS)
}

/// What the lab has said; a variable that is set to nothing is not set.
fn variable(name: &str, default: &str) -> String {
    let said = env::var(name).unwrap_or_default();
    if said.is_empty() { default.to_owned() } else { said }
}

async fn until_the_end(server: Rc<Server>) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("ready {}", listener.local_addr()?.port());
    if server.spins {
        let server = Rc::clone(&server);
        spawn_local(async move { server.schedule.run().await });
    }
    spawn_local(accept(listener, server));
    leash().await;
    Ok(())
}

async fn accept(listener: TcpListener, server: Rc<Server>) {
    while let Ok((socket, _)) = listener.accept().await {
        let _ = socket.set_nodelay(true);
        server.record.borrow_mut().connections += 1;
        Connection::start(&server, socket);
    }
}

/// Ends when the lab closes our standard input; never when no lab started us.
async fn leash() {
    if env::var("BOOKEND_CONTRACT").as_deref() != Ok("1") {
        return std::future::pending().await;
    }
    // A read that fails means the same as the end: the lab is gone.
    let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut tokio::io::sink()).await;
}
