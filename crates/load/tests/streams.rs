//! Streaming calls before a real server.

#[path = "support/plans.rs"]
mod plans;

use bookend_io::Driver;
use bookend_load::pace::{ArrivalProcess, RateSchedule};
use bookend_load::plan::pacing::{Loop, OpenLoop};
use bookend_load::plan::{LoadPlan, Streaming};
use bookend_load::record::StreamMessages;
use bookend_load::run::LoadOutcome;
use bookend_server::{
    Context, HandlerKind, InlineStream, MethodDescriptor, Reply, Server, ServerHandle, Service,
    StreamReply,
};
use plans::{SECOND_NS, calling, measure};

/// Methods: `Count` answers a request of N bytes with N messages, `Collect` any number of messages
/// with one, `Echo` each message with itself.
struct Streams;

const METHODS: &[MethodDescriptor] = &[
    MethodDescriptor { name: "Count", kind: HandlerKind::Stream },
    MethodDescriptor { name: "Collect", kind: HandlerKind::Stream },
    MethodDescriptor { name: "Echo", kind: HandlerKind::Stream },
];

impl Service for Streams {
    fn name(&self) -> &'static str {
        "test.Streams"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, _: usize, _: &[u8], _: &Context<'_>, _: Reply<'_>) {}

    fn open(&self, method: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        Some(match method {
            0 => Box::new(Count(0)),
            1 => Box::new(Collect),
            _ => Box::new(Echo),
        })
    }
}

/// Messages that are left to send.
struct Count(usize);

impl InlineStream for Count {
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        self.0 = message.len();
        self.on_ready(replies);
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        if self.0 == 0 {
            replies.end(Ok(()));
        }
    }

    fn on_ready(&mut self, replies: &mut StreamReply<'_>) {
        while self.0 > 0 && !replies.is_full() {
            replies.message(|bytes| bytes.extend_from_slice(b"counted"));
            self.0 -= 1;
        }
        if self.0 == 0 {
            replies.end(Ok(()));
        }
    }
}

struct Collect;

impl InlineStream for Collect {
    fn on_message(&mut self, _: &[u8], _: &mut StreamReply<'_>) {}

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.message(|bytes| bytes.extend_from_slice(b"all"));
        replies.end(Ok(()));
    }
}

struct Echo;

impl InlineStream for Echo {
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        replies.message(|bytes| bytes.extend_from_slice(message));
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.end(Ok(()));
    }
}

fn serve() -> ServerHandle {
    let server = Server::builder().add_service(Streams).bind("127.0.0.1:0").unwrap();
    server.spawn().unwrap()
}

const CLIENT: Streaming = Streaming {
    client: true,
    server: false,
    interval_ns: 0,
    duration_ns: None,
    messages: None,
    is_dynamic: false,
};
const SERVER: Streaming = Streaming { client: false, server: true, ..CLIENT };
const BOTH: Streaming = Streaming { server: true, ..CLIENT };

fn plan(server: &ServerHandle, method: &str, streaming: Streaming, calls: u64) -> LoadPlan {
    let path = format!("/test.Streams/{method}");
    let target = server.local_address().clone();
    calling(plans::plan(&path, target, calls), |call| call.streaming = Some(streaming))
}

fn sending(messages: &[Vec<u8>], plan: LoadPlan) -> LoadPlan {
    calling(plan, |call| call.messages = messages.to_vec())
}

#[test]
fn a_request_may_have_no_message_at_all() {
    let server = serve();
    let empty = calling(plan(&server, "Collect", CLIENT, 3), |call| call.messages.clear());
    let outcome = measure(empty);
    assert_eq!((outcome.ok, outcome.errors.total()), (3, 0));
    assert_eq!(messages(&outcome).sent, 0);
}

fn messages(outcome: &LoadOutcome) -> &StreamMessages {
    outcome.streams.as_deref().expect("calls are streams")
}

#[test]
fn every_message_of_every_call_is_counted_by_every_driver() {
    let server = serve();
    for driver in [Driver::Blocking, Driver::Epoll, Driver::Uring] {
        let count =
            LoadPlan { driver, ..sending(&[vec![0; 1_000]], plan(&server, "Count", SERVER, 50)) };
        let outcome = measure(count);
        assert_eq!((outcome.ok, outcome.errors.total()), (50, 0), "{driver}: {outcome:?}");
        assert_eq!((messages(&outcome).sent, messages(&outcome).received), (0, 50_000));
        assert_eq!(messages(&outcome).first_message.histogram.len(), 50);
        assert_eq!(messages(&outcome).gaps.histogram.len(), 49_950);

        let given = vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec()];
        let collect = sending(&given, plan(&server, "Collect", CLIENT, 50));
        let collect = LoadPlan { driver, ..collect };
        let outcome = measure(collect);
        assert_eq!((outcome.ok, messages(&outcome).sent), (50, 150), "{driver}");

        let echo = LoadPlan { driver, ..sending(&given, plan(&server, "Echo", BOTH, 50)) };
        let outcome = measure(echo);
        assert_eq!((outcome.ok, messages(&outcome).received), (50, 150), "{driver}");
        assert_eq!(messages(&outcome).answers.histogram.len(), 150);
    }
}

#[test]
fn a_long_request_goes_out_in_turns_and_flow_control_is_heeded() {
    let server = serve();
    let long = Streaming { messages: Some(20_000), ..CLIENT };
    let long = LoadPlan {
        concurrency: 3,
        ..sending(&[vec![7; 1_000]], plan(&server, "Collect", long, 3))
    };
    let outcome = measure(long);
    assert_eq!((outcome.ok, outcome.errors.total()), (3, 0));
    assert_eq!(messages(&outcome).sent, 60_000);
}

#[test]
fn thousands_of_streams_at_once_lose_no_message() {
    let server = serve();
    let echo = Streaming { messages: Some(20), ..BOTH };
    let echo = LoadPlan {
        driver: Driver::Epoll,
        connections: 8,
        concurrency: 4_000,
        ..plan(&server, "Echo", echo, 4_000)
    };
    let outcome = measure(echo);
    assert_eq!((outcome.ok, outcome.errors.total()), (4_000, 0));
    assert_eq!((messages(&outcome).sent, messages(&outcome).received), (80_000, 80_000));
}

#[test]
fn a_response_is_cut_off_after_the_messages_or_the_time_that_were_asked_for() {
    let server = serve();
    let some = Streaming { messages: Some(10), ..SERVER };
    let some = LoadPlan {
        concurrency: 2,
        ..sending(&[vec![0; 100_000]], plan(&server, "Count", some, 8))
    };
    let outcome = measure(some);
    assert_eq!((outcome.ok, outcome.errors.total()), (8, 0));
    assert!(messages(&outcome).received >= 80);

    let timed =
        Streaming { duration_ns: Some(SECOND_NS / 10), interval_ns: SECOND_NS / 50, ..BOTH };
    let outcome = measure(plan(&server, "Echo", timed, 10));
    assert_eq!((outcome.ok, outcome.errors.total()), (10, 0));
    let sent = messages(&outcome).sent;
    assert!((10..=60).contains(&sent), "at most six a call: {sent}");
}

#[test]
fn streams_are_made_by_a_schedule_as_well() {
    let server = serve();
    let open_loop = OpenLoop {
        schedule: RateSchedule::constant(1_000.0),
        arrivals: ArrivalProcess::Even,
        seed: 1,
    };
    let scheduled = LoadPlan {
        pacing: Loop::Open(open_loop),
        concurrency: 1_000,
        ..sending(&[b"x"; 5].map(|message| message.to_vec()), plan(&server, "Echo", BOTH, 200))
    };
    let outcome = measure(scheduled);
    assert_eq!((outcome.ok, messages(&outcome).received), (200, 1_000));
    let due = outcome.open_loop.as_ref().map(|calls| (calls.due(), calls.made));
    assert_eq!(due, Some((200, 200)));
}

#[test]
fn messages_go_out_compressed_where_that_is_asked_for() {
    let server = serve();
    let mut compressed = Vec::new();
    bookend_wire::grpc::gzip::compress(&[b'x'; 10_000], &mut compressed);
    // The server takes a message of 10,000 bytes for as many counts.
    let counted = calling(plan(&server, "Count", SERVER, 5), |call| {
        call.is_compressed = true;
        call.messages = vec![compressed];
    });
    let outcome = measure(counted);
    assert_eq!((outcome.ok, messages(&outcome).received), (5, 50_000));
}
