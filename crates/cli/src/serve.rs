//! `bookend serve`: the reference server, with every service of `proto/`.

mod delay;
mod echoes;
mod greeters;
mod interop;

use crate::failure::Failure;
use std::env;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::thread;

use bookend_load::contract::exit;
use bookend_server::io::{Stopper, raise_descriptor_limit};
use bookend_server::{Bound, Io, Limits, Server, Statistics};
use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What `bookend serve` is told.
#[derive(Args, Clone, Debug)]
pub struct Arguments {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(long, short, default_value_t = 50051)]
    port: u16,
    /// Unix socket to listen on instead of a port: a server has one listener
    #[arg(long, value_name = "PATH", conflicts_with_all = ["host", "port"])]
    unix: Option<PathBuf>,
    /// Threads; 0 means as many as there are processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Which driver serves the connections
    #[arg(long, value_enum, default_value_t)]
    io: Driver,
    /// Have each thread accept for itself (SO_REUSEPORT), on epoll or uring, instead of one for all
    #[arg(long, conflicts_with = "unix")]
    reuse_port: bool,
    /// Windows, streams and other limits: for hostile clients or for trusted ones
    #[arg(long, value_enum, default_value_t)]
    preset: Preset,
}

/// The values of `--io`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Driver {
    /// The first connections on threads of their own, later ones on epoll
    #[default]
    Auto,
    /// A thread a connection
    Blocking,
    /// All connections spread over the threads
    Epoll,
    /// The same on io_uring (Linux 6.1); on epoll where that cannot be used, which is said
    Uring,
}

/// The values of `--preset`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Preset {
    #[default]
    Internet,
    Trusted,
}

/// Serves until the process is told to end, by a signal or, started by the lab, by the end of its
/// standard input.
///
/// # Errors
/// [`Failure`] when the address is taken or the machine gives no threads.
pub fn start(arguments: &Arguments) -> Result<u8, Failure> {
    check(arguments)?;
    let statistics = run(arguments).map_err(Failure::nothing_measured)?;
    tell(&format!("served {}", statistics.calls.served()));
    Ok(exit::MEASURED)
}

fn check(arguments: &Arguments) -> Result<(), Failure> {
    match (arguments.reuse_port, arguments.io) {
        (true, Driver::Blocking) => Err(Failure::usage(
            "--reuse-port is for --io epoll and uring: blocking threads have one connection each \
             and get it from one listener",
        )),
        _ => Ok(()),
    }
}

fn run(arguments: &Arguments) -> Result<Statistics, Box<dyn std::error::Error>> {
    // Where it is refused, the old limit holds, and accepting says so when it is reached.
    let _ = raise_descriptor_limit();
    let server = bind(arguments)?;
    stop_on_signals(server.stopper())?;
    if env::var_os("BOOKEND_CONTRACT").is_some_and(|value| value == "1") {
        stop_at_end_of_input(server.stopper());
    }
    eprintln!(
        "bookend serve: {} ({})",
        server.local_address(),
        server.chosen()
    );
    tell(&format!("ready {}", server.port().unwrap_or_default()));
    Ok(server.serve()?)
}

fn bind(arguments: &Arguments) -> Result<Bound, Box<dyn std::error::Error>> {
    let limits = match arguments.preset {
        Preset::Internet => Limits::internet(),
        Preset::Trusted => Limits::trusted(),
    };
    let io = match arguments.io {
        Driver::Auto => Io::Auto,
        Driver::Blocking => Io::Blocking,
        Driver::Epoll => Io::Epoll,
        Driver::Uring => Io::Uring,
    };
    let server = Server::builder()
        .add_service(greeters::plain())
        .add_service(greeters::complex())
        .add_service(echoes::short())
        .add_service(echoes::forty_fields())
        .add_service(delay::service()?)
        .add_service(interop::service())
        .reflection()
        .page(include_str!("serve/page.txt"))
        .limits(limits);
    let server = match &arguments.unix {
        Some(path) => server.bind_unix(path)?,
        None => server.bind((arguments.host, arguments.port))?,
    };
    let server = server.io(io).reuse_port(arguments.reuse_port);
    Ok(server.threads(threads(arguments)?))
}

/// The flag, else the lab's variable, else 0: as many as there are processors.
fn threads(arguments: &Arguments) -> Result<usize, String> {
    match (arguments.threads, env::var("BOOKEND_CPUS")) {
        (Some(threads), _) => Ok(threads),
        (None, Ok(text)) => text
            .parse()
            .map_err(|_| format!("BOOKEND_CPUS={text:?} is not a number")),
        (None, Err(_)) => Ok(0),
    }
}

fn stop_on_signals(stopper: Stopper) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if signals.forever().next().is_some() {
                stopper.stop();
            }
        })?;
    Ok(())
}

fn stop_at_end_of_input(stopper: Stopper) {
    thread::spawn(move || {
        // What is written to us means nothing; an error ends the input as well.
        let _ = io::copy(&mut io::stdin().lock().by_ref(), &mut io::sink());
        stopper.stop();
    });
}

/// A line for whoever started us. Nobody may be listening; that is no reason to stop serving.
fn tell(line: &str) {
    let mut output = io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        serve: Arguments,
    }

    fn parse(words: &[&str]) -> Arguments {
        Line::parse_from([&["serve"], words].concat()).serve
    }

    #[test]
    fn it_listens_on_the_loopback_unless_told() {
        let server = bind(&parse(&["--port", "0"])).unwrap();
        assert!(server.local_address().tcp().unwrap().ip().is_loopback());
        assert!(server.chosen().starts_with("auto"));
    }

    #[test]
    fn a_unix_socket_is_listened_on_instead_of_a_port() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serve");
        let path = path.to_str().unwrap();
        let server = bind(&parse(&["--unix", path])).unwrap();
        assert_eq!(server.local_address().to_string(), format!("unix:{path}"));
        assert_eq!(server.port(), None);
        let both = Line::try_parse_from(["serve", "--unix", path, "--port", "1"]);
        let refusal = both.err().unwrap().to_string();
        assert!(refusal.contains("cannot be used with"), "{refusal}");
    }

    #[test]
    fn threads_accept_for_themselves_where_they_can() {
        let words = ["--port", "0", "--threads", "2", "--reuse-port"];
        let server = bind(&parse(&words)).unwrap();
        let chosen = "epoll on 2 thread(s), each with a listener of its own";
        assert_eq!(server.chosen(), chosen);
        let refusal = check(&parse(&["--reuse-port", "--io", "blocking"]));
        assert!(refusal.is_err());
        assert!(check(&parse(&["--reuse-port", "--io", "epoll"])).is_ok());
    }

    #[test]
    fn flags_choose_driver_and_threads() {
        let words = [
            "--port",
            "0",
            "--io",
            "epoll",
            "--threads",
            "3",
            "--preset",
            "trusted",
        ];
        let server = bind(&parse(&words)).unwrap();
        assert_eq!(server.chosen(), "epoll on 3 thread(s)");
    }
}
