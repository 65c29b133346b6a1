//! Where a server listens and where a client connects to.

use rustix::net::SocketAddrUnix;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes that the path of a unix socket may have: `sun_path` has 108 and the last one ends it
/// (unix(7)).
pub const UNIX_PATH_BYTES_MAX: usize = 107;

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// The file of a unix socket; or, after a zero byte, its name without a file (unix(7)).
    Unix(PathBuf),
}

/// Where a client connects to, and from which address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Where the server listens.
    pub address: Address,
    /// The local address to connect from; `None` leaves it to the routing table. Unix sockets
    /// ignore it.
    pub source: Option<IpAddr>,
}

impl Address {
    /// The IP address and port; `None` for a unix socket.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }

    /// The port; `None` for a unix socket.
    pub fn port(&self) -> Option<u16> {
        self.tcp().map(|address| address.port())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => match abstract_name(path) {
                Some(name) => write!(f, "unix-abstract:{}", name.escape_ascii()),
                None => write!(f, "unix:{}", path.display()),
            },
        }
    }
}

/// For callers that only know IP: a unix socket is refused with `Unsupported`.
impl ToSocketAddrs for Address {
    type Iter = std::option::IntoIter<SocketAddr>;

    fn to_socket_addrs(&self) -> io::Result<Self::Iter> {
        let no_ip = || io::Error::new(io::ErrorKind::Unsupported, format!("{self} has no port"));
        let address = self.tcp().ok_or_else(no_ip)?;
        Ok(Some(address).into_iter())
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl From<&Address> for Address {
    fn from(address: &Address) -> Self {
        address.clone()
    }
}

impl<A: Into<Address>> From<A> for Target {
    fn from(address: A) -> Self {
        Self { address: address.into(), source: None }
    }
}

impl From<&Target> for Target {
    fn from(target: &Target) -> Self {
        target.clone()
    }
}

/// What follows after the zero byte that a name without a file begins with.
fn abstract_name(path: &Path) -> Option<&[u8]> {
    path.as_os_str().as_bytes().strip_prefix(&[0])
}

/// The kernel's form of a path.
pub(crate) fn unix(path: &Path) -> io::Result<SocketAddrUnix> {
    if let Some(name) = abstract_name(path) {
        let too_long = || io::Error::from(io::ErrorKind::InvalidFilename);
        return SocketAddrUnix::new_abstract_name(name).map_err(|_| too_long());
    }
    let bytes = path.as_os_str().len();
    if bytes > UNIX_PATH_BYTES_MAX {
        let text = format!(
            "the path of a unix socket has at most {UNIX_PATH_BYTES_MAX} bytes, this one {bytes}: {}",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, text));
    }
    if bytes == 0 {
        let text = "the path of the unix socket is empty";
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, text));
    }
    Ok(SocketAddrUnix::new(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_it_is_given() {
        let tcp = Address::from(SocketAddr::from(([127, 0, 0, 1], 80)));
        assert_eq!((tcp.to_string().as_str(), tcp.port()), ("127.0.0.1:80", Some(80)));
        let unix = Address::Unix("/run/echo".into());
        assert_eq!((unix.to_string().as_str(), unix.port()), ("unix:/run/echo", None));
        let nameless = Address::Unix("\0echo".into());
        assert_eq!(nameless.to_string(), "unix-abstract:echo");
    }

    #[test]
    fn a_unix_socket_is_unsupported_where_an_ip_address_is_needed() {
        let error = Address::Unix("/run/echo".into()).to_socket_addrs().unwrap_err();
        assert_eq!(error.to_string(), "unix:/run/echo has no port");
    }

    #[test]
    fn the_longest_path_is_taken_and_one_byte_more_is_refused_in_a_line() {
        let path = |bytes: usize| PathBuf::from("/".repeat(bytes));
        assert!(unix(&path(UNIX_PATH_BYTES_MAX)).is_ok());
        let error = unix(&path(UNIX_PATH_BYTES_MAX + 1)).unwrap_err().to_string();
        assert!(
            error.starts_with("the path of a unix socket has at most 107 bytes, this one 108: /")
        );
        assert!(unix(&path(0)).unwrap_err().to_string().contains("empty"));
    }
}
