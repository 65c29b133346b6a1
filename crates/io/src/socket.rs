//! What both drivers do with sockets.

use crate::address::{self, Address, Target};
use crate::kernel;
use rustix::event::{PollFd, Timespec};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::AddressFamily;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::Duration;

/// A socket that never waits, or the error that kept it from being made.
pub(crate) fn open(address: &Address) -> io::Result<OwnedFd> {
    let family = match address {
        Address::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
        Address::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
        Address::Unix(_) => AddressFamily::UNIX,
    };
    Ok(kernel::socket(family)?)
}

/// Sets TCP_NODELAY on a socket that another component made; unix sockets need none.
pub(crate) fn send_at_once(socket: &OwnedFd) -> Result<(), Errno> {
    match kernel::family(socket)? {
        AddressFamily::UNIX => Ok(()),
        _ => kernel::send_at_once(socket),
    }
}

/// Begins to connect. The socket becomes writable once that has ended, well or badly.
pub(crate) fn begin_connect(target: &Target) -> io::Result<OwnedFd> {
    let socket = open(&target.address)?;
    let begun = match &target.address {
        Address::Tcp(address) => {
            kernel::send_at_once(&socket)?;
            if let Some(source) = target.source {
                leave_from(&socket, source)?;
            }
            kernel::connect(&socket, address)
        }
        Address::Unix(path) => kernel::connect(&socket, &address::unix(path)?),
    };
    match begun {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(Errno::AGAIN) if target.address.tcp().is_none() => Err(queue_is_full()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a connect that was just begun has ended. On the loopback it has, and asking once more is
/// cheaper than waiting for word of it.
pub(crate) fn is_there(socket: &OwnedFd, target: &Target) -> io::Result<bool> {
    let Some(address) = target.address.tcp() else {
        return Ok(false);
    };
    match kernel::connect(socket, &address) {
        Ok(()) | Err(Errno::ISCONN) => Ok(true),
        Err(Errno::ALREADY | Errno::INPROGRESS | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Binds a socket to the local address that its connection is to come from.
fn leave_from(socket: &OwnedFd, source: IpAddr) -> Result<(), Errno> {
    // Where the kernel cannot, the address has its 28,000 ports for all targets together.
    let _ = kernel::take_port_late(socket);
    kernel::bind(socket, &SocketAddr::new(source, 0))
}

/// A unix socket is connected when it is in its server's queue; a full one is not waited for
/// (connect(2)).
fn queue_is_full() -> io::Error {
    let text = "the queue of connections that the server has not accepted yet is full";
    io::Error::new(io::ErrorKind::WouldBlock, text)
}

/// How a connect ended whose socket has become writable.
pub(crate) fn end_connect(socket: &OwnedFd) -> io::Result<()> {
    Ok(kernel::pending_error(socket)??)
}

/// How long a driver rests that the kernel has no memory to wait for: asking again at once would
/// only spin.
const POLL_BACK_OFF: Duration = Duration::from_millis(10);

/// Waits for several descriptors. Where the kernel has no memory for that, nothing has
/// happened to them.
pub(crate) fn wait(polled: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> io::Result<()> {
    match kernel::poll(polled, timeout) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(Errno::NOMEM | Errno::AGAIN) => {
            thread::sleep(POLL_BACK_OFF);
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

/// The error that is pending on a socket that epoll or poll called broken.
pub(crate) fn pending_error(socket: impl AsFd) -> io::Error {
    match kernel::pending_error(socket) {
        Ok(Err(error)) | Err(error) => error.into(),
        Ok(Ok(())) => io::ErrorKind::ConnectionReset.into(),
    }
}

/// The process at the other end of a unix socket, in words.
pub(crate) fn peer_process(socket: &OwnedFd) -> String {
    let Some(number) = kernel::peer_process(socket) else {
        return "another process".to_owned();
    };
    match fs::read_to_string(format!("/proc/{number}/comm")) {
        Ok(name) => format!("process {number} ({})", name.trim_end()),
        Err(_) => format!("process {number}"),
    }
}

/// The error of a connect that was aborted, or still in progress when its driver ended.
pub(crate) fn given_up() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}
