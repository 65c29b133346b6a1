//! A blocking connection without a driver.

use crate::address::{self, Address};
use crate::tls;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt::Timeout;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A connected socket with blocking reads and writes, for callers that need no driver.
#[derive(Debug)]
pub enum ByteStream {
    /// To an IP address.
    Tcp(TcpStream),
    /// To a unix socket.
    Unix(UnixStream),
    /// To either, inside of TLS.
    Tls(Box<tls::TlsStream<ByteStream>>),
}

impl ByteStream {
    /// Connects within `timeout`, which is not zero. TCP sends at once what it is given.
    ///
    /// # Errors
    /// The network's: the connection is refused, or not accepted in time (`TimedOut`).
    /// `InvalidFilename` for a path that no unix socket can have.
    pub fn connect(address: &Address, timeout: Duration) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, timeout)?;
                stream.set_nodelay(true)?;
                Ok(Self::Tcp(stream))
            }
            Address::Unix(path) => Ok(Self::Unix(connect_unix(path, timeout)?)),
        }
    }

    /// Makes a TLS handshake within `timeout`, which is not zero. From here on the stream carries
    /// plaintext, and has no read or write timeout.
    ///
    /// # Errors
    /// A [`tls::TlsFault`] inside of the error where the ends do not agree, else the network's.
    pub fn secure(self, connector: &tls::Connector, timeout: Duration) -> io::Result<Self> {
        self.set_read_timeout(Some(timeout))?;
        self.set_write_timeout(Some(timeout))?;
        let deadline = Instant::now() + timeout;
        let stream = tls::TlsStream::connect(self, connector, || Instant::now() < deadline)?;
        let stream = Self::Tls(Box::new(stream));
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        Ok(stream)
    }

    /// Whether something that was written still stands here, because the transport did not take it
    /// in time: another write, or a flush, goes on with it.
    pub fn wants_write(&self) -> bool {
        match self {
            Self::Tcp(_) | Self::Unix(_) => false,
            Self::Tls(stream) => stream.wants_write(),
        }
    }

    /// How long a read may wait; `None` is for ever.
    ///
    /// # Errors
    /// `InvalidInput` for zero.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
            Self::Unix(stream) => stream.set_read_timeout(timeout),
            Self::Tls(stream) => stream.transport().set_read_timeout(timeout),
        }
    }

    /// How long a write may wait; `None` is for ever.
    ///
    /// # Errors
    /// `InvalidInput` for zero.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_write_timeout(timeout),
            Self::Unix(stream) => stream.set_write_timeout(timeout),
            Self::Tls(stream) => stream.transport().set_write_timeout(timeout),
        }
    }
}

/// A connect that waits, for room in the server's queue, keeps to the time-out of writes
/// (socket(7)).
fn connect_unix(path: &Path, timeout: Duration) -> io::Result<UnixStream> {
    let address = address::unix(path)?;
    let flags = SocketFlags::CLOEXEC;
    let socket: OwnedFd = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    net::sockopt::set_socket_timeout(&socket, Timeout::Send, Some(timeout))?;
    match net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::AGAIN) => return Err(ErrorKind::TimedOut.into()),
        Err(error) => return Err(error.into()),
    }
    net::sockopt::set_socket_timeout(&socket, Timeout::Send, None)?;
    Ok(socket.into())
}

impl Read for ByteStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for ByteStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(_) | Self::Unix(_) => Ok(()),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    /// Longer than any connect takes on the slowest machine: only a test that fails waits for it.
    const TIMEOUT: Duration = Duration::from_secs(20);

    fn hears(address: &Address, accept: impl FnOnce() -> Box<dyn Read>) {
        let mut stream = ByteStream::connect(address, TIMEOUT).unwrap();
        stream.write_all(b"hello").unwrap();
        let mut heard = [0; 5];
        accept().read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"hello");
    }

    #[test]
    fn both_kinds_of_addresses_are_connected_to() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = tcp.local_addr().unwrap().into();
        hears(&address, || Box::new(tcp.accept().unwrap().0));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("echo");
        let unix = UnixListener::bind(&path).unwrap();
        hears(&Address::Unix(path), || Box::new(unix.accept().unwrap().0));
    }

    #[test]
    fn a_full_queue_is_waited_for_no_longer_than_asked() {
        let folder = tempfile::tempdir().unwrap();
        let address = Address::Unix(folder.path().join("echo"));
        let Address::Unix(path) = &address else { unreachable!() };
        let flags = SocketFlags::CLOEXEC;
        let server =
            net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        net::bind(&server, &address::unix(path).unwrap()).unwrap();
        net::listen(&server, 0).unwrap();
        let _first = ByteStream::connect(&address, TIMEOUT).unwrap();
        let second = ByteStream::connect(&address, Duration::from_millis(10)).unwrap_err();
        assert_eq!(second.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn a_refused_connection_and_an_impossible_path_are_different_errors() {
        let missing = Address::Unix("/nowhere/echo".into());
        let kind = |address| ByteStream::connect(address, TIMEOUT).unwrap_err().kind();
        assert_eq!(kind(&missing), ErrorKind::NotFound);
        let long = Address::Unix("/".repeat(200).into());
        assert_eq!(kind(&long), ErrorKind::InvalidFilename);
    }
}
