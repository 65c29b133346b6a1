//! A socket that knows when bytes came, and when answers went.

use crate::{Server, clock};
use std::{
    cell::{Cell, RefCell},
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// What a connection's socket tells those who answer on it.
pub struct Stamps {
    pub server: Rc<Server>,
    /// Return of the last read that brought something.
    pub read_ns: Cell<u64>,
    /// Calls whose answers are on their way to the next write.
    pub leaving: RefCell<Vec<usize>>,
}

pub struct StampedSocket {
    pub socket: TcpStream,
    pub stamps: Rc<Stamps>,
}

impl AsyncRead for StampedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.socket).poll_read(context, buffer);
        if read.is_ready() {
            self.stamps.read_ns.set(clock::now_ns());
        }
        read
    }
}

impl AsyncWrite for StampedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let before_ns = clock::now_ns();
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        if let Poll::Ready(Ok(_)) = written {
            let mut record = self.stamps.server.record.borrow_mut();
            for call in self.stamps.leaving.take() {
                record.left(call, before_ns);
            }
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}
