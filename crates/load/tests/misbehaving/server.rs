//! The server itself: a thread a connection, raw bytes, and a record of everything that came.

use super::behaviour::Behaviour;
use super::server_connection::{Observed, ServerConnection};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// The address of a server that does not run yet. Clients that connect wait until it does.
pub struct Bound(TcpListener);

/// A server that runs.
pub struct Server {
    pub address: SocketAddr,
    is_over: Arc<AtomicBool>,
    accepting: JoinHandle<Vec<JoinHandle<Observed>>>,
}

pub fn bind() -> Bound {
    Bound(TcpListener::bind("127.0.0.1:0").unwrap())
}

/// An address on which no process listens.
pub fn unused_address() -> SocketAddr {
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
) -> Vec<JoinHandle<Observed>> {
    let calls = Arc::new(AtomicU64::new(0));
    let mut connections = Vec::new();
    loop {
        let (socket, _) = listener.accept().unwrap();
        if is_over.load(Ordering::SeqCst) {
            return connections;
        }
        let calls = Arc::clone(&calls);
        let run = move || ServerConnection::new(socket, behaviour, calls).run();
        connections.push(thread::spawn(run));
    }
}

impl Server {
    /// Waits until the clients have closed their connections; gives what was observed on each, in
    /// the order in which they were made.
    pub fn finish(self) -> Vec<Observed> {
        self.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        let connections = self.accepting.join().unwrap();
        let observed = connections.into_iter().map(|run| run.join().unwrap());
        observed.collect()
    }
}
