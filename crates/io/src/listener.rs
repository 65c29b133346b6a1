//! Accepting connections.

use crate::address::{self, Address};
use crate::{kernel, socket};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net;
use std::io;

/// Connections that may wait to be accepted. The kernel's own limit (`net.core.somaxconn`) is 4096
/// since Linux 5.4; a benchmark that opens thousands at once overflows the customary 128.
pub const LISTEN_BACKLOG: i32 = 4096;

/// How long a driver leaves a listener alone after an accept failed for want of descriptors or
/// memory, or for whatever else is not the one connection's fault: that stays in the queue, and
/// asking again at once would only spin.
pub const ACCEPT_BACK_OFF_NS: u64 = 100_000_000;

/// A socket that accepts connections.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    local_address: Address,
}

/// How one accept ended.
pub(crate) enum Accept {
    /// A connection.
    Connection(OwnedFd),
    /// Nobody is waiting.
    Nobody,
    /// The one that was waiting has gone again.
    Lost,
    /// There is no descriptor or memory for it, or whatever else would fail again at once.
    Exhausted,
}

/// Listens on `address`, with `SO_REUSEADDR` and room for [`LISTEN_BACKLOG`] waiting connections.
/// Port 0 takes a free one: see [`Listener::local_address`].
///
/// # Errors
/// The machine's: the address is in use, is not this machine's, or is not allowed.
pub fn listen(address: impl Into<Address>) -> io::Result<Listener> {
    let address = address.into();
    let socket = socket::open(&address)?;
    let local_address = match &address {
        Address::Tcp(tcp) => {
            net::sockopt::set_socket_reuseaddr(&socket, true)?;
            // Linux hands the option on to every connection that is accepted here.
            kernel::send_at_once(&socket)?;
            kernel::bind(&socket, tcp)?;
            Address::Tcp(net::getsockname(&socket)?.try_into()?)
        }
        Address::Unix(path) => {
            kernel::bind(&socket, &address::unix(path)?)?;
            address
        }
    };
    net::listen(&socket, LISTEN_BACKLOG)?;
    Ok(Listener {
        socket,
        local_address,
    })
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
                | Errno::NETUNREACH,
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
