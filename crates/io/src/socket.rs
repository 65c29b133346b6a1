//! What both drivers do with sockets.

use crate::kernel;
use rustix::event::{PollFd, Timespec};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::AddressFamily;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// A TCP socket that never waits, or the error that kept it from being made.
pub(crate) fn open(address: &SocketAddr) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    Ok(kernel::socket(family)?)
}

/// Begins to connect. The socket becomes writable once that has ended, well or badly.
pub(crate) fn begin_connect(target: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = open(target)?;
    kernel::send_at_once(&socket)?;
    match kernel::connect(&socket, target) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// How a connect ended whose socket has become writable.
pub(crate) fn end_connect(socket: &OwnedFd) -> io::Result<()> {
    Ok(kernel::pending_error(socket)??)
}

/// How long a driver rests that the kernel has no memory to wait for: asking again at once would
/// only spin.
const POLL_BACK_OFF: Duration = Duration::from_millis(10);

/// Waits for several descriptors. Where the kernel has no memory for that, nothing has happened to
/// them.
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

/// Has the peer see a reset, and what the kernel still holds dropped, when the socket is closed.
pub(crate) fn reset_on_close(socket: impl AsFd) {
    // Where that is refused the socket closes in the ordinary way.
    let _ = kernel::reset_on_close(socket);
}

/// Why a connection does not come about that was aborted, or was still being made when its driver
/// ended.
pub(crate) fn given_up() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}
