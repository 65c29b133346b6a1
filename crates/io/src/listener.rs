//! Accepting connections.

use crate::address::Address;
use crate::socket_file::SocketFile;
use crate::{kernel, socket};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;

/// Connections that may wait to be accepted. The kernel's own limit (`net.core.somaxconn`) is 4096
/// since Linux 5.4; a benchmark that opens thousands at once overflows the customary 128.
pub const LISTEN_BACKLOG: i32 = 4096;

/// How long a driver does not accept after an accept failed for lack of descriptors or memory, or
/// for any other reason that is not the connection's own: the connection stays in the queue, and
/// accepting again at once would only spin.
pub const ACCEPT_BACK_OFF_NS: u64 = 100_000_000;

/// A socket that accepts connections.
#[derive(Debug)]
pub struct Listener {
    /// Dropped before the socket: while that listens, no other server takes the path.
    _file: Option<SocketFile>,
    socket: OwnedFd,
    local_address: Address,
}

/// How one accept ended.
pub(crate) enum Accept {
    /// A connection.
    Connection(OwnedFd),
    /// No connection is waiting.
    Nobody,
    /// The one that was waiting has gone again.
    Lost,
    /// There is no descriptor or memory for it, or whatever else would fail again at once.
    Exhausted,
}

/// Listens on `address`, with room for [`LISTEN_BACKLOG`] waiting connections.
///
/// TCP: with `SO_REUSEADDR`; port 0 picks a free one, see [`Listener::port`]. Unix: the file of a
/// server that is gone is replaced; dropping the listener removes the file; the process's umask
/// decides which users may connect.
///
/// # Errors
/// The machine's: the address is in use, not local, or not permitted. For a unix socket the message
/// names the process that listens there, or says that the path is too long or not a socket.
pub fn listen(address: impl Into<Address>) -> io::Result<Listener> {
    let address = address.into();
    let socket = socket::open(&address)?;
    let (local_address, file) = match &address {
        Address::Tcp(tcp) => (listen_on_port(&socket, tcp)?, None),
        Address::Unix(path) => {
            let file = SocketFile::listen(&socket, path, LISTEN_BACKLOG)?;
            (address, Some(file))
        }
    };
    Ok(Listener { _file: file, socket, local_address })
}

fn listen_on_port(socket: &OwnedFd, address: &SocketAddr) -> io::Result<Address> {
    net::sockopt::set_socket_reuseaddr(socket, true)?;
    // Linux hands the option on to every connection that is accepted here.
    kernel::send_at_once(socket)?;
    kernel::bind(socket, address)?;
    net::listen(socket, LISTEN_BACKLOG)?;
    Ok(Address::Tcp(net::getsockname(socket)?.try_into()?))
}

impl Listener {
    /// Where it listens, with the port that was chosen.
    pub fn local_address(&self) -> &Address {
        &self.local_address
    }

    /// The port that it listens on, which was chosen if 0 was asked for; `None` for a unix socket.
    pub fn port(&self) -> Option<u16> {
        self.local_address.port()
    }

    /// This listener and others on its port, `count` in all, each with a queue of its own: the
    /// kernel gives each connection to one of them, by its addresses and ports. The option is set
    /// only here, so that a port which another server has is refused when this one begins to
    /// listen.
    pub(crate) fn share_port(self, count: NonZeroUsize) -> io::Result<Vec<Self>> {
        let Address::Tcp(address) = self.local_address else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        kernel::share_port(&self.socket)?;
        let sibling = |_| {
            let socket = socket::open(&self.local_address)?;
            kernel::share_port(&socket)?;
            Ok(Self { _file: None, local_address: listen_on_port(&socket, &address)?, socket })
        };
        let siblings: io::Result<Vec<_>> = (1..count.get()).map(sibling).collect();
        let mut all = siblings?;
        all.insert(0, self);
        Ok(all)
    }

    /// Hands over the connections that wait to be accepted, as a server does before it closes its
    /// listener: their peers were told that they are connected. No more than the queue can hold, so
    /// that those who go on connecting do not keep it from its end. Returns how many could not be
    /// accepted for want of descriptors or memory, as far as that is known: 1 or 0.
    pub(crate) fn accept_waiting(&self, mut take: impl FnMut(OwnedFd)) -> u64 {
        for _ in 0..=LISTEN_BACKLOG {
            match self.accept() {
                Accept::Connection(socket) => take(socket),
                Accept::Lost => {}
                Accept::Nobody => return 0,
                Accept::Exhausted => return 1,
            }
        }
        0
    }

    /// Accepts without waiting.
    pub(crate) fn accept(&self) -> Accept {
        kernel::accept(&self.socket).into()
    }
}

impl From<Result<OwnedFd, Errno>> for Accept {
    fn from(accepted: Result<OwnedFd, Errno>) -> Self {
        match accepted {
            Ok(socket) => Self::Connection(socket),
            Err(Errno::AGAIN) => Self::Nobody,
            // accept(2): errors of the connection itself are reported here too: "try again".
            Err(
                Errno::CONNABORTED
                | Errno::INTR
                | Errno::NETDOWN
                | Errno::PROTO
                | Errno::NOPROTOOPT
                | Errno::HOSTDOWN
                | Errno::NONET
                | Errno::HOSTUNREACH
                | Errno::OPNOTSUPP
                | Errno::NETUNREACH
                | Errno::TIMEDOUT,
            ) => Self::Lost,
            Err(_) => Self::Exhausted,
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
