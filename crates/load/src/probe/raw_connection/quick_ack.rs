//! Whether a socket acknowledges at once what comes.

use crate::probe::check::CheckError;
use bookend_io::ByteStream;
use std::io;
use std::os::linux::net::TcpStreamExt as _;

/// Has the socket acknowledge at once, or as late as it may. The kernel forgets it with every
/// acknowledgement (tcp(7)).
pub(super) fn set(stream: &ByteStream, at_once: bool) -> Result<(), CheckError> {
    set_of(stream, at_once)
        .map_err(|error| CheckError::NotChecked(format!("TCP_QUICKACK: {error}")))
}

fn set_of(stream: &ByteStream, at_once: bool) -> io::Result<()> {
    match stream {
        ByteStream::Tcp(stream) => stream.set_quickack(at_once),
        ByteStream::Unix(_) => Err(io::Error::other("a Unix socket acknowledges nothing")),
        ByteStream::Tls(stream) => set_of(stream.transport(), at_once),
    }
}
