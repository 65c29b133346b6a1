//! Calls that wait: fifty thousand at once cost fifty thousand entries of a heap, and one thread.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bookend_server::{Context, Responder};

use messages::{Delay, DelayServer, WaitReply, WaitRequest};

mod messages {
    bookend_server::include_proto!("bookend.test.v1");
}

/// `bookend.test.v1.Delay`, with a thread that answers what is due.
///
/// # Errors
/// Where no thread can be had.
pub fn service() -> io::Result<DelayServer<Waiter>> {
    let queue = Arc::new(Queue::default());
    let answering = Arc::clone(&queue);
    thread::Builder::new()
        .name("delay".into())
        .spawn(move || answering.answer_all())?;
    Ok(DelayServer::new(Waiter { queue }))
}

/// Puts calls in the queue.
pub struct Waiter {
    queue: Arc<Queue>,
}

impl Delay for Waiter {
    fn wait(&self, request: WaitRequest, _: &Context<'_>, responder: Responder<WaitReply>) {
        let due = Instant::now() + Duration::from_millis(request.delay_ms.into());
        self.queue.add(
            due,
            WaitReply {
                payload: request.payload,
            },
            responder,
        );
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Calls that wait, the one that is due first on top.
#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: BinaryHeap<Reverse<Waiting>>,
    added: u64,
    closed: bool,
}

/// A call, ordered by when it is due and then by when it came.
struct Waiting {
    due: Instant,
    number: u64,
    reply: WaitReply,
    responder: Responder<WaitReply>,
}

impl Queue {
    fn add(&self, due: Instant, reply: WaitReply, responder: Responder<WaitReply>) {
        let mut state = self.lock();
        let first = state
            .waiting
            .peek()
            .is_none_or(|Reverse(waiting)| due < waiting.due);
        state.added += 1;
        let number = state.added;
        state.waiting.push(Reverse(Waiting {
            due,
            number,
            reply,
            responder,
        }));
        drop(state);
        if first {
            self.changed.notify_one();
        }
    }

    /// Lets the answering thread end; what still waits is dropped, and its calls end with an error.
    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    fn answer_all(&self) {
        let mut due = Vec::new();
        while self.wait_for_due(&mut due) {
            for Waiting {
                reply, responder, ..
            } in due.drain(..)
            {
                responder.send(Ok(reply));
            }
        }
    }

    /// Waits until calls are due and moves them to `due`; false once the queue is closed.
    fn wait_for_due(&self, due: &mut Vec<Waiting>) -> bool {
        let mut state = self.lock();
        while !state.closed {
            let now = Instant::now();
            while state.first_due().is_some_and(|first| first <= now) {
                due.extend(state.waiting.pop().map(|Reverse(waiting)| waiting));
            }
            if !due.is_empty() {
                return true;
            }
            state = self.sleep(state, now);
        }
        false
    }

    fn sleep<'a>(&self, state: MutexGuard<'a, State>, now: Instant) -> MutexGuard<'a, State> {
        match state.first_due() {
            None => self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(due) => {
                let woken = self.changed.wait_timeout(state, due - now);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// Nothing that panics happens under the lock but running out of memory.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn first_due(&self) -> Option<Instant> {
        self.waiting.peek().map(|Reverse(waiting)| waiting.due)
    }
}

impl Waiting {
    fn order(&self) -> (Instant, u64) {
        (self.due, self.number)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}
