//! Calls that wait: fifty thousand of them cost fifty thousand entries of a map, and one thread.

use std::collections::BTreeMap;
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
/// When no thread can be started.
pub fn service() -> io::Result<DelayServer<Waiter>> {
    let queue = Arc::new(Queue::new());
    let answering = Arc::clone(&queue);
    thread::Builder::new().name("delay".into()).spawn(move || {
        let mut due = Vec::new();
        while answering.wait_for_due(&mut due) {
            due.drain(..).for_each(Call::answer);
        }
    })?;
    Ok(DelayServer::new(Waiter { queue }))
}

/// Puts calls in the queue.
pub struct Waiter {
    queue: Arc<Queue<Call>>,
}

impl Delay for Waiter {
    fn wait(&self, request: WaitRequest, _: &Context<'_>, responder: Responder<WaitReply>) {
        let due = Instant::now() + Duration::from_millis(request.delay_ms.into());
        let reply = WaitReply { payload: request.payload };
        self.queue.add(due, Call { reply, responder });
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.queue.close();
    }
}

struct Call {
    reply: WaitReply,
    responder: Responder<WaitReply>,
}

impl Call {
    fn answer(self) {
        self.responder.send(Ok(self.reply));
    }
}

/// Calls that wait until they are due.
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// Ordered by when it is due and then by when it came.
    waiting: BTreeMap<(Instant, u64), T>,
    added: u64,
    closed: bool,
}

impl<T> Queue<T> {
    fn new() -> Self {
        let state = State { waiting: BTreeMap::new(), added: 0, closed: false };
        Queue { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn add(&self, due: Instant, what: T) {
        let mut state = self.lock();
        let first = state.first_due().is_none_or(|first| due < first);
        let number = state.added;
        state.added += 1;
        state.waiting.insert((due, number), what);
        drop(state);
        if first {
            self.changed.notify_one();
        }
    }

    /// Lets the waiting thread end; what still waits is dropped with the queue.
    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits until something is due and moves it to `due`; false once the queue is closed.
    fn wait_for_due(&self, due: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        while !state.closed {
            let now = Instant::now();
            while state.first_due().is_some_and(|first| first <= now) {
                due.extend(state.waiting.pop_first().map(|(_, what)| what));
            }
            if !due.is_empty() {
                return true;
            }
            state = self.sleep(state, now);
        }
        false
    }

    fn sleep<'a>(&self, state: MutexGuard<'a, State<T>>, now: Instant) -> MutexGuard<'a, State<T>> {
        match state.first_due() {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(due) => {
                let woken = self.changed.wait_timeout(state, due - now);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// Nothing that panics happens under the lock but running out of memory.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn first_due(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|((due, _), _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_in_the_order_of_its_time_and_then_of_its_arrival() {
        let queue = Queue::new();
        let start = Instant::now();
        queue.add(start + Duration::from_nanos(2), "second");
        queue.add(start + Duration::from_secs(86_400), "tomorrow");
        queue.add(start, "first");
        queue.add(start + Duration::from_nanos(2), "third");
        let mut due = Vec::new();
        while due.len() < 3 {
            assert!(queue.wait_for_due(&mut due));
        }
        assert_eq!(due, ["first", "second", "third"]);
    }

    #[test]
    fn a_sleeping_queue_hears_of_what_is_due_earlier_and_of_its_end() {
        let queue = Arc::new(Queue::new());
        queue.add(Instant::now() + Duration::from_secs(86_400), "tomorrow");
        let waiting = Arc::clone(&queue);
        let thread = thread::spawn(move || {
            let (mut due, mut all) = (Vec::new(), Vec::new());
            while waiting.wait_for_due(&mut due) {
                all.append(&mut due);
            }
            all
        });
        queue.add(Instant::now(), "now");
        while queue.lock().waiting.len() > 1 {
            thread::yield_now();
        }
        queue.close();
        assert_eq!(thread.join().unwrap(), ["now"]);
    }
}
