//! Accepting connections.

use crate::{kernel, socket};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net;
use std::io;
use std::net::SocketAddr;

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
    local_address: SocketAddr,
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
pub fn listen(address: SocketAddr) -> io::Result<Listener> {
    let socket = socket::open(&address)?;
    net::sockopt::set_socket_reuseaddr(&socket, true)?;
    // Linux hands the option on to every connection that is accepted here.
    kernel::send_at_once(&socket)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, LISTEN_BACKLOG)?;
    let local_address = net::getsockname(&socket)?.try_into()?;
    Ok(Listener {
        socket,
        local_address,
    })
}

impl Listener {
    /// Where it listens, with the port that was chosen.
    pub fn local_address(&self) -> SocketAddr {
        self.local_address
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
        match kernel::accept(&self.socket) {
            Ok(socket) => Accept::Connection(socket),
            Err(Errno::AGAIN) => Accept::Nobody,
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
            ) => Accept::Lost,
            Err(_) => Accept::Exhausted,
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
