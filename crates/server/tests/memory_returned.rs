//! What a server held for clients that have gone goes back to the kernel. Alone in its process,
//! whose memory it reads.

#[path = "attacks/frames.rs"]
#[allow(dead_code)]
mod frames;

use bookend_server::{Context, HandlerKind, MethodDescriptor, Reply, Server, Service};
use bookend_wire::frame::PREFACE;
use frames::{ids, request, stream_window};
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 20;
const CALLS: usize = 100;
const ANSWER_BYTES: usize = 30_000;

/// What may be kept ten seconds after.
const KEPT_MAX_BYTES: usize = 32 << 20;

/// Longer than any answer takes on the slowest machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers at length, and counts.
struct Long(Arc<AtomicUsize>);

impl Service for Long {
    fn name(&self) -> &'static str {
        "test.Long"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[MethodDescriptor { name: "Answer", kind: HandlerKind::Inline }]
    }

    fn call(&self, _: usize, _: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        reply.message(|output| output.resize(output.len() + ANSWER_BYTES, 7));
    }
}

/// What the kernel counts as this process's memory.
fn resident_bytes() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).expect("a size");
    kib.parse::<usize>().expect("a number") << 10
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Asks for answers that it has no window for.
fn attacker(address: SocketAddr, calls: usize) -> TcpStream {
    let mut socket = TcpStream::connect(address).expect("a connection");
    let calls = ids().take(calls).flat_map(|id| request(id, "/test.Long/Answer", &[]));
    let bytes = PREFACE.iter().copied().chain(stream_window(0)).chain(calls);
    socket.write_all(&bytes.collect::<Vec<_>>()).expect("the server reads");
    socket
}

#[test]
#[cfg(target_env = "gnu")]
fn memory_of_clients_that_have_gone_is_returned() {
    let answered = Arc::new(AtomicUsize::new(0));
    let server = Server::builder()
        .add_service(Long(Arc::clone(&answered)))
        .bind("127.0.0.1:0")
        .expect("a port")
        .threads(1)
        .spawn()
        .expect("a thread");
    let before_bytes = resident_bytes();
    let address = server.local_address().to_string().parse().expect("an address of TCP");
    let (mut attackers, mut others) = (Vec::new(), Vec::new());
    for number in 1..=CONNECTIONS {
        attackers.push(attacker(address, CALLS));
        // What this one needs lies between what attackers have, and it stays.
        others.push(attacker(address, 1));
        let calls = number * (CALLS + 1);
        wait_until("all calls come", || answered.load(Ordering::Relaxed) == calls);
    }
    let held_bytes = resident_bytes() - before_bytes;
    assert!(held_bytes > CONNECTIONS * CALLS * ANSWER_BYTES, "{held_bytes} bytes are held");
    drop(attackers);
    wait_until("memory is returned", || {
        resident_bytes().saturating_sub(before_bytes) < KEPT_MAX_BYTES
    });
}
