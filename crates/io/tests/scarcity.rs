//! The n-th large allocation of a server's thread fails, for n = 1, 2, 3, ... while a client has it
//! gather a message of its choice. Alone in its file: the allocator is the whole process's.
//!
//! A growth that cannot fail would end this process.

use bookend_client::{Channel, ChannelOptions, Code, UnaryCall};
use bookend_io::{Io, ServeOptions, ShutdownHandle, listen, serve};
use bookend_server::{Context, HandlerKind, Limits, MethodDescriptor, Reply, Server, Service};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// What a client can make grow is larger than this; what a connection has anyway is smaller.
const LARGE_BYTES: usize = 32 << 10;
/// Near the limit of a message.
const MESSAGE_BYTES: usize = 3 << 20;

thread_local! {
    /// Whether memory may be short on this thread.
    static SCARCE: Cell<bool> = const { Cell::new(false) };
}
/// Large allocations until one fails, that one included; 0: none fails.
static UNTIL_FAILURE: AtomicU64 = AtomicU64::new(0);
static FAILURES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, which at times has no memory.
struct Scarcity;

fn is_refused(bytes: usize) -> bool {
    let is_scarce = bytes >= LARGE_BYTES && SCARCE.try_with(Cell::get).unwrap_or(false);
    let counts_down = |left: u64| left.checked_sub(1);
    let countdown = || UNTIL_FAILURE.fetch_update(Ordering::AcqRel, Ordering::Acquire, counts_down);
    let refused = is_scarce && countdown() == Ok(1);
    FAILURES.fetch_add(u64::from(refused), Ordering::AcqRel);
    refused
}

// SAFETY: whatever is not refused is what the system's allocator gives; null is what an allocator
// may return at any time.
unsafe impl GlobalAlloc for Scarcity {
    // SAFETY: the caller's promises are passed on.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_refused(layout.size()) {
            true => std::ptr::null_mut(),
            // SAFETY: as promised to this function.
            false => unsafe { System.alloc(layout) },
        }
    }

    // SAFETY: the caller's promises are passed on. Only a thread's own receive buffer is asked for
    // so: no peer decides about that.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised to this function.
        unsafe { System.alloc_zeroed(layout) }
    }

    // SAFETY: the caller's promises are passed on.
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    // SAFETY: the caller's promises are passed on.
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        match is_refused(new_size) {
            true => std::ptr::null_mut(),
            // SAFETY: every block came from the system's allocator; for the rest, as promised to
            // this function.
            false => unsafe { System.realloc(block, layout, new_size) },
        }
    }
}

#[global_allocator]
static ALLOCATOR: Scarcity = Scarcity;

/// Answers with nothing, whatever it is sent.
struct Sink;

impl Service for Sink {
    fn name(&self) -> &'static str {
        "test.Sink"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        &[MethodDescriptor { name: "Take", kind: HandlerKind::Inline }]
    }

    fn call(&self, _: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        assert!([0, MESSAGE_BYTES].contains(&request.len()));
        reply.message(|_| {});
    }
}

#[test]
fn a_message_for_which_there_is_no_memory_costs_its_call_or_its_connection() {
    for io in [Io::Epoll, Io::Uring, Io::Blocking] {
        let mut points = 0;
        loop {
            let (code, failures) = take_with_failure(io, points + 1);
            if failures == 0 {
                assert_eq!(code, Code::Ok);
                break;
            }
            let costs = [Code::Unavailable, Code::ResourceExhausted];
            assert!(costs.contains(&code), "{io:?} {points}: {code:?}");
            points += 1;
        }
        // A buffer that doubles from 32 KiB to 3 MiB grows seven times.
        assert!(points >= 7, "{io:?}: {points} allocations failed");
    }
}

/// The code of a large call and the number of allocations that failed.
fn take_with_failure(io: Io, number: u64) -> (Code, u64) {
    let services = Server::builder().add_service(Sink).limits(Limits::internet()).build().unwrap();
    let listener = listen("127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap()).unwrap();
    let target = listener.local_address().to_string();
    let shutdown = ShutdownHandle::new();
    let mut options = ServeOptions::new(shutdown.clone());
    (options.io, options.threads) = (io, NonZeroUsize::MIN);
    let server = thread::spawn(move || {
        serve(listener, &options, |place| {
            SCARCE.set(true);
            services.shard(place.waker)
        })
    });
    assert_eq!(take(&target, &[]), Code::Ok);
    let failures_before = FAILURES.load(Ordering::Acquire);
    UNTIL_FAILURE.store(number, Ordering::Release);
    let code = take(&target, &vec![1; MESSAGE_BYTES]);
    UNTIL_FAILURE.store(0, Ordering::Release);
    assert_eq!(take(&target, &[]), Code::Ok, "others are answered");
    shutdown.stop();
    server.join().unwrap().unwrap();
    (code, FAILURES.load(Ordering::Acquire) - failures_before)
}

/// Makes a call on a connection of its own; `UNAVAILABLE` where that was lost.
fn take(target: &str, message: &[u8]) -> Code {
    let channel = Channel::connect(target, ChannelOptions::default()).unwrap();
    let call = UnaryCall::new("/test.Sink/Take", message.to_vec());
    channel.unary(call).status.code
}
