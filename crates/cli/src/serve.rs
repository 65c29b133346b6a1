//! `bookend serve`: the reference server, with every service of `proto/`.

mod arguments;
mod bound;
mod failed_handshakes;
mod lifetime;

pub use arguments::ServeArguments;

use crate::contract;
use crate::terminal::{Failure, print_error};
use std::io::{self, Write};
use std::thread;

use bookend_contract::exit;
use bookend_contract::lines::Line;
use bookend_payload::error_text::reason;
use bookend_server::io::{ShutdownHandle, Wait, raise_descriptor_limit};
use bookend_server::tls::{
    Authorities, ConfigError, Handshakes, Identity, ServerConfig, TlsAdvice,
};
use bookend_server::{HealthReporter, Io, ServerStatistics};
use bound::bind;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

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
