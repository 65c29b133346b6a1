//! A server that listens as its flags say.

use super::arguments::{Preset, ServeArguments};
use crate::contract;
use bookend_payload::error_text::reason;
use bookend_server::{BindError, BoundServer, HealthReporter, Limits, Server};
use bookend_services::Greeters;
use std::env;
use std::io;
use std::net::SocketAddr;

/// Listens.
///
/// # Errors
/// It cannot, and which flag says where it should.
pub fn bind(
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
        .fallback_page(include_str!("page.txt"))
        .limits(arguments.lifetime.apply(limits));
    let bound = match &arguments.unix {
        Some(path) => builder.bind_unix(path),
        None => builder.bind((contract::listen().unwrap_or(arguments.host), arguments.port)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::check;
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
