//! The simulated driver lets a shard see what the real ones do.

use bookend_io::simulated::{End, SOCKET_BYTES, Simulated};
use bookend_io::{
    AfterRead, BACKLOG_LIMIT_BYTES, Closed, ConnectionId, IoContext, Opened, Received, Shard,
};
use std::net::SocketAddr;

/// Answers each byte with as many as it says, pauses at a zero, and closes at 255.
#[derive(Default)]
struct Multiplier {
    writable: usize,
    closed: Vec<String>,
    deadline_ns: Option<u64>,
    woken_at_ns: Vec<u64>,
}

impl Shard for Multiplier {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        let count = usize::from(bytes[0]);
        io.output(id).extend(vec![bytes[0]; count * 1_000]);
        let after = match bytes[0] {
            0 => AfterRead::Pause,
            255 => AfterRead::Close,
            _ => AfterRead::Again,
        };
        Received { consumed: 1, after }
    }

    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {
        self.writable += 1;
    }

    fn closed(&mut self, _: ConnectionId, why: Closed, _: &mut IoContext) {
        self.closed.push(format!("{why:?}"));
    }

    fn woken(&mut self, io: &mut IoContext) {
        self.woken_at_ns.push(io.now_ns());
        self.deadline_ns = Some(io.now_ns() + 10).filter(|at_ns| *at_ns <= 130);
        if io.stopping() {
            io.resume(id(0));
        }
    }

    fn next_deadline(&self) -> Option<u64> {
        self.deadline_ns
    }
}

fn id(index: u32) -> ConnectionId {
    ConnectionId { index, generation: 0 }
}

fn simulated() -> Simulated<Multiplier> {
    Simulated::new(Multiplier::default(), 100)
}

#[test]
fn what_the_peer_does_not_read_stops_what_it_sends() {
    let mut simulated = simulated();
    let deaf = simulated.accept();
    let bytes = vec![200; 40];
    for byte in &bytes {
        simulated.give(deaf, &[*byte]);
    }
    let unread = simulated.unread_bytes(deaf);
    let handled_bytes = (bytes.len() - unread) * 200_000;
    assert_eq!(simulated.unwritten_bytes(deaf) + SOCKET_BYTES, handled_bytes);
    let backlog_bytes = BACKLOG_LIMIT_BYTES..BACKLOG_LIMIT_BYTES + 200_000;
    assert!(backlog_bytes.contains(&simulated.unwritten_bytes(deaf)));
    assert_eq!(simulated.shard().writable, 0);
    let mut taken_bytes = 0;
    while simulated.unread_bytes(deaf) > 0 {
        taken_bytes += simulated.take(deaf, 1 << 20).len();
    }
    taken_bytes += simulated.take(deaf, usize::MAX).len();
    assert_eq!(taken_bytes, bytes.len() * 200_000);
    assert!(simulated.shard().writable > 0);
}

#[test]
fn a_paused_connection_is_read_again_when_it_is_resumed() {
    let mut simulated = simulated();
    let peer = simulated.accept();
    simulated.give(peer, &[1, 0, 2]);
    simulated.give(peer, &[3]);
    assert_eq!(simulated.take(peer, usize::MAX).len(), 1_000);
    assert_eq!(simulated.unread_bytes(peer), 2);
    simulated.stop();
    assert_eq!(simulated.take(peer, usize::MAX).len(), 5_000);
}

#[test]
fn a_connection_that_is_closed_ends_once_its_output_is_taken() {
    let mut simulated = simulated();
    let (peer, other) = (simulated.accept(), simulated.accept());
    simulated.give(peer, &[255, 7]);
    assert_eq!(simulated.end(peer), None);
    let read = simulated.take(peer, usize::MAX).len();
    assert_eq!((read, simulated.end(peer)), (255_000, Some(End::Closed)));
    assert_eq!(simulated.shard().closed, ["Us"]);
    simulated.give(peer, &[1]);
    simulated.give(other, &[1]);
    assert_eq!(simulated.take(peer, 1).len(), 0);
    assert_eq!(simulated.take(other, usize::MAX).len(), 1_000);
}

#[test]
fn deadlines_pass_in_order_when_time_does() {
    let mut simulated = simulated();
    simulated.pass_ns(15);
    simulated.pass_ns(4);
    assert_eq!(simulated.shard().woken_at_ns, [100, 110]);
    simulated.pass_ns(1_000);
    assert_eq!(simulated.shard().woken_at_ns, [100, 110, 120, 130]);
    assert_eq!(simulated.now_ns(), 1_119);
}

/// Asks for a connection, and closes it before it is there.
#[derive(Default)]
struct Impatient {
    asked_for: Option<ConnectionId>,
    closed: Vec<String>,
}

impl Shard for Impatient {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}

    fn received(&mut self, _: ConnectionId, bytes: &[u8], _: &mut IoContext) -> Received {
        Received { consumed: bytes.len(), after: AfterRead::Continue }
    }

    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}

    fn closed(&mut self, _: ConnectionId, why: Closed, _: &mut IoContext) {
        self.closed.push(format!("{why:?}"));
    }

    fn woken(&mut self, io: &mut IoContext) {
        match self.asked_for {
            None => self.asked_for = Some(io.connect(SocketAddr::from(([127, 0, 0, 1], 1)), 7)),
            Some(id) => io.close(id),
        }
    }

    fn next_deadline(&self) -> Option<u64> {
        None
    }
}

#[test]
fn a_connect_that_is_closed_is_taken_back() {
    let mut simulated = Simulated::new(Impatient::default(), 100);
    assert_eq!(simulated.shard().closed, [""; 0]);
    simulated.wake();
    assert_eq!(simulated.connect(), None);
    assert_eq!(simulated.shard().closed, ["NotConnected(7, Kind(ConnectionAborted))"]);
}
