//! The service of the sessions: it gives back what it is given, at once or from another thread.

use bookend_server::{Context, HandlerKind, MethodDescriptor, RawResponder, Reply, Service};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

pub const INLINE: &str = "/test.Desk/Inline";
pub const LATER: &str = "/test.Desk/Later";

/// Answers one method inline and defers the other to a thread of its own.
pub struct Desk {
    handled: Arc<AtomicU64>,
    later: Mutex<Sender<(Vec<u8>, RawResponder)>>,
}

/// What it was asked to do.
#[derive(Clone)]
pub struct DeskCounts(Arc<AtomicU64>);

impl DeskCounts {
    pub fn handled(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl Desk {
    pub fn open() -> (Self, DeskCounts) {
        let (later, calls) = channel();
        let named = thread::Builder::new().name("answers".into());
        drop(named.spawn(move || answer_all(&calls)).unwrap());
        let handled = Arc::<AtomicU64>::default();
        let counts = DeskCounts(Arc::clone(&handled));
        let later = Mutex::new(later);
        (Self { handled, later }, counts)
    }
}

fn answer_all(calls: &Receiver<(Vec<u8>, RawResponder)>) {
    for (message, answerer) in calls {
        answerer.message(message);
    }
}

impl Service for Desk {
    fn name(&self) -> &'static str {
        "test.Desk"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        const METHODS: &[MethodDescriptor] = &[
            MethodDescriptor { name: "Inline", kind: HandlerKind::Inline },
            MethodDescriptor { name: "Later", kind: HandlerKind::Deferred },
        ];
        METHODS
    }

    fn call(&self, method: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        self.handled.fetch_add(1, Ordering::AcqRel);
        if method == 0 {
            return reply.message(|output| output.extend_from_slice(request));
        }
        let later = self.later.lock().unwrap();
        later.send((request.to_vec(), reply.defer())).unwrap();
    }
}
