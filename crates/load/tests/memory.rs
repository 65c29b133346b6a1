//! What a connection costs in memory, at both ends together. Alone in its file: every allocation of
//! the process counts.

#[path = "../../server/tests/support/echo.rs"]
mod echo;
#[path = "support/plans.rs"]
mod plans;

use bookend_io::{Driver, allowed_cpus, pin_current_thread, raise_descriptor_limit};
use bookend_load::plan::{Connecting, LoadPlan};
use bookend_server::{Io, Limits, Server};
use echo::{ECHO, Echo};
use peak_alloc::PeakAlloc;
use plans::{measure, plan};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that one more connection may take, generator and server together, with a call in flight
/// on each. Ten thousand are 120 MB. A buffer of a page for each would be seen.
const BOTH_ENDS_MAX_BYTES: usize = 12 << 10;

/// The most memory that a run over `connections` connections has taken beyond what there was,
/// bytes.
fn most_bytes(connections: u32, connecting: Connecting) -> usize {
    let server = Server::builder()
        .add_service(Echo::default())
        .limits(Limits::trusted())
        .bind("127.0.0.1:0")
        .unwrap()
        .io(Io::Epoll)
        .threads(1)
        .spawn()
        .unwrap();
    let before_bytes = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let calls = u64::from(connections) * 10;
    let outcome = measure(LoadPlan {
        connecting,
        connections,
        concurrency: connections,
        driver: Driver::Epoll,
        timeout_ns: None,
        connect_timeout_ns: u64::MAX,
        ..plan(ECHO, server.local_address().clone(), calls)
    });
    assert_eq!(outcome.ok, calls);
    MEMORY.peak_usage() - before_bytes
}

/// What one more connection takes, bytes: on one processor and the least of five, since the
/// scheduler decides how many connections are between their first bytes and their call at one time,
/// and what those hold comes on top. A buffer that each connection keeps is in all five.
fn one_more_bytes(connecting: Connecting) -> usize {
    let bytes = (0..5)
        .map(|_| most_bytes(420, connecting).saturating_sub(most_bytes(20, connecting)) / 400);
    bytes.min().unwrap_or_default()
}

#[test]
fn one_more_connection_takes_a_few_kilobytes_at_both_ends_together() {
    raise_descriptor_limit().unwrap();
    pin_current_thread(&allowed_cpus().unwrap()[..1]).unwrap();
    println!("connection {} bytes", size_of::<bookend_wire::Connection>());
    for connecting in [Connecting::BeforeRun, Connecting::InRun, Connecting::PerCall] {
        let one_bytes = one_more_bytes(connecting);
        println!("{connecting:?}: {one_bytes} bytes a connection");
        assert!(one_bytes > 500, "{connecting:?}: {one_bytes} bytes: nothing is counted");
        assert!(one_bytes <= BOTH_ENDS_MAX_BYTES, "{connecting:?}: {one_bytes} bytes");
    }
}
