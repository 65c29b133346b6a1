//! Handlers that block, on the server's pool, behind real sockets and every driver.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bookend_server::prost::Message;
use bookend_server::{
    Code, Context, HandlerKind, Io, Limits, MethodDescriptor, PoolCall, PoolLimits, Reply, Server,
    ServerHandle, Service, codec,
};
use bookend_wire::{ConnectionConfig, ErrorCode, HeaderBlock};

use crate::loopback::Client;
use crate::pair::{deflated, framed, head};
use crate::shop::{self, Item, Money, Waiting};

const DRIVERS: [Io; 4] = [Io::Auto, Io::Blocking, Io::Epoll, Io::Uring];

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Wait", kind: HandlerKind::Pool },
    MethodDescriptor { name: "Watch", kind: HandlerKind::Pool },
    MethodDescriptor { name: "Flood", kind: HandlerKind::Pool },
    MethodDescriptor { name: "Sum", kind: HandlerKind::PoolStream },
    MethodDescriptor { name: "Drop", kind: HandlerKind::Pool },
    MethodDescriptor { name: "Sleep", kind: HandlerKind::Pool },
    MethodDescriptor { name: "Inline", kind: HandlerKind::Inline },
];

/// Replies of a handler that nothing stops.
const FLOOD: usize = 20_000;

/// Handlers that say when they begin and how they end, and wait until they are let through.
#[derive(Clone)]
struct Gated {
    gate: Arc<Mutex<Receiver<()>>>,
    events: Sender<Event>,
    flooded: Arc<AtomicU64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Event {
    Begun,
    /// The handler was told that the call is over.
    Over,
}

impl Gated {
    fn pass(&self) {
        self.events.send(Event::Begun).unwrap();
        self.gate.lock().unwrap().recv().unwrap();
    }

    fn say_over(&self) {
        // Nobody listens in a test that does not ask.
        let _ = self.events.send(Event::Over);
    }
}

impl Service for Gated {
    fn name(&self) -> &'static str {
        "test.Gated"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, _: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.message(|output| output.extend_from_slice(request));
    }

    fn work(&self, method: usize, call: PoolCall) {
        match METHODS[method].name {
            "Wait" => codec::pool_unary(call, |item: Item, context| {
                self.pass();
                if context.is_cancelled() {
                    self.say_over();
                }
                let cents = item.name.len() as i64;
                Ok(Money { cents })
            }),
            "Watch" => codec::pool_unary(call, |_: Item, context| {
                self.events.send(Event::Begun).unwrap();
                while !context.is_cancelled() {
                    std::thread::yield_now();
                }
                assert_eq!(context.remaining().map(|time| time.is_zero()), Some(true));
                self.say_over();
                Ok(Money { cents: 0 })
            }),
            "Flood" => codec::pool_server_stream(call, |_: Item, replies, _| {
                let name = "x".repeat(1_000);
                for _ in 0..FLOOD {
                    if replies.send(&Item { name: name.clone() }).is_err() {
                        break;
                    }
                    self.flooded.fetch_add(1, Ordering::Relaxed);
                }
                self.say_over();
                Ok(())
            }),
            "Sum" => codec::pool_client_stream(call, |requests, _| {
                self.pass();
                let mut cents = 0;
                for item in requests {
                    let item: Item = item.inspect_err(|_| self.say_over())?;
                    cents += item.name.len() as i64;
                }
                Ok(Money { cents })
            }),
            "Sleep" => codec::pool_unary(call, |_: Item, context| {
                self.events.send(Event::Begun).unwrap();
                let over = context.sleep(Duration::from_secs(3_600));
                self.say_over();
                Ok::<Money, _>(over.map(|()| Money { cents: 0 })?)
            }),
            _ => drop(call),
        }
    }
}

/// A server of gated handlers, and what a test needs to steer them.
struct Test {
    server: ServerHandle,
    gate: Sender<()>,
    events: Receiver<Event>,
    flooded: Arc<AtomicU64>,
}

impl Test {
    fn new(io: Io, pool: PoolLimits) -> Self {
        Self::with(io, pool, Limits::internet())
    }

    fn with(io: Io, pool: PoolLimits, limits: Limits) -> Self {
        let (gate, passing) = mpsc::channel();
        let (saying, events) = mpsc::channel();
        let gated =
            Gated { gate: Arc::new(Mutex::new(passing)), events: saying, flooded: Arc::default() };
        let flooded = Arc::clone(&gated.flooded);
        let builder = Server::builder().add_service(gated).pool(pool).limits(limits);
        let bound = builder.bind("127.0.0.1:0").unwrap().io(io).threads(1);
        Test { server: bound.spawn().unwrap(), gate, events, flooded }
    }

    fn connect(&self) -> Client {
        Client::connect_with(self.server.local_address(), &ConnectionConfig::internet())
    }

    /// A client whose streams get nothing.
    fn connect_deaf(&self) -> Client {
        let mut config = ConnectionConfig::internet();
        config.settings.initial_window_bytes = 0;
        Client::connect_with(self.server.local_address(), &config)
    }

    fn open_gate(&self) {
        self.gate.send(()).unwrap();
    }

    fn expect(&self, event: Event) {
        assert_eq!(self.events.recv().unwrap(), event);
    }

    /// Makes a call of another client's: a pool of one thread takes it once the handler before it
    /// has handed over its answer, also a late one.
    fn pass_the_thread_on(&self) {
        let mut client = self.connect();
        let next = client.start(&gated("Wait"), "next");
        client.flush();
        self.expect(Event::Begun);
        self.open_gate();
        assert_eq!(client.wait_for(next).cents(), [4]);
    }

    /// Ends the server, which waits for clients that have not hung up.
    fn end(self) -> bookend_server::Counts {
        self.server.stop();
        self.server.join().unwrap().calls
    }
}

fn gated(method: &str) -> String {
    format!("/test.Gated/{method}")
}

fn item(name: &str) -> Vec<u8> {
    framed(&Item { name: name.into() }.encode_to_vec())
}

fn with_deadline(method: &str) -> HeaderBlock {
    let path = gated(method);
    let mut head = head(&path);
    // Long enough for a thread that is there to begin, on the slowest machine.
    head.push(b"grpc-timeout", b"300m");
    head
}

/// A call that an inline handler answers: its answer shows that the server has seen
/// everything that was sent before.
fn round_trip(client: &mut Client) {
    let stream = client.start(&gated("Inline"), "on");
    assert_eq!(client.wait_for(stream).code(), Code::Ok);
}

#[test]
fn generated_methods_of_every_cardinality_run_on_the_pool() {
    for io in DRIVERS {
        let builder = Server::builder().add_service(shop::service(&Waiting::default()));
        let bound = builder.bind("127.0.0.1:0").unwrap().io(io).threads(1);
        let server = bound.spawn().unwrap();
        let mut client = Client::connect_with(server.local_address(), &ConnectionConfig::trusted());
        let unary = client.start("/shop.v1.Orders/Appraise", "seven c");
        assert_eq!(client.wait_for(unary).cents(), [7]);
        let search = client.start("/shop.v1.Orders/Search", "\u{1}\u{2}");
        assert_eq!(client.wait_for(search).cents(), [1, 2]);
        let nothing = client.start("/shop.v1.Orders/Search", "");
        assert_eq!(client.wait_for(nothing).cents(), []);
        let failing = client.start("/shop.v1.Orders/Search", "\u{1}!");
        let heard = client.wait_for(failing);
        assert_eq!((heard.code(), heard.messages.len()), (Code::Aborted, 1));
        let import = client.open(head("/shop.v1.Orders/Import"));
        client.send(import, &[item("a"), item("bc")].concat(), true);
        assert_eq!(client.wait_for(import).cents(), [3]);
        let haggle = client.open(head("/shop.v1.Orders/Haggle"));
        for count in 1..5 {
            client.send(haggle, &item("abc"), false);
            client.wait_until(haggle, |heard| heard.messages.len() == count);
        }
        client.send(haggle, b"", true);
        assert_eq!(client.wait_for(haggle).cents(), [3; 4]);
        drop(client);
        server.stop();
        let counts = server.join().unwrap().calls;
        assert_eq!((counts.answered_ok, counts.answered_error), (5, 1), "{io:?}");
    }
}

#[test]
fn a_handler_that_blocks_does_not_stop_others() {
    for io in DRIVERS {
        let test = Test::new(io, PoolLimits::default());
        let mut client = test.connect();
        let waits = client.start(&gated("Wait"), "four");
        client.flush();
        test.expect(Event::Begun);
        round_trip(&mut client);
        assert!(!client.listener.calls.contains_key(&waits.id));
        test.open_gate();
        assert_eq!(client.wait_for(waits).cents(), [4]);
        drop(client);
        test.end();
    }
}

#[test]
fn beyond_threads_and_queue_calls_end_at_once() {
    let test =
        Test::new(Io::Epoll, PoolLimits { threads: 1, queued_calls: 1, ..PoolLimits::default() });
    let mut client = test.connect();
    let running = client.start(&gated("Wait"), "runs");
    client.flush();
    test.expect(Event::Begun);
    let queued = client.start(&gated("Wait"), "is queued");
    let refused = client.start(&gated("Wait"), "is refused");
    let heard = client.wait_for(refused);
    assert_eq!(heard.code(), Code::ResourceExhausted);
    let refused = client.open(head(&gated("Sum")));
    assert_eq!(client.wait_for(refused).code(), Code::ResourceExhausted);
    // A queued call that is given up makes room.
    client.connection.sender.reset(queued, ErrorCode::CANCEL);
    let takes_its_place = client.start(&gated("Wait"), "is next");
    round_trip(&mut client);
    test.open_gate();
    assert_eq!(client.wait_for(running).cents(), [4]);
    test.expect(Event::Begun);
    test.open_gate();
    assert_eq!(client.wait_for(takes_its_place).cents(), [7]);
    drop(client);
    let counts = test.end();
    assert_eq!((counts.answered_ok, counts.answered_error), (3, 2));
    assert_eq!(counts.late, 0, "no handler had begun with what was cancelled");
}

#[test]
fn requests_that_wait_for_a_thread_count_as_unfinished_until_it_takes_them() {
    let one_thread = PoolLimits { threads: 1, ..PoolLimits::default() };
    let limits = Limits { max_unfinished_bytes: 100_000, ..Limits::internet() };
    let test = Test::with(Io::Epoll, one_thread, limits);
    let mut client = test.connect();
    let name = "x".repeat(30_000);
    let running = client.start(&gated("Wait"), &name);
    client.flush();
    test.expect(Event::Begun);
    let queued: Vec<_> = (0..3)
        .map(|_| {
            let queued = client.start(&gated("Wait"), &name);
            round_trip(&mut client);
            queued
        })
        .collect();
    let refused = client.start(&gated("Wait"), &name);
    assert_eq!(client.wait_for(refused).code(), Code::ResourceExhausted);
    (0..4).for_each(|_| test.open_gate());
    for call in [vec![running], queued].concat() {
        assert_eq!(client.wait_for(call).cents(), [30_000]);
    }
    drop(client);
    assert_eq!(test.end().answered_error, 1);
}

#[test]
fn who_does_not_read_gives_its_thread_to_those_who_wait() {
    for io in DRIVERS {
        let client_wait = Some(Duration::from_nanos(1));
        let pool = PoolLimits { threads: 1, client_wait, ..PoolLimits::default() };
        let test = Test::new(io, pool);
        let mut deaf = test.connect_deaf();
        let flood = deaf.start(&gated("Flood"), "");
        deaf.flush();
        while test.flooded.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let mut other = test.connect();
        let mut waiting = Vec::new();
        // Each of them asks for the thread, and by then the flood may wait for its client.
        while test.events.try_recv() != Ok(Event::Over) {
            waiting.push(other.start(&gated("Wait"), "four"));
            round_trip(&mut other);
        }
        for waits in waiting {
            test.expect(Event::Begun);
            test.open_gate();
            assert_eq!(other.wait_for(waits).cents(), [4], "{io:?}");
        }
        deaf.wait_until(flood, |heard| heard.reset.is_some());
        drop((deaf, other));
        assert_eq!(test.end().recalled, 1, "{io:?}");
    }
}

#[test]
fn who_sleeps_on_more_than_its_share_gives_a_thread_to_those_below_theirs() {
    for io in DRIVERS {
        let test = Test::new(io, PoolLimits { threads: 4, ..PoolLimits::default() });
        let mut sleepers = [test.connect(), test.connect()];
        for (sleeper, calls) in sleepers.iter_mut().zip([3, 1]) {
            for _ in 0..calls {
                sleeper.start(&gated("Sleep"), "");
                sleeper.flush();
                test.expect(Event::Begun);
            }
        }
        let mut newcomer = test.connect();
        let waits = newcomer.start(&gated("Wait"), "four");
        newcomer.flush();
        test.expect(Event::Over);
        test.expect(Event::Begun);
        test.open_gate();
        assert_eq!(newcomer.wait_for(waits).cents(), [4], "{io:?}");
        drop((sleepers, newcomer));
        assert_eq!(test.end().recalled, 1, "{io:?}");
    }
}

#[test]
fn who_has_most_of_a_full_queue_makes_room_for_a_newcomer() {
    for io in DRIVERS {
        let pool = PoolLimits { threads: 1, queued_calls: 2, ..PoolLimits::default() };
        let test = Test::new(io, pool);
        let mut first = test.connect();
        let running = first.start(&gated("Wait"), "runs");
        first.flush();
        test.expect(Event::Begun);
        let queued = [0; 2].map(|_| first.start(&gated("Wait"), "is queued"));
        round_trip(&mut first);
        let mut newcomer = test.connect();
        let waits = newcomer.start(&gated("Wait"), "four");
        newcomer.flush();
        assert_eq!(first.wait_for(queued[1]).code(), Code::ResourceExhausted, "{io:?}");
        (0..3).for_each(|_| test.open_gate());
        assert_eq!(newcomer.wait_for(waits).cents(), [4], "{io:?}");
        assert_eq!(first.wait_for(running).cents(), [4]);
        assert_eq!(first.wait_for(queued[0]).cents(), [9]);
        drop((first, newcomer));
        let counts = test.end();
        assert_eq!((counts.answered_ok, counts.answered_error, counts.late), (4, 1, 0), "{io:?}");
    }
}

#[test]
fn a_handler_that_waits_for_requests_hears_that_its_client_is_gone() {
    for io in DRIVERS {
        let test = Test::new(io, PoolLimits { threads: 1, ..PoolLimits::default() });
        let mut client = test.connect();
        let sum = client.open(head(&gated("Sum")));
        client.send(sum, &item("one"), false);
        test.expect(Event::Begun);
        test.open_gate();
        client.connection.sender.reset(sum, ErrorCode::CANCEL);
        client.flush();
        test.expect(Event::Over);
        let lost = client.open(head(&gated("Sum")));
        client.send(lost, &item("one"), false);
        test.expect(Event::Begun);
        test.open_gate();
        drop(client);
        test.expect(Event::Over);
        test.pass_the_thread_on();
        assert_eq!(test.end().late, 2, "{io:?}");
    }
}

#[test]
fn a_handler_whose_client_does_not_read_is_stopped_and_hears_of_the_end() {
    for io in DRIVERS {
        let test = Test::new(io, PoolLimits::default());
        let mut client = test.connect();
        client.listener.idles = true;
        let flood = client.start(&gated("Flood"), "");
        client.wait_until(flood, |heard| heard.messages.len() >= 60);
        for _ in 0..100 {
            // Small enough for what is left of the connection's window.
            round_trip(&mut client);
        }
        client.connection.sender.reset(flood, ErrorCode::CANCEL);
        client.flush();
        test.expect(Event::Over);
        // The client's window, the send buffer, and what is between the threads.
        let most = 4 * 65_536 / 1_000;
        assert!(test.flooded.load(Ordering::Relaxed) <= most, "{io:?}");
        drop(client);
        test.end();
    }
}

#[test]
fn a_handler_that_does_not_take_requests_stops_its_client() {
    for io in DRIVERS {
        let test = Test::new(io, PoolLimits::default());
        let mut client = test.connect();
        let sum = client.open(head(&gated("Sum")));
        let name = "x".repeat(1_000);
        let requests = 5_000;
        for _ in 0..requests {
            client.connection.sender.data(sum, &item(&name), false);
        }
        client.send(sum, b"", true);
        test.expect(Event::Begun);
        for _ in 0..200 {
            // What credit there is comes along, and is used.
            round_trip(&mut client);
        }
        let unsent_bytes = client.connection.sender.blocked_bytes(sum);
        let sent_bytes = requests * item(&name).len() - unsent_bytes;
        assert!(sent_bytes <= 3 * 65_536, "{sent_bytes}");
        test.open_gate();
        assert_eq!(client.wait_for(sum).cents(), [5_000_000]);
        drop(client);
        test.end();
    }
}

#[test]
fn a_call_on_the_pool_ends_at_its_deadline_whatever_its_handler_does() {
    for io in DRIVERS {
        let test = Test::new(io, PoolLimits { threads: 1, ..PoolLimits::default() });
        let mut client = test.connect();
        let starts_the_thread = client.start(&gated("Wait"), "");
        test.open_gate();
        client.wait_for(starts_the_thread);
        test.expect(Event::Begun);
        let waits = client.start_with(with_deadline("Wait"), "");
        assert_eq!(client.wait_for(waits).code(), Code::DeadlineExceeded);
        test.expect(Event::Begun);
        test.open_gate();
        test.expect(Event::Over);
        let watches = client.start_with(with_deadline("Watch"), "");
        assert_eq!(client.wait_for(watches).code(), Code::DeadlineExceeded);
        test.expect(Event::Begun);
        test.expect(Event::Over);
        drop(client);
        test.pass_the_thread_on();
        assert_eq!(test.end().late, 2, "{io:?}");
    }
}

#[test]
fn a_handler_that_panics_or_drops_its_call_costs_that_call() {
    let pool = PoolLimits { threads: 1, queued_calls: 10, ..PoolLimits::default() };
    let builder = Server::builder().add_service(shop::service(&Waiting::default()));
    let server = builder.pool(pool).bind("127.0.0.1:0").unwrap().spawn().unwrap();
    let mut client = Client::connect_with(server.local_address(), &ConnectionConfig::trusted());
    for _ in 0..3 {
        let panics = client.start("/shop.v1.Orders/Appraise", "panic");
        assert_eq!(client.wait_for(panics).code(), Code::Internal);
        let next = client.start("/shop.v1.Orders/Appraise", "on");
        assert_eq!(client.wait_for(next).cents(), [2]);
    }
    drop(client);
    server.stop();
    assert_eq!(server.join().unwrap().calls.panics, 3);

    let test = Test::new(Io::Epoll, pool);
    let mut client = test.connect();
    let dropped = client.start(&gated("Drop"), "");
    assert_eq!(client.wait_for(dropped).code(), Code::Internal);
    drop(client);
    assert_eq!(test.end().panics, 0);
}

#[test]
fn requests_that_cannot_be_read_are_errors_of_their_call() {
    let test = Test::new(Io::Epoll, PoolLimits::default());
    let mut client = test.connect();
    let stream = client.open(head(&gated("Wait")));
    client.send(stream, &framed(b"\xff\xff"), true);
    assert_eq!(client.wait_for(stream).code(), Code::Internal);
    let stream = client.open(head(&gated("Wait")));
    client.send(stream, b"", true);
    assert_eq!(client.wait_for(stream).code(), Code::Unimplemented);
    let stream = client.open(head(&gated("Wait")));
    client.send(stream, &[item(""), item("")].concat(), true);
    assert_eq!(client.wait_for(stream).code(), Code::Unimplemented);
    drop(client);
    test.end();
}

#[test]
fn metadata_and_compression_work_on_the_pool() {
    let builder = Server::builder().add_service(shop::service(&Waiting::default()));
    let server = builder.bind("127.0.0.1:0").unwrap().spawn().unwrap();
    let mut client = Client::connect_with(server.local_address(), &ConnectionConfig::trusted());
    let mut echo = head("/shop.v1.Orders/Appraise");
    echo.push(b"x-bytes-bin", b"AQID");
    let stream = client.start_with(echo, "echo");
    let heard = client.wait_for(stream);
    assert_eq!(heard.cents(), [4]);
    assert_eq!(heard.field("x-before-bin"), Some("AQID"));
    assert_eq!(heard.field("x-after"), Some("bye"));
    let mut bad = head("/shop.v1.Orders/Appraise");
    bad.push(b"x-bytes-bin", b"?");
    let stream = client.start_with(bad, "echo");
    assert_eq!(client.wait_for(stream).code(), Code::Internal);
    let mut compressed = head("/shop.v1.Orders/Haggle");
    compressed.push(b"grpc-encoding", b"gzip");
    let stream = client.open(compressed);
    let body = deflated(&Item { name: "abc".into() }.encode_to_vec());
    client.send(stream, &[body, item("ab")].concat(), true);
    assert_eq!(client.wait_for(stream).cents(), [3, 2]);
    drop(client);
    server.stop();
    server.join().unwrap();
}

#[test]
fn a_server_that_stops_waits_for_its_pool() {
    for io in DRIVERS {
        let test = Test::new(io, PoolLimits::default());
        let mut client = test.connect();
        let waits = client.start(&gated("Wait"), "four");
        client.flush();
        test.expect(Event::Begun);
        test.server.stop();
        test.open_gate();
        assert_eq!(client.wait_for(waits).cents(), [4]);
        test.end();
    }
}
