//! The server itself: a thread a connection, raw octets, and a note of everything that came.

use super::behaviour::Behaviour;
use super::conversation::{Conversation, Heard};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// A place where a server will be. Who connects waits until it is there.
pub struct Bound(TcpListener);

/// A server that runs.
pub struct Server {
    pub address: SocketAddr,
    is_over: Arc<AtomicBool>,
    accepting: JoinHandle<Vec<JoinHandle<Heard>>>,
}

pub fn bind() -> Bound {
    Bound(TcpListener::bind("127.0.0.1:0").unwrap())
}

/// An address with nobody behind it.
pub fn nobody() -> SocketAddr {
    bind().address()
}

impl Bound {
    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    pub fn serve(self, behaviour: Behaviour) -> Server {
        let is_over = Arc::new(AtomicBool::new(false));
        Server {
            address: self.address(),
            is_over: Arc::clone(&is_over),
            accepting: thread::spawn(move || accept(&self.0, behaviour, &is_over)),
        }
    }
}

fn accept(
    listener: &TcpListener,
    behaviour: Behaviour,
    is_over: &AtomicBool,
) -> Vec<JoinHandle<Heard>> {
    let calls = Arc::new(AtomicU64::new(0));
    let mut conversations = Vec::new();
    loop {
        let (socket, _) = listener.accept().unwrap();
        if is_over.load(Ordering::SeqCst) {
            return conversations;
        }
        let calls = Arc::clone(&calls);
        let talk = move || Conversation::new(socket, behaviour, calls).talk();
        conversations.push(thread::spawn(talk));
    }
}

impl Server {
    /// Waits until the clients have closed their connections; gives what was heard on each, in the
    /// order in which they were made.
    pub fn finish(self) -> Vec<Heard> {
        self.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        let conversations = self.accepting.join().unwrap();
        let heard = conversations.into_iter().map(|talk| talk.join().unwrap());
        heard.collect()
    }
}
