//! `bookend serve`: the reference server, with every service of `proto/`.

mod failed_handshakes;
mod lifetime;

use crate::contract;
use crate::terminal::{Failure, print_error};
use std::env;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::thread;

use bookend_contract::exit;
use bookend_contract::lines::Line;
use bookend_load::flags::whole;
use bookend_payload::error_text::reason;
use bookend_server::io::{ShutdownHandle, Wait, raise_descriptor_limit};
use bookend_server::tls::{
    Authorities, ConfigError, Handshakes, Identity, ServerConfig, TlsAdvice,
};
use bookend_server::{
    BindError, BoundServer, HealthReporter, Io, Limits, Server, ServerStatistics,
};
use bookend_services::Greeters;
use clap::{Args, ValueEnum};
use lifetime::LifetimeFlags;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

const EXAMPLES: &str = r"Examples:
  bookend serve --port 50051
  bookend serve --tls-certificate server.pem --tls-key server.key";

/// The flags of `bookend serve`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ServeArguments {
    /// Address to listen on
    #[arg(
        long, value_name = "ADDRESS", value_parser = host, default_value = "127.0.0.1",
        help_heading = "Address"
    )]
    host: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(
        long, short, value_parser = whole::<u16>, default_value_t = 50051, help_heading = "Address"
    )]
    port: u16,
    /// Unix socket to listen on, instead of a port
    #[arg(
        long, value_name = "PATH", conflicts_with_all = ["host", "port"], help_heading = "Address"
    )]
    unix: Option<PathBuf>,
    /// Number of threads; 0 means one per processor [default: 0]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, help_heading = "Threads")]
    threads: Option<usize>,
    /// Driver of the connections: blocking (one thread per connection), epoll (connections spread
    /// over the threads), uring (the same on io_uring; needs Linux 6.1, else epoll), or auto (epoll
    /// on one thread; with more, threads of their own for the first connections, epoll for later
    /// ones)
    #[arg(long, default_value_t = Io::Auto, help_heading = "Threads")]
    io: Io,
    /// How threads wait: sleep (in the kernel), or spin (each uses a whole processor)
    #[arg(long, default_value_t = Wait::Sleep, help_heading = "Threads")]
    wait: Wait,
    /// Let each thread accept connections itself (SO_REUSEPORT), with epoll or uring
    #[arg(long, conflicts_with = "unix", help_heading = "Threads")]
    reuse_port: bool,
    /// Accept only TLS, with this certificate chain (PEM, the server's own first)
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "TLS")]
    tls_certificate: Option<PathBuf>,
    /// Private key of --tls-certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = "TLS")]
    tls_key: Option<PathBuf>,
    /// Accept only clients with a certificate that one of these authorities signed (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = "TLS")]
    tls_client_ca: Option<PathBuf>,
    /// Limits on windows, streams and more: for hostile clients (internet) or trusted ones
    #[arg(long, value_enum, default_value_t, help_heading = "Limits")]
    preset: Preset,
    /// Read and write the messages of both greeters in place, without allocation
    #[arg(long, help_heading = "Threads")]
    borrowed: bool,
    #[command(flatten)]
    lifetime: LifetimeFlags,
}

/// The values of `--preset`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Preset {
    #[default]
    Internet,
    Trusted,
}

/// Serves until a signal ends the process or, if the lab started it, until its standard input
/// closes.
///
/// # Errors
/// [`Failure`] when the address is taken or no thread can be started.
pub fn start(arguments: &ServeArguments) -> Result<u8, Failure> {
    check(arguments)?;
    let tls = tls(arguments).map_err(Failure::usage)?;
    let statistics = run(arguments, tls).map_err(Failure::nothing_measured)?;
    note(&account(&statistics));
    if arguments.tls_certificate.is_some() {
        note(&handshakes(&statistics.handshakes));
    }
    tell(&Line::Served(statistics.calls.served()));
    if arguments.wait == Wait::Spin {
        // Its CPU time means nothing.
        let value = statistics.io.busy_ns as f64 / 1e9;
        tell(&Line::Note { name: "busy_seconds".to_owned(), value });
    }
    Ok(exit::MEASURED)
}

fn check(arguments: &ServeArguments) -> Result<(), Failure> {
    if arguments.reuse_port && arguments.io == Io::Blocking {
        return Err(Failure::usage(
            "--reuse-port is for --io epoll and uring: blocking threads have one connection each \
             and get it from one listener",
        ));
    }
    Ok(())
}

/// What its flags for TLS are called in advice.
static TLS_FLAGS: TlsAdvice = TlsAdvice { authorities: "--tls-client-ca", ..TlsAdvice::SERVER };

/// The TLS configuration, if there is one. Its files are read before anything else happens.
fn tls(arguments: &ServeArguments) -> Result<Option<ServerConfig>, ConfigError> {
    let (Some(certificate), Some(key)) = (&arguments.tls_certificate, &arguments.tls_key) else {
        return Ok(None);
    };
    let identity = Identity::read(certificate, key)?;
    let client_authorities =
        arguments.tls_client_ca.as_deref().map(Authorities::read).transpose()?;
    ServerConfig::new(identity, client_authorities)?.advice(&TLS_FLAGS).log_keys().map(Some)
}

fn handshakes(handshakes: &Handshakes) -> String {
    let Handshakes { full, resumed, failed, first_failure } = handshakes;
    let why =
        first_failure.as_ref().map(|why| format!(", the first because {why}")).unwrap_or_default();
    format!("TLS handshakes: {full} full, {resumed} resumed, {failed} failed{why}")
}

fn run(
    arguments: &ServeArguments,
    tls: Option<ServerConfig>,
) -> Result<ServerStatistics, Box<dyn std::error::Error>> {
    // If this fails, the old limit holds, and accepting reports when it is reached.
    let _ = raise_descriptor_limit();
    let is_under_the_lab = contract::is_under_the_lab();
    let health = HealthReporter::new();
    let server = arguments.lifetime.drain(bind(arguments, &health)?, is_under_the_lab);
    let server = match tls {
        Some(config) => server.tls(failed_handshakes::report(config, note)?),
        None => server,
    };
    stop_on_signals(server.shutdown_handle(), health)?;
    if is_under_the_lab {
        let shutdown = server.shutdown_handle();
        contract::at_end_of_input(move || shutdown.stop())?;
    }
    note(&format!("{} ({})", server.local_address(), server.chosen()));
    tell(&Line::Ready(server.port().unwrap_or_default()));
    let threads = arguments.threads.map(|threads| format!(" with --threads {threads}"));
    let unserved =
        |error| format!("cannot serve{}: {}", threads.unwrap_or_default(), reason(&error));
    Ok(server.serve().map_err(unserved)?)
}

fn bind(
    arguments: &ServeArguments,
    health: &HealthReporter,
) -> Result<BoundServer, Box<dyn std::error::Error>> {
    let limits = match arguments.preset {
        Preset::Internet => Limits::internet(),
        Preset::Trusted => Limits::trusted(),
    };
    let greeters = if arguments.borrowed { Greeters::Borrowed } else { Greeters::Owned };
    let builder = bookend_services::add_all(Server::builder(), greeters)?
        .add_service(health.service())
        .reflection()
        .fallback_page(include_str!("serve/page.txt"))
        .limits(arguments.lifetime.apply(limits));
    let bound = match &arguments.unix {
        Some(path) => builder.bind_unix(path),
        None => builder.bind((arguments.host, arguments.port)),
    };
    let server = bound.map_err(|error| match error {
        BindError::Address(error) => cannot_listen(arguments, &error),
        other => other.to_string(),
    })?;
    Ok(server
        .io(arguments.io)
        .wait(arguments.wait)
        .reuse_port(arguments.reuse_port)
        .threads(threads(arguments)?))
}

/// Where it cannot listen, why, and which flag says where.
fn cannot_listen(arguments: &ServeArguments, error: &io::Error) -> String {
    if let Some(path) = &arguments.unix {
        let (path, reason) = (path.display().to_string(), reason(error));
        // Most of these errors begin with it.
        let reason = reason.strip_prefix(&format!("{path}: ")).unwrap_or(&reason);
        return format!("cannot listen on --unix {path}: {reason}");
    }
    let address = SocketAddr::new(arguments.host, arguments.port);
    let remedy = match error.kind() {
        io::ErrorKind::AddrInUse => "--port takes another, and 0 a free one",
        io::ErrorKind::AddrNotAvailable => "--host takes an address of this machine",
        _ => "--host and --port say where",
    };
    format!("cannot listen on {address}: {}; {remedy}", reason(error))
}

/// Reads an address to listen on.
///
/// # Errors
/// It is not an IP address. A name has several, or other ones tomorrow.
fn host(text: &str) -> Result<IpAddr, &'static str> {
    text.parse().map_err(|_| "not an IP address such as 127.0.0.1, 0.0.0.0 or ::")
}

/// The flag, else the lab's variable, else 0: as many as there are processors.
fn threads(arguments: &ServeArguments) -> Result<usize, String> {
    match (arguments.threads, env::var("BOOKEND_CPUS")) {
        (Some(threads), _) => Ok(threads),
        (None, Ok(text)) => {
            text.parse().map_err(|_| format!("BOOKEND_CPUS={text:?} is not a number"))
        }
        (None, Err(_)) => Ok(0),
    }
}

/// The first signal begins a graceful shutdown, the second ends open calls.
fn stop_on_signals(shutdown: ShutdownHandle, health: HealthReporter) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut each = signals.forever();
        if each.next().is_some() {
            note("stopping; once more ends the calls that go on");
            health.shut_down();
            shutdown.stop();
        }
        if each.next().is_some() {
            shutdown.stop_now();
        }
    })?;
    Ok(())
}

/// How calls and connections ended, without the counts that are zero.
fn account(statistics: &ServerStatistics) -> String {
    let ServerStatistics { calls, io, .. } = statistics;
    let mut text = format!("answered {} call(s) on {} connection(s)", calls.served(), io.accepted);
    let rest = [
        (calls.answered_error, "of them with an error"),
        (calls.cut_off, "cut off at the end"),
        (calls.late, "answered too late"),
        (calls.panics, "handler(s) panicked"),
        (calls.broken_connections, "connection(s) broken"),
        (calls.vanished_connections, "connection(s) without an answer to PING"),
        (calls.retired_connections, "connection(s) asked to leave"),
        (calls.shed_connections, "connection(s) reset for want of memory"),
        (calls.refused_connections, "connection(s) too many from one address"),
        (calls.recalled, "call(s) ended to free their thread"),
        (io.accept_errors, "time(s) nothing could be accepted"),
    ];
    for (count, what) in rest.iter().filter(|(count, _)| *count > 0) {
        text += &format!(", {count} {what}");
    }
    text
}

/// A line for people. That it cannot be written is no reason to stop serving.
fn note(line: &str) {
    print_error(&format!("bookend serve: {line}"));
}

/// A line for the program that started this one, which may have stopped reading.
fn tell(line: &Line) {
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
        serve: ServeArguments,
    }

    fn parse(words: &[&str]) -> ServeArguments {
        Line::parse_from([&["serve"], words].concat()).serve
    }

    #[test]
    fn it_listens_on_the_loopback_unless_told() {
        let server =
            bind(&parse(&["--port", "0", "--threads", "2"]), &HealthReporter::new()).unwrap();
        assert!(server.local_address().tcp().unwrap().ip().is_loopback());
        assert!(server.chosen().starts_with("auto"));
    }

    #[test]
    fn a_unix_socket_is_listened_on_instead_of_a_port() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("serve");
        let path = socket.to_str().unwrap();
        let server = bind(&parse(&["--unix", path]), &HealthReporter::new()).unwrap();
        assert_eq!(server.local_address().to_string(), format!("unix:{path}"));
        assert_eq!(server.port(), None);
        let both = Line::try_parse_from(["serve", "--unix", path, "--port", "1"]);
        let refusal = both.err().unwrap().to_string();
        assert!(refusal.contains("cannot be used with"), "{refusal}");
    }

    #[test]
    fn threads_accept_for_themselves_where_they_can() {
        let words = ["--port", "0", "--threads", "2", "--reuse-port"];
        let server = bind(&parse(&words), &HealthReporter::new()).unwrap();
        let chosen = "epoll on 2 thread(s), each with a listener of its own";
        assert_eq!(server.chosen(), chosen);
        let refusal = check(&parse(&["--reuse-port", "--io", "blocking"]));
        assert!(refusal.is_err());
        assert!(check(&parse(&["--reuse-port", "--io", "epoll"])).is_ok());
    }

    #[test]
    fn flags_choose_driver_and_threads() {
        let words = ["--port", "0", "--io", "epoll", "--threads", "3", "--preset", "trusted"];
        let server = bind(&parse(&words), &HealthReporter::new()).unwrap();
        assert_eq!(server.chosen(), "epoll on 3 thread(s)");
    }
}
