//! What the TLS of a connection keeps while nothing is under way. Alone in its process, because it
//! counts what is allocated.

#[path = "support/certificates.rs"]
mod certificates;
#[path = "tls/ends.rs"]
mod ends;

use bookend_io::AfterRead;
use bookend_io::simulated::Simulated;
use bookend_io::tls::Secured;
use ends::{Event, Inner, Setup, carry, echoes};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const SESSIONS: usize = 200;

/// What docs/use/tls.md states.
const SESSION_BYTES_MAX: usize = 16 << 10;

/// Each connection has been talked over, there and back.
const TALK_BYTES: usize = 1_000;

#[test]
fn an_idle_connection_keeps_its_keys_and_no_buffers() {
    let setup = Setup::new();
    let mut server = setup.server(Inner::new(echoes));
    let mut kept_bytes = Vec::new();
    for _ in 0..=SESSIONS {
        talk(&setup, &mut server);
        kept_bytes.push(ALLOCATED.current_usage());
    }
    // What is there once, whatever the number of connections, is there after the first.
    let each_bytes = (kept_bytes[SESSIONS] - kept_bytes[0]) / SESSIONS;
    println!("{each_bytes} bytes a connection");
    assert!(each_bytes < SESSION_BYTES_MAX, "{each_bytes}");
}

/// Opens a connection, talks over it, and leaves it open at the server.
fn talk(setup: &Setup, server: &mut Simulated<Secured<Inner>>) {
    let mut client = setup.client(Inner::dialling(|event, io| {
        if let Event::Opened(id) = event {
            io.output(*id).resize(TALK_BYTES, 1);
        }
        (None, AfterRead::Continue)
    }));
    let (at_client, at_server) = (client.connect_all()[0], server.accept());
    carry((&mut client, at_client), (server, at_server));
    assert_eq!(client.shard().inner().received.len(), TALK_BYTES);
}
