//! The greeters on three versions of pajamax, with a blocking thread a connection.
//!
//! pajamax takes an address and neither says which port it got nor ever returns. So the port is
//! read from the kernel, and the process ends by leaving `main`.

#![forbid(unsafe_code)]

mod greeters;
mod v0_2;
mod v0_3;
mod v0_4;

use std::thread::{self, JoinHandle};
use std::{env, error::Error, fs, io, process::ExitCode, sync::atomic::Ordering, time::Duration};

type Variant = (&'static str, &'static str, fn() -> io::Result<()>);
/// Each with the version that is built in.
const VARIANTS: [Variant; 5] = [
    ("default", env!("LIBRARY_VERSION_0_4"), v0_4::serve),
    ("0.4.0-dispatch", env!("LIBRARY_VERSION_0_4"), v0_4::serve_dispatched),
    ("0.3.3-frames", env!("LIBRARY_VERSION_0_3"), v0_3::serve),
    ("0.3.3", env!("LIBRARY_VERSION_0_3"), v0_3::serve),
    ("0.2.0", env!("LIBRARY_VERSION_0_2"), v0_2::serve),
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let variant = |name: &str| VARIANTS.into_iter().find(|(known, ..)| *known == name);
    let mut arguments = env::args().skip(1);
    if arguments.next().as_deref() == Some("--version") {
        let asked = arguments.next().unwrap_or_default();
        let (_, version, _) = variant(&asked).ok_or("say which variant's")?;
        println!("pajamax {version}");
        return Ok(ExitCode::SUCCESS);
    }
    let role = variable("BOOKEND_ROLE", "server");
    let asked = variable("BOOKEND_VARIANT", "default");
    let Some((_, _, serve)) = variant(&asked).filter(|_| role == "server") else {
        eprintln!("rust-pajamax has no variant {asked} as {role}");
        return Ok(ExitCode::from(89)); // As the contract says it.
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
    println!("served {}", greeters::SERVED.load(Ordering::Relaxed));
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
