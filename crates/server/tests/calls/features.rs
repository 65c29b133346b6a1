//! What the features add: tests of the workspace have them all, since its examples ask for them.
#![cfg(all(feature = "prometheus", feature = "tokio", feature = "tracing"))]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bookend_server::tokio::respond;
use bookend_server::trace::Traced;
use bookend_server::{
    Code, Context, Counts, HandlerKind, InlineStream, Io, MethodDescriptor, Metrics, Reply,
    Responder, Server, Service, Status, codec,
};
use bookend_wire::{ConnectionConfig, ErrorCode};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, info};

use crate::loopback::Client;
use crate::shop::{Item, Money};

/// Sleeps as many milliseconds as the name has letters; says so if it is dropped before.
struct Sleeper {
    runtime: tokio::runtime::Handle,
    dropped: Arc<AtomicUsize>,
}

struct CountsDrops(Arc<AtomicUsize>);

impl Drop for CountsDrops {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

const SLEEP: &str = "/test.Sleeper/Sleep";

impl Service for Sleeper {
    fn name(&self) -> &'static str {
        "test.Sleeper"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[MethodDescriptor { name: "Sleep", kind: HandlerKind::Deferred }]
    }

    fn call(&self, _: usize, request: &[u8], context: &Context<'_>, reply: Reply<'_>) {
        info!("a call");
        let ends = CountsDrops(Arc::clone(&self.dropped));
        codec::deferred(request, reply, |item: Item, responder: Responder<Money>| {
            respond(&self.runtime, context, responder, async move {
                let _ends = ends;
                let letters = item.name.len();
                match item.name.as_str() {
                    "panic" => panic!("as it was asked to"),
                    "fail" => return Err(Status::new(Code::Aborted, "as it was asked to")),
                    "for ever" => std::future::pending().await,
                    _ => tokio::time::sleep(Duration::from_millis(letters as u64)).await,
                }
                Ok(Money { cents: letters as i64 })
            });
        });
    }

    fn open(&self, _: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        None
    }
}

#[test]
fn tasks_answer_calls_and_end_with_them() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for io in [Io::Blocking, Io::Epoll, Io::Uring] {
        let dropped = Arc::new(AtomicUsize::new(0));
        let sleeper = Sleeper { runtime: runtime.handle().clone(), dropped: Arc::clone(&dropped) };
        let bound = Server::builder().add_service(sleeper).bind("127.0.0.1:0").unwrap();
        let server = bound.io(io).spawn().unwrap();
        let mut client = Client::connect_with(server.local_address(), &ConnectionConfig::trusted());
        let (slow, fast) = (client.start(SLEEP, &"x".repeat(20)), client.start(SLEEP, ""));
        assert_eq!(client.wait_for(fast).cents(), [0]);
        assert_eq!(client.wait_for(slow).cents(), [20]);
        let (fails, panics) = (client.start(SLEEP, "fail"), client.start(SLEEP, "panic"));
        assert_eq!(client.wait_for(fails).code(), Code::Aborted);
        assert_eq!(client.wait_for(panics).code(), Code::Internal);
        let endless = client.start(SLEEP, "for ever");
        let last = client.start(SLEEP, "");
        assert_eq!(client.wait_for(last).cents(), [0]);
        client.connection.sender.reset(endless, ErrorCode::CANCEL);
        client.flush();
        while dropped.load(Ordering::Relaxed) < 6 {
            std::thread::yield_now();
        }
        drop(client);
        server.stop();
        server.join().unwrap();
    }
}

/// Notes the names of spans, and in which one each event is.
#[derive(Default)]
struct Notes {
    spans: Mutex<Vec<&'static str>>,
    entered: Mutex<Vec<u64>>,
    events_in: Mutex<Vec<Option<u64>>>,
}

struct Noting(Arc<Notes>);

impl Subscriber for Noting {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut spans = self.0.spans.lock().unwrap();
        spans.push(span.metadata().name());
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        let entered = self.0.entered.lock().unwrap().last().copied();
        self.0.events_in.lock().unwrap().push(entered);
    }

    fn enter(&self, span: &Id) {
        self.0.entered.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, _: &Id) {
        self.0.entered.lock().unwrap().pop();
    }
}

#[test]
fn what_a_handler_logs_is_in_the_span_of_its_call() {
    let notes = Arc::new(Notes::default());
    let subscriber = Noting(Arc::clone(&notes));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sleeper = Sleeper { runtime: runtime.handle().clone(), dropped: Arc::default() };
    let builder = Server::builder().add_service(Traced::new(sleeper));
    let bound = builder.bind("127.0.0.1:0").unwrap().io(Io::Epoll).threads(1);
    let (address, shutdown) = (bound.local_address().clone(), bound.shutdown_handle());
    let serving = std::thread::spawn(move || {
        tracing::subscriber::with_default(subscriber, || bound.serve()).unwrap();
    });
    let mut client = Client::connect_with(&address, &ConnectionConfig::trusted());
    let call = client.start(SLEEP, "x");
    assert_eq!(client.wait_for(call).cents(), [1]);
    drop(client);
    shutdown.stop();
    serving.join().unwrap();
    assert_eq!(*notes.spans.lock().unwrap(), ["grpc"]);
    assert_eq!(*notes.events_in.lock().unwrap(), [Some(1)]);
}

#[test]
fn a_page_for_prometheus_has_every_count() {
    let metrics = Metrics::new();
    assert_eq!(metrics.counts(), Counts::default());
    let page = metrics.page();
    let text = String::from_utf8(page.body).unwrap();
    assert_eq!(page.status, 200);
    assert_eq!(text.matches("# TYPE grpc_").count(), 11, "{text}");
    assert!(text.contains("grpc_calls_ok_total 0\n") && text.ends_with("# EOF\n"), "{text}");
}
