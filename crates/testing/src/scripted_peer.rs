//! One end of a connection that says what the test tells it to say.

use crate::frame::{Frame, take_frames};
use crate::words::PREFACE;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Longer than any answer takes on the slowest machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What one read takes at most.
const READ_BYTES: usize = 1 << 16;

/// One end of a connection that says what the test tells it to say, and keeps what it hears. It
/// answers nothing by itself. Dropping it closes the connection.
#[derive(Debug)]
pub struct ScriptedPeer {
    socket: TcpStream,
    /// The beginning of a frame.
    partial: Vec<u8>,
    unheard: VecDeque<Frame>,
}

impl ScriptedPeer {
    /// A client of that server. It has sent nothing so far.
    ///
    /// # Panics
    /// Nobody listens there.
    pub fn connect(server: impl ToSocketAddrs) -> Self {
        Self::of(TcpStream::connect(server).expect("the server listens"))
    }

    /// The server of the next client, whose preface it has read.
    ///
    /// # Panics
    /// The listener fails, or the client says something else.
    pub fn accept(listener: &TcpListener) -> Self {
        let mut server = Self::of(listener.accept().expect("a client connects").0);
        let mut preface = [0; PREFACE.len()];
        server.socket.read_exact(&mut preface).expect("a client greets");
        assert_eq!(&preface, PREFACE);
        server
    }

    fn of(socket: TcpStream) -> Self {
        socket.set_nodelay(true).expect("an option of every socket");
        socket.set_read_timeout(Some(PATIENCE)).expect("an option of every socket");
        socket.set_write_timeout(Some(PATIENCE)).expect("an option of every socket");
        Self { socket, partial: Vec::new(), unheard: VecDeque::new() }
    }

    /// Writes these bytes.
    ///
    /// # Errors
    /// The other end has hung up.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// The next frame; `None` at the end, clean or not.
    ///
    /// # Panics
    /// Nothing comes.
    pub fn hear(&mut self) -> Option<Frame> {
        while self.unheard.is_empty() && self.receive() > 0 {}
        self.unheard.pop_front()
    }

    /// The next such frame. Those before it are forgotten.
    ///
    /// # Panics
    /// The other end hangs up before that, or nothing comes.
    pub fn wait_for(&mut self, is_such: impl Fn(&Frame) -> bool) -> Frame {
        loop {
            let frame = self.hear().expect("the other end stays");
            if is_such(&frame) {
                return frame;
            }
        }
    }

    /// Reads what there is, waiting for it; how many bytes that were, none at the end.
    fn receive(&mut self) -> usize {
        let mut buffer = [0; READ_BYTES];
        let count = match self.socket.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            result => result.expect("the other end says something"),
        };
        self.partial.extend_from_slice(&buffer[..count]);
        self.unheard.extend(take_frames(&mut self.partial));
        count
    }

    /// Hangs up, and waits until the other end has done so too.
    ///
    /// # Panics
    /// The other end is gone already, or stays.
    pub fn end(mut self) {
        self.socket.shutdown(Shutdown::Write).expect("the other end is there");
        while self.hear().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::frame;
    use crate::words::kind;

    #[test]
    fn frames_are_heard_in_their_order_however_they_are_cut() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let mut client = ScriptedPeer::connect(listener.local_addr().expect("an address"));
        let frames = [frame(kind::PING, 0, 0, b"8 bytes."), frame(kind::DATA, 1, 1, b"x")];
        let bytes = [&PREFACE[..], &frames.concat()].concat();
        bytes.chunks(5).for_each(|part| client.send(part).expect("the server reads"));
        let mut server = ScriptedPeer::accept(&listener);
        let data = server.wait_for(|frame| frame.kind == kind::DATA);
        assert_eq!(data, Frame::new(kind::DATA, 1, 1, b"x"));
        drop(client);
        assert_eq!(server.hear(), None);
    }
}
