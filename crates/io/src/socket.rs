//! The system calls on sockets that both drivers make.

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A TCP socket that never waits, or the error that kept it from being made.
pub(crate) fn open(address: &SocketAddr) -> io::Result<OwnedFd> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(net::socket_with(
        family,
        SocketType::STREAM,
        flags,
        Some(net::ipproto::TCP),
    )?)
}

/// Begins to connect. The socket becomes writable once that has ended, well or badly.
pub(crate) fn begin_connect(target: &SocketAddr) -> io::Result<OwnedFd> {
    let socket = open(target)?;
    net::sockopt::set_tcp_nodelay(&socket, true)?;
    match net::connect(&socket, target) {
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

/// How a connect ended whose socket has become writable.
pub(crate) fn end_connect(socket: &OwnedFd) -> io::Result<()> {
    Ok(net::sockopt::socket_error(socket)??)
}

/// Reads once.
#[inline]
pub(crate) fn receive(socket: &OwnedFd, into: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
    net::recv(socket, into, flags).map(|(_, count)| count)
}

/// Writes once, without waiting and without a signal where the peer is gone.
#[inline]
pub(crate) fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    net::send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
}

/// The error that is pending on a socket that epoll or poll called broken.
pub(crate) fn pending_error(socket: impl AsFd) -> io::Error {
    match net::sockopt::socket_error(socket) {
        Ok(Err(error)) | Err(error) => error.into(),
        Ok(Ok(())) => io::ErrorKind::ConnectionReset.into(),
    }
}

/// Has the peer see a reset, and what the kernel still holds dropped, when the socket is closed.
pub(crate) fn reset_on_close(socket: impl AsFd) {
    // Where that is refused the socket closes in the ordinary way.
    let _ = net::sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

/// Why a connection does not come about that was aborted, or was still being made when its driver
/// ended.
pub(crate) fn given_up() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}
