//! Connections of bare sockets with a server that answers lines: what calls of a protocol do not
//! reach.

use crate::session::named;
use bookend_io::faults::{Armed, FailPoint};
use bookend_io::{
    AfterRead, Closed, ConnectionId, Io, IoContext, IoStatistics, Opened, Received, ServeOptions,
    Shard, ShutdownHandle, listen, serve,
};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::thread::JoinHandle;
use std::time::Duration;

/// Ends a wait that would last for ever.
const GUARD: Duration = Duration::from_secs(30);

/// Gives back whole lines and keeps an incomplete one. After `bye` it reads no more.
struct Lines;

impl Shard for Lines {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let whole = bytes.split_inclusive(|byte| *byte == b'\n');
        let first = whole.take(1).find(|line| line.ends_with(b"\n"));
        let line = first.unwrap_or_default();
        io.output(id).extend_from_slice(line);
        let after = match line {
            b"bye\n" => {
                io.close(id);
                AfterRead::Pause
            }
            b"" => AfterRead::Continue,
            _ => AfterRead::Again,
        };
        Received { consumed: line.len(), after }
    }

    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}

    fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {}

    fn woken(&mut self, _: &mut IoContext) {}

    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

/// A server of lines at work.
pub struct LineServer {
    pub address: SocketAddr,
    shutdown: ShutdownHandle,
    thread: JoinHandle<io::Result<IoStatistics>>,
}

impl LineServer {
    pub fn start(io: Io) -> Self {
        let listener = listen("127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        let address = listener.local_address().tcp().unwrap();
        let shutdown = ShutdownHandle::new();
        let mut options = ServeOptions::new(shutdown.clone());
        options.io = io;
        options.threads = NonZeroUsize::MIN;
        let thread = named("server", move || serve(listener, &options, |_| Lines));
        Self { address, shutdown, thread }
    }

    pub fn stop(self) -> io::Result<IoStatistics> {
        self.shutdown.stop();
        self.join()
    }

    /// Waits for a server that ends of itself.
    pub fn join(self) -> io::Result<IoStatistics> {
        self.thread.join().expect("a server does not panic")
    }
}

pub fn peer(address: SocketAddr) -> TcpStream {
    let peer = TcpStream::connect(address).unwrap();
    peer.set_read_timeout(Some(GUARD)).unwrap();
    peer.set_write_timeout(Some(GUARD)).unwrap();
    peer
}

/// Whether the server gives that back for this.
pub fn hears(peer: &mut TcpStream, wanted: &[u8], said: &[u8]) -> bool {
    let mut heard = vec![0; wanted.len()];
    peer.write_all(said).is_ok() && peer.read_exact(&mut heard).is_ok() && heard == wanted
}

/// Whether somebody who comes now is answered.
pub fn is_answering(address: SocketAddr) -> bool {
    hears(&mut peer(address), b"on\n", b"on\n")
}

/// What became of three peers of one server.
pub struct Talk {
    /// Whether each was answered to the end.
    pub answered: [bool; 3],
    pub statistics: IoStatistics,
    pub hits: u64,
}

/// One that speaks in pieces, one that says more after its farewell, and one that comes last.
pub fn talk(io: Io, point: FailPoint) -> Talk {
    let armed = Armed::new(&[point]);
    let server = LineServer::start(io);
    let mut slow = peer(server.address);
    let begun = hears(&mut slow, b"one\n", b"one\ntw") && hears(&mut slow, b"two\n", b"o\nth");
    let leaving = says_goodbye(&mut peer(server.address));
    let ended = begun && hears(&mut slow, b"three\n", b"ree\n");
    let last = is_answering(server.address);
    drop(slow);
    Talk {
        answered: [ended, leaving, last],
        statistics: server.stop().expect("one connection's fault is not the server's"),
        hits: armed.hits(),
    }
}

/// The farewell comes back, and then the end, although more was said after it.
fn says_goodbye(peer: &mut TcpStream) -> bool {
    let mut heard = Vec::new();
    let sent = peer.write_all(b"bye\nand one more thing").is_ok();
    let _ = peer.shutdown(Shutdown::Write);
    sent && peer.read_to_end(&mut heard).is_ok() && heard == b"bye\n"
}
