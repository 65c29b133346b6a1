//! What a relay does with connections and their bytes.

use crate::link::{Connections, Direction, Link};
use fastrand::Rng;
use rustix::net::sockopt::set_socket_linger;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// What one read takes at most.
const READ_BYTES: usize = 1 << 14;

/// How many reads are on the way at most. Then the sender waits, as it does when the buffers of a
/// real link are full. With [`READ_BYTES`] this is 64 MiB.
const MAX_CHUNKS: usize = 1 << 12;

/// How often a write to someone who does not read looks whether its connection is cut.
const WRITE_LOOKS: Duration = Duration::from_millis(20);

/// How often a relay looks for connections that come. Only a look that does not wait can happen at
/// a certain moment, as before a change of the link.
const ACCEPT_LOOKS: Duration = Duration::from_millis(1);

/// The connections of a relay.
#[derive(Debug)]
pub struct Carrying {
    listener: Mutex<TcpListener>,
    server: SocketAddr,
    seed: u64,
    state: Mutex<State>,
    /// The link or the fate of a connection has changed.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    link: Link,
    connections: Vec<Weak<Connection>>,
    /// How many have come.
    accepted: u64,
    /// How often connections were cut. One that was on its way in meanwhile is cut too.
    cuts: u64,
}

/// A client that has come.
#[derive(Debug)]
struct Arrival {
    client: TcpStream,
    number: u64,
    /// What the link said at that time.
    fate: Connections,
    cuts: u64,
}

/// A connection from both sides.
#[derive(Debug)]
struct Connection {
    client: TcpStream,
    server: TcpStream,
    /// It carries nothing any more.
    is_cut: AtomicBool,
    is_reset: AtomicBool,
}

/// Bytes on the way, and when they are due. No bytes are the end.
type Chunk = (Instant, Vec<u8>);

impl Carrying {
    /// From that listener to that server, with a link that changes nothing.
    pub fn new(listener: TcpListener, server: SocketAddr, seed: u64) -> Self {
        listener.set_nonblocking(true).expect("an option of every socket");
        let listener = Mutex::new(listener);
        Self { listener, server, seed, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Carries connections that come, in threads.
    pub fn start(self: &Arc<Self>) {
        let carrying = Arc::clone(self);
        thread::spawn(move || {
            loop {
                carrying.accept(&carrying.listener());
                thread::sleep(ACCEPT_LOOKS);
            }
        });
    }

    /// Accepts all connections that have come.
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        // Any other error belongs to a client that has gone already.
        while let Ok((client, _)) = listener.accept() {
            let carrying = Arc::clone(self);
            let mut state = self.state();
            state.accepted += 1;
            let arrival = Arrival {
                client,
                number: state.accepted,
                fate: state.link.connections,
                cuts: state.cuts,
            };
            thread::spawn(move || carrying.begin(arrival));
        }
    }

    /// Carries bytes in this manner from now on. It returns when connections that are to be reset
    /// have gone.
    pub fn set(self: &Arc<Self>, link: Link) {
        // A client that has connected before the change is treated as before.
        let listener = self.listener();
        self.accept(&listener);
        let mut state = self.state();
        state.link = link;
        state.cuts += u64::from(link.connections != Connections::Carried);
        state.connections.retain(|connection| connection.strong_count() > 0);
        let connections = state.connections.clone();
        drop(state);
        drop(listener);
        self.changed.notify_all();
        match link.connections {
            Connections::Carried => {}
            Connections::Silenced => connections.iter().for_each(|each| self.silence(each)),
            Connections::Reset => self.reset_all(&connections),
        }
    }

    fn reset_all(&self, connections: &[Weak<Connection>]) {
        let alive = connections.iter().filter_map(Weak::upgrade);
        alive.for_each(|connection| self.reset(&connection));
        // The last thread that holds a connection closes it.
        while connections.iter().any(|connection| connection.strong_count() > 0) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn silence(&self, connection: &Weak<Connection>) {
        if let Some(connection) = connection.upgrade() {
            self.cut(&connection);
        }
    }

    /// Cuts a connection. Its threads end, and the last of them sends a reset to both sides.
    fn reset(&self, connection: &Connection) {
        if !connection.is_reset.swap(true, Ordering::SeqCst) {
            reset_when_closed(&connection.client);
            reset_when_closed(&connection.server);
            self.cut(connection);
            // This ends reads that wait, and tells the other side nothing. It fails if that has
            // gone.
            let _ = connection.client.shutdown(Shutdown::Read);
            let _ = connection.server.shutdown(Shutdown::Read);
        }
    }

    fn cut(&self, connection: &Connection) {
        // Nobody may look at it and then miss the notice.
        let state = self.state();
        connection.is_cut.store(true, Ordering::SeqCst);
        drop(state);
        self.changed.notify_all();
    }

    /// Connects a client with the server.
    fn begin(self: Arc<Self>, arrival: Arrival) {
        let is_carried = arrival.fate == Connections::Carried;
        match (arrival.fate, is_carried.then(|| TcpStream::connect(self.server))) {
            (Connections::Carried, Some(Ok(server))) => self.join(arrival, server),
            (Connections::Silenced, _) => discard(&arrival.client),
            _ => reset_when_closed(&arrival.client),
        }
    }

    /// Carries bytes between both in two threads a direction.
    fn join(self: Arc<Self>, arrival: Arrival, server: TcpStream) {
        let Arrival { client, number, cuts, .. } = arrival;
        for socket in [&client, &server] {
            socket.set_nodelay(true).expect("an option of every socket");
            socket.set_write_timeout(Some(WRITE_LOOKS)).expect("an option of every socket");
        }
        let (is_cut, is_reset) = (AtomicBool::new(false), AtomicBool::new(false));
        let connection = Arc::new(Connection { client, server, is_cut, is_reset });
        let mut state = self.state();
        state.connections.push(Arc::downgrade(&connection));
        let (fate, is_late) = (state.link.connections, state.cuts != cuts);
        drop(state);
        match fate {
            Connections::Silenced => self.cut(&connection),
            Connections::Reset => self.reset(&connection),
            Connections::Carried if is_late => self.reset(&connection),
            Connections::Carried => {}
        }
        for is_forward in [true, false] {
            let seed = self.seed.wrapping_add(2 * number + u64::from(is_forward));
            let way = Way { connection: Arc::clone(&connection), is_forward };
            way.begin(&self, Rng::with_seed(seed));
        }
    }

    /// Returns when bytes are due, and whether their connection carries them still.
    fn await_due(&self, due: Instant, way: &Way) -> bool {
        let mut state = self.state();
        while !way.connection.is_cut.load(Ordering::SeqCst) {
            let wait = due.saturating_duration_since(Instant::now());
            if way.direction(&state.link).stalled {
                state = self.changed.wait(state).expect("no thread panics with it");
            } else if wait.is_zero() {
                return true;
            } else {
                let waited = self.changed.wait_timeout(state, wait);
                state = waited.expect("no thread panics with it").0;
            }
        }
        false
    }

    fn listener(&self) -> MutexGuard<'_, TcpListener> {
        self.listener.lock().expect("no thread panics with it")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with it")
    }
}

/// One direction of a connection.
#[derive(Clone, Debug)]
struct Way {
    connection: Arc<Connection>,
    is_forward: bool,
}

impl Way {
    fn begin(self, carrying: &Arc<Carrying>, random: Rng) {
        let (sender, receiver) = sync_channel(MAX_CHUNKS);
        let (way, state) = (self.clone(), Arc::clone(carrying));
        thread::spawn(move || way.read(&state, &sender, random));
        let state = Arc::clone(carrying);
        thread::spawn(move || self.write(&state, &receiver));
    }

    /// Reads until the end. What it reads after a cut vanishes.
    fn read(&self, carrying: &Carrying, sender: &SyncSender<Chunk>, mut random: Rng) {
        let mut bytes = vec![0; READ_BYTES];
        let mut due = Instant::now();
        loop {
            let read = match self.source().read(&mut bytes) {
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return carrying.reset(&self.connection),
            };
            let direction = *self.direction(&carrying.state().link);
            // A delay that becomes shorter must not let bytes overtake others.
            due =
                due.max(Instant::now() + direction.delay + direction.jitter.mul_f64(random.f64()));
            // Nobody receives it after a cut.
            let _ = sender.send((due, bytes[..read].to_vec()));
            // A sender without a pause never lets a read find the end.
            if read == 0 || self.connection.is_reset.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    fn write(&self, carrying: &Carrying, receiver: &Receiver<Chunk>) {
        for (due, bytes) in receiver {
            if !carrying.await_due(due, self) {
                return;
            }
            if bytes.is_empty() {
                // It fails if the other side has gone.
                let _ = self.target().shutdown(Shutdown::Write);
            } else if !self.write_all(&bytes) {
                return carrying.reset(&self.connection);
            }
        }
    }

    /// Whether it has written them.
    fn write_all(&self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            match self.target().write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.connection.is_cut.load(Ordering::SeqCst) {
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
        true
    }

    fn direction<'a>(&self, link: &'a Link) -> &'a Direction {
        if self.is_forward { &link.forward } else { &link.back }
    }

    fn source(&self) -> &TcpStream {
        if self.is_forward { &self.connection.client } else { &self.connection.server }
    }

    fn target(&self) -> &TcpStream {
        if self.is_forward { &self.connection.server } else { &self.connection.client }
    }
}

/// Keeps a connection open until the other side ends it.
fn discard(mut client: &TcpStream) {
    let mut bytes = vec![0; READ_BYTES];
    while matches!(client.read(&mut bytes), Ok(1..)) {}
}

/// Makes the kernel send a reset when the last descriptor of this socket is closed.
fn reset_when_closed(socket: &TcpStream) {
    set_socket_linger(socket, Some(Duration::ZERO)).expect("an option of every socket");
}
