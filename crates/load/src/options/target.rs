//! Where the server listens: `host:port`.

use std::fmt;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::num::NonZeroU16;
use std::str::FromStr;
use std::time::Duration;

/// A host and a port. `Display` writes them as an authority, with brackets around IPv6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A name or an address, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Target {
    /// The address to connect to. Of a name with several addresses, it is the first that accepts
    /// a connection within `patience`, or the first of all.
    ///
    /// # Errors
    /// [`TargetError::Unresolved`] when the name has no address.
    pub fn resolve(&self, patience: Option<Duration>) -> Result<SocketAddr, TargetError> {
        let unresolved = |reason: String| TargetError::Unresolved {
            host: self.host.clone(),
            reason,
        };
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let addresses: Vec<SocketAddr> = found
            .map_err(|error| unresolved(error.to_string()))?
            .collect();
        let patience = patience.unwrap_or(LONGEST_TRIAL);
        let accepts = |address: &&SocketAddr| TcpStream::connect_timeout(address, patience).is_ok();
        match addresses.as_slice() {
            [] => Err(unresolved("it has no address".to_owned())),
            // Nobody is disturbed where there is no choice.
            [only] => Ok(*only),
            [first, ..] => Ok(*addresses.iter().find(accepts).unwrap_or(first)),
        }
    }
}

/// How long an address is tried where connections may take for ever.
const LONGEST_TRIAL: Duration = Duration::from_secs(10);

/// Why a text is not a target. Always the user's fault; `Display` says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// No port.
    PortMissing {
        /// The host, as it has to be written before a port.
        host: String,
    },
    /// A port that is no number from 1 to 65535.
    PortWrong {
        /// What stood there.
        port: String,
    },
    /// A name without an address.
    Unresolved {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// A scheme or a path.
    NotHostPort {
        /// The whole text.
        text: String,
    },
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let (host, rest) = split_host(text)?;
        let Some(port) = rest.strip_prefix(':') else {
            return Err(TargetError::PortMissing {
                host: bracketed(host),
            });
        };
        match port.parse::<NonZeroU16>() {
            // As in ghz, a port alone is a port of this machine.
            Ok(port) if host.is_empty() => Ok(Target {
                host: "localhost".to_owned(),
                port: port.get(),
            }),
            Ok(port) => Ok(Target {
                host: host.to_owned(),
                port: port.get(),
            }),
            Err(_) => Err(TargetError::PortWrong {
                port: port.to_owned(),
            }),
        }
    }
}

/// The host, and the rest from the colon on.
fn split_host(text: &str) -> Result<(&str, &str), TargetError> {
    let refuse = || TargetError::NotHostPort {
        text: text.to_owned(),
    };
    let illegal = |c: char| c == '/' || c == '@' || c.is_whitespace() || c.is_control();
    if text.is_empty() || text.contains(illegal) {
        return Err(refuse());
    }
    if let Some(inner) = text.strip_prefix('[') {
        return inner.split_once(']').ok_or_else(refuse);
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => Ok((text, "")),
        Some((host, _)) => Ok((host, &text[host.len()..])),
        None => Ok((text, "")),
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", bracketed(&self.host), self.port)
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortMissing { host } => {
                write!(formatter, "target {host} has no port: write {host}:50051")
            }
            Self::PortWrong { port } => {
                write!(formatter, "port \"{port}\" is not a number from 1 to 65535")
            }
            Self::Unresolved { host, reason } => {
                write!(formatter, "cannot find the address of {host}: {reason}")
            }
            Self::NotHostPort { text } => {
                write!(
                    formatter,
                    "target \"{text}\" is not HOST:PORT: write one like localhost:50051"
                )
            }
        }
    }
}

impl std::error::Error for TargetError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(String, u16), String> {
        let target = text.parse::<Target>().map_err(|error| error.to_string())?;
        Ok((target.host, target.port))
    }

    #[test]
    fn hosts_and_addresses_are_read() {
        assert_eq!(read("localhost:50051"), Ok(("localhost".to_owned(), 50051)));
        assert_eq!(read("127.0.0.1:1"), Ok(("127.0.0.1".to_owned(), 1)));
        assert_eq!(read("[::1]:65535"), Ok(("::1".to_owned(), 65535)));
        assert_eq!(read(":8080"), Ok(("localhost".to_owned(), 8080)));
    }

    #[test]
    fn what_is_printed_can_be_read() {
        for text in ["localhost:50051", "[::1]:50051"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_comes_with_the_fix() {
        for (text, advice) in [
            (
                "localhost",
                "target localhost has no port: write localhost:50051",
            ),
            ("::1", "target [::1] has no port: write [::1]:50051"),
            ("[::1]", "target [::1] has no port: write [::1]:50051"),
            ("localhost:", "port \"\" is not a number from 1 to 65535"),
            ("localhost:0", "port \"0\" is not a number from 1 to 65535"),
            (
                "localhost:70000",
                "port \"70000\" is not a number from 1 to 65535",
            ),
        ] {
            assert_eq!(read(text), Err(advice.to_owned()));
        }
        for text in [
            "http://localhost:80",
            "dns:///x:1",
            "a:1/b",
            "",
            "[::1",
            "a b:1",
        ] {
            assert!(
                read(text).unwrap_err().contains("is not HOST:PORT"),
                "{text}"
            );
        }
    }
}
