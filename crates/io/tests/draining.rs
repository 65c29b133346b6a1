//! What a stopping driver still does, and for how long.

mod support;

use bookend_io::{
    AfterRead, Closed, ConnectionId, IoContext, IoOptions, Opened, Received, ServeOptions, Shard,
    ShardPlace, ShutdownHandle, listen, serve,
};
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use support::*;

/// Waits for ever, and says goodbye once the drain time is over. How often that was is counted.
fn waits_and_says_goodbye(overs: Arc<AtomicU64>) -> impl FnMut(&Event, &mut Stage) + Send {
    let mut open = None;
    move |event, stage| match event {
        Event::Opened(id, _) => {
            open = Some(*id);
            *stage.has_outstanding = true;
        }
        Event::Woken { .. } if stage.io.drain_is_over() => {
            overs.fetch_add(1, Ordering::SeqCst);
            if let Some(id) = open.take() {
                stage.io.output(id).extend_from_slice(b"last words");
                stage.io.close(id);
            }
            *stage.has_outstanding = false;
        }
        _ => echo(event, stage),
    }
}

#[test]
fn until_the_drain_is_over_all_goes_on_and_then_last_words_arrive() {
    for kind in KINDS {
        let mut drains_ns = (0..8).map(|doublings| 300_000_000 << doublings);
        // On a busy machine the shorter ones may be over before the client has written.
        assert!(drains_ns.any(|drain_ns| is_echoed_before_last_words(kind, drain_ns)), "{kind:?}");
    }
}

fn is_echoed_before_last_words(kind: Kind, drain_ns: u64) -> bool {
    let overs = Arc::new(AtomicU64::new(0));
    let options = IoOptions { drain_ns, ..IoOptions::default() };
    let server = accepting(kind, options, waits_and_says_goodbye(Arc::clone(&overs)));
    let mut client = peer(server.address);
    server.opened();
    server.waker.stop();
    server.find(|event| matches!(event, Event::Woken { stopping: true }));
    // Either fails where the server was faster.
    let mut all = Vec::new();
    let _ = client.write_all(b"more");
    let _ = client.read_to_end(&mut all);
    assert!(all.ends_with(b"last words"), "{kind:?}");
    server.join();
    assert!(overs.load(Ordering::SeqCst) > 0);
    all == b"morelast words"
}

#[test]
fn stop_now_does_not_wait_for_the_drain() {
    for kind in KINDS {
        let overs = Arc::new(AtomicU64::new(0));
        let options = IoOptions { drain_ns: u64::MAX, ..IoOptions::default() };
        let server = accepting(kind, options, waits_and_says_goodbye(Arc::clone(&overs)));
        let mut client = peer(server.address);
        server.opened();
        server.waker.stop();
        server.find(|event| matches!(event, Event::Woken { stopping: true }));
        assert_eq!(overs.load(Ordering::SeqCst), 0);
        server.waker.stop_now();
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"last words", "{kind:?}");
        server.join();
    }
}

#[test]
fn a_shard_that_awaits_nothing_hears_of_no_drain() {
    for kind in KINDS {
        let overs = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&overs);
        let server = accepting(kind, IoOptions::default(), move |_, stage| {
            seen.fetch_add(u64::from(stage.io.drain_is_over()), Ordering::SeqCst);
        });
        let client = peer(server.address);
        server.opened();
        server.stop();
        drop(client);
        assert_eq!(overs.load(Ordering::SeqCst), 0);
    }
}

/// Waits for one message of each connection, echoes and closes.
#[derive(Default)]
struct OnceEach {
    open: usize,
}

impl Shard for OnceEach {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {
        self.open += 1;
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8], io: &mut IoContext) -> Received {
        io.output(id).extend_from_slice(bytes);
        Received { consumed: bytes.len(), after: AfterRead::Close }
    }

    fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {
        self.open -= 1;
    }

    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}
    fn woken(&mut self, _: &mut IoContext) {}

    fn next_deadline(&self) -> Option<u64> {
        None
    }

    fn has_outstanding(&self) -> bool {
        self.open > 0
    }
}

#[test]
fn a_connection_in_the_listeners_queue_is_served_although_the_server_was_stopped() {
    const CLIENTS: u64 = 9;
    for io in CHOICES {
        for threads in [1, 3] {
            let listener = listen(loopback()).unwrap();
            let mut clients: Vec<_> =
                (0..CLIENTS).map(|_| peer(listener.local_address().tcp().unwrap())).collect();
            let shutdown = ShutdownHandle::new();
            let mut options = ServeOptions::new(shutdown.clone());
            options.io = io;
            options.threads = NonZeroUsize::new(threads).unwrap();
            options.driver.drain_ns = u64::MAX;
            shutdown.stop();
            let make = move |place: ShardPlace| {
                assert!(is_as_chosen(io, place.driver), "{io:?} {}", place.driver);
                OnceEach::default()
            };
            let server = thread::spawn(move || serve(listener, &options, make));
            for client in &mut clients {
                client.write_all(b"still there?").unwrap();
                let mut answer = Vec::new();
                client.read_to_end(&mut answer).unwrap();
                assert_eq!(answer, b"still there?", "{io:?} on {threads}");
            }
            let statistics = server.join().unwrap().unwrap();
            assert_eq!(statistics.accepted, CLIENTS, "{io:?} on {threads}");
        }
    }
}
