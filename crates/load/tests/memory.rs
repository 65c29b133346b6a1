//! What a connection costs in memory, at both ends together. Alone in its file: every allocation of
//! the process counts.

use bookend_io::{Wait, raise_descriptor_limit};
use bookend_load::plan::{AtEnd, Connecting, Driver, Plan};
use bookend_load::run::run;
use bookend_server::{Context, Io, Kind, Limits, Method, Reply, Server, Service};
use bookend_wire::Config;
use peak_alloc::PeakAlloc;
use std::sync::atomic::AtomicBool;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Octets that one more connection may take, generator and server together, with a call in flight
/// on each. Ten thousand are 120 MB. A buffer of a page for each would be seen.
const BOTH_ENDS_MAX_BYTES: usize = 12 << 10;

struct Echo;

impl Service for Echo {
    fn name(&self) -> &'static str {
        "test.Echo"
    }

    fn methods(&self) -> &'static [Method] {
        &[Method {
            name: "Echo",
            kind: Kind::Inline,
        }]
    }

    fn call(&self, _: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.message(|output| output.extend_from_slice(request));
    }
}

/// The most memory that a run over so many connections has taken beyond what there was, bytes.
fn most_bytes(connections: u32, connecting: Connecting) -> usize {
    let server = Server::builder()
        .add_service(Echo)
        .limits(Limits::trusted())
        .bind("127.0.0.1:0")
        .unwrap()
        .io(Io::Epoll)
        .threads(1)
        .spawn()
        .unwrap();
    let before_bytes = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let target = server.local_address().tcp().unwrap();
    let plan = Plan {
        targets: target.into(),
        path: "/test.Echo/Echo".into(),
        authority: target.to_string(),
        tls: None,
        messages: vec![b"ping".to_vec()],
        metadata: Vec::new(),
        varying_metadata: None,
        connecting,
        connections,
        concurrency: connections,
        threads: 1,
        driver: Driver::Epoll,
        wait: Wait::Sleep,
        warmup_ns: 0,
        window_ns: None,
        calls: Some(u64::from(connections) * 10),
        timeout_ns: None,
        connect_timeout_ns: u64::MAX,
        keepalive: None,
        at_end: AtEnd::Drain,
        count_errors: false,
        config: Config::trusted(),
    };
    let outcome = run(plan, &AtomicBool::new(false), |_| {}).unwrap();
    assert_eq!(outcome.ok, u64::from(connections) * 10);
    MEMORY.peak_usage() - before_bytes
}

#[test]
fn one_more_connection_takes_a_few_kilobytes_at_both_ends_together() {
    raise_descriptor_limit().unwrap();
    println!("connection {} bytes", size_of::<bookend_wire::Connection>());
    for connecting in [
        Connecting::BeforeRun,
        Connecting::InRun,
        Connecting::PerCall,
    ] {
        let few_bytes = most_bytes(20, connecting);
        let many_bytes = most_bytes(420, connecting);
        let one_bytes = many_bytes.saturating_sub(few_bytes) / 400;
        println!("{connecting:?}: {one_bytes} bytes a connection");
        assert!(
            one_bytes > 500,
            "{connecting:?}: {one_bytes} bytes: nothing is counted"
        );
        assert!(
            one_bytes <= BOTH_ENDS_MAX_BYTES,
            "{connecting:?}: {one_bytes} bytes"
        );
    }
}
