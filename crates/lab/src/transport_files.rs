//! What the transports of a run need, and where a server listens.

use crate::cell_error::CellError;
use crate::certificates::Certificates;
use bookend_contract::transport::{Transport, TransportConfig};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The longest path of a Unix domain socket: 108 bytes with the NUL that ends it (unix(7)).
const SOCKET_PATH_MAX_BYTES: usize = 107;

/// What the transports of a run need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportFiles {
    /// The folder for sockets.
    pub folder: PathBuf,
    /// For TLS. `None`: no case of the run is over TLS.
    pub certificates: Option<Certificates>,
}

impl TransportFiles {
    /// For a server that is started now: no two get the same socket.
    ///
    /// # Errors
    /// What the rows of the server say instead.
    pub fn of_server(&self, transport: Transport) -> Result<TransportConfig, CellError> {
        Ok(match transport {
            Transport::H2c => TransportConfig::H2c,
            Transport::Tls => TransportConfig::Tls(self.certificates()?.server.clone()),
            Transport::Unix => TransportConfig::Unix(self.new_socket()?),
        })
    }

    /// For the callers of such a server.
    ///
    /// # Errors
    /// As [`TransportFiles::of_server`].
    pub fn of_caller(&self, server: &TransportConfig) -> Result<TransportConfig, CellError> {
        Ok(match server {
            TransportConfig::Tls(_) => TransportConfig::Tls(self.certificates()?.caller.clone()),
            plain => plain.clone(),
        })
    }

    fn certificates(&self) -> Result<&Certificates, CellError> {
        self.certificates
            .as_ref()
            .ok_or_else(|| CellError::failed("this run has no certificates for TLS"))
    }

    fn new_socket(&self) -> Result<PathBuf, CellError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let socket = self.folder.join(format!("{number}.sock"));
        match socket.as_os_str().len() {
            0..=SOCKET_PATH_MAX_BYTES => Ok(socket),
            bytes => Err(CellError::failed(format!(
                "{} has {bytes} bytes, and the path of a socket can have {SOCKET_PATH_MAX_BYTES}: \
                 set TMPDIR to a shorter folder",
                socket.display()
            ))),
        }
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// On IPv4 loopback.
    Port(u16),
    /// On a socket with this path.
    Unix(PathBuf),
}

impl ServerAddress {
    /// The address of a server that was given `transport` and has said `ready PORT`.
    ///
    /// # Errors
    /// It does not listen where it should.
    pub fn of_ready(port: u16, transport: &TransportConfig) -> Result<ServerAddress, CellError> {
        match (transport, port) {
            (TransportConfig::Unix(socket), 0) => Ok(ServerAddress::Unix(socket.clone())),
            (TransportConfig::Unix(_), port) => Err(CellError::failed(format!(
                "the server said `ready {port}`: on a Unix socket it is `ready 0`"
            ))),
            (_, 0) => Err(CellError::failed(
                "the server said `ready 0`, which is no port: print the one that the kernel gave",
            )),
            (_, port) => Ok(ServerAddress::Port(port)),
        }
    }

    /// The number in its `ready PORT`.
    pub fn port(&self) -> u16 {
        match self {
            ServerAddress::Port(port) => *port,
            ServerAddress::Unix(_) => 0,
        }
    }

    /// `host:port` or `unix:PATH`.
    pub fn target(&self) -> String {
        match self {
            ServerAddress::Port(_) => self.authority(),
            ServerAddress::Unix(socket) => format!("unix:{}", socket.display()),
        }
    }

    /// The authority of its URIs: a socket's path cannot be one.
    pub fn authority(&self) -> String {
        match self {
            ServerAddress::Port(port) => format!("127.0.0.1:{port}"),
            ServerAddress::Unix(_) => "localhost".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix() -> TransportConfig {
        TransportConfig::Unix("/s.sock".into())
    }

    #[test]
    fn a_server_listens_where_it_was_told() {
        let address = |port, transport| ServerAddress::of_ready(port, &transport).ok();
        assert_eq!(address(7, TransportConfig::H2c), Some(ServerAddress::Port(7)));
        assert_eq!(address(0, unix()), Some(ServerAddress::Unix("/s.sock".into())));
        assert_eq!(address(0, TransportConfig::H2c), None);
        assert_eq!(address(7, unix()), None);
    }

    #[test]
    fn a_target_says_how_to_connect_and_an_authority_fits_into_a_uri() {
        let words = |address: ServerAddress| (address.target(), address.authority());
        let own = |target: &str, authority: &str| (target.to_owned(), authority.to_owned());
        let tcp = own("127.0.0.1:7", "127.0.0.1:7");
        assert_eq!(words(ServerAddress::Port(7)), tcp);
        let local = own("unix:/s.sock", "localhost");
        assert_eq!(words(ServerAddress::Unix("/s.sock".into())), local);
    }

    #[test]
    fn every_server_gets_a_socket_of_its_own() {
        let files = TransportFiles { folder: "/tmp/run".into(), certificates: None };
        let socket = || files.of_server(Transport::Unix).expect("a short path");
        assert_ne!(socket(), socket());
    }

    #[test]
    fn a_folder_that_is_too_deep_for_sockets_is_named_with_the_remedy() {
        let files = TransportFiles {
            folder: PathBuf::from(format!("/{}", "deep/".repeat(30))),
            certificates: None,
        };
        let said = files.of_server(Transport::Unix).expect_err("too long");
        assert!(said.to_string().contains("set TMPDIR"), "{said}");
    }
}
