//! Calls that wait: fifty thousand of them cost fifty thousand entries of a map, and one thread.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bookend_server::{Cancellation, Code, Context, Responder, Status};

use messages::{Delay, DelayServer, WaitReply, WaitRequest};

mod messages {
    bookend_server::include_proto!("bookend.test.v1");
}

/// `bookend.test.v1.Delay`, with a thread that answers what is due.
///
/// # Errors
/// When no thread can be started.
pub fn service() -> io::Result<DelayServer<Waiter>> {
    let queue = Arc::new(Queue::new(Call::is_awaited));
    let answering = Arc::clone(&queue);
    thread::Builder::new().name("delay".into()).spawn(move || {
        let mut due = Vec::new();
        while answering.wait_for_due(&mut due) {
            due.drain(..).for_each(Call::answer);
        }
    })?;
    Ok(DelayServer::new(Waiter { queue, waiting_bytes: Arc::default() }))
}

/// Puts calls in the queue.
pub struct Waiter {
    queue: Arc<Queue<Call>>,
    waiting_bytes: Arc<AtomicUsize>,
}

/// No test waits longer.
const MAX_DELAY: Duration = Duration::from_secs(600);

/// Payloads that may wait at once, bytes: fifty thousand calls of five kilobytes.
const MAX_WAITING_BYTES: usize = 256 << 20;

/// Larger payloads are dropped when their client goes, and not only when they are due.
const LARGE_PAYLOAD_BYTES: usize = 1 << 10;

/// How often calls are looked for whose client has gone.
const SWEEP_INTERVAL: Duration = Duration::from_secs(2);

impl Delay for Waiter {
    fn wait(&self, request: WaitRequest, context: &Context<'_>, responder: Responder<WaitReply>) {
        let (delay, bytes) = match self.admit(&request) {
            Ok(admitted) => admitted,
            Err(status) => return responder.send(Err(status)),
        };
        let is_large = request.payload.len() > LARGE_PAYLOAD_BYTES;
        let cancellation = is_large.then(|| context.cancellation());
        let reply = WaitReply { payload: request.payload };
        self.queue.add(Instant::now() + delay, Call { reply, responder, cancellation, bytes });
    }
}

impl Waiter {
    /// How long the call is to wait; its payload counts from now on.
    fn admit(&self, request: &WaitRequest) -> Result<(Duration, WaitingBytes), Status> {
        let delay = Duration::from_millis(request.delay_ms.into());
        if delay > MAX_DELAY {
            let text = format!("calls wait for at most {} s", MAX_DELAY.as_secs());
            return Err(Status::new(Code::InvalidArgument, text));
        }
        let bytes = request.payload.len();
        let all_bytes = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let waiting = WaitingBytes { all: Arc::clone(&self.waiting_bytes), bytes };
        if all_bytes > MAX_WAITING_BYTES {
            return Err(Status::new(Code::ResourceExhausted, "too many bytes wait already"));
        }
        Ok((delay, waiting))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// What one call has of the bytes that wait.
#[derive(Debug)]
struct WaitingBytes {
    all: Arc<AtomicUsize>,
    bytes: usize,
}

impl Drop for WaitingBytes {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

struct Call {
    reply: WaitReply,
    responder: Responder<WaitReply>,
    /// Of a large payload.
    cancellation: Option<Cancellation>,
    bytes: WaitingBytes,
}

impl Call {
    fn answer(self) {
        drop(self.bytes);
        self.responder.send(Ok(self.reply));
    }

    /// Whether its client is there, as far as is known.
    fn is_awaited(&self) -> bool {
        self.cancellation.as_ref().is_none_or(|cancellation| !cancellation.is_cancelled())
    }
}

/// Calls that wait until they are due.
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    is_awaited: fn(&T) -> bool,
}

struct State<T> {
    /// Ordered by when it is due and then by when it came.
    waiting: BTreeMap<(Instant, u64), T>,
    added: u64,
    closed: bool,
    swept_at: Instant,
}

impl<T> Queue<T> {
    /// What nobody awaits any more is dropped before its time.
    fn new(is_awaited: fn(&T) -> bool) -> Self {
        let swept_at = Instant::now();
        let state = State { waiting: BTreeMap::new(), added: 0, closed: false, swept_at };
        Queue { state: Mutex::new(state), changed: Condvar::new(), is_awaited }
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
            self.sweep(&mut state, now);
            state = self.sleep(state, now);
        }
        false
    }

    fn sweep(&self, state: &mut State<T>, now: Instant) {
        if now >= state.swept_at + SWEEP_INTERVAL {
            state.swept_at = now;
            state.waiting.retain(|_, what| (self.is_awaited)(what));
        }
    }

    fn sleep<'a>(&self, state: MutexGuard<'a, State<T>>, now: Instant) -> MutexGuard<'a, State<T>> {
        match state.first_due() {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(due) => {
                self.changed
                    .wait_timeout(state, SWEEP_INTERVAL.min(due - now))
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
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

    fn code<T>(admitted: Result<T, Status>) -> Code {
        admitted.map_or_else(|status| status.code, |_| Code::Ok)
    }

    #[test]
    fn what_waits_is_bounded_in_time_and_in_bytes() {
        let queue = Arc::new(Queue::new(Call::is_awaited));
        let waiter = Waiter { queue, waiting_bytes: Arc::default() };
        let forever = WaitRequest { delay_ms: u32::MAX, ..WaitRequest::default() };
        assert_eq!(code(waiter.admit(&forever)), Code::InvalidArgument);
        let large = WaitRequest { delay_ms: 1, payload: vec![0; 4 << 20] };
        let admitted: Vec<_> = (0..100).filter_map(|_| waiter.admit(&large).ok()).collect();
        assert_eq!(admitted.len(), MAX_WAITING_BYTES / large.payload.len());
        assert_eq!(code(waiter.admit(&large)), Code::ResourceExhausted);
        let small = WaitRequest { delay_ms: 1, ..WaitRequest::default() };
        assert_eq!(code(waiter.admit(&small)), Code::Ok);
        drop(admitted);
        assert_eq!(code(waiter.admit(&large)), Code::Ok);
    }

    #[test]
    fn what_is_due_comes_in_the_order_of_its_time_and_then_of_its_arrival() {
        let queue = Queue::new(|_| true);
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
    fn what_nobody_awaits_is_dropped_before_its_time() {
        let queue = Queue::new(|what: &&str| *what != "of one who has gone");
        let start = Instant::now();
        for what in ["of one who has gone", "of one who waits", "of one who has gone"] {
            queue.add(start + Duration::from_secs(86_400), what);
        }
        let mut state = queue.lock();
        queue.sweep(&mut state, start);
        assert_eq!(state.waiting.len(), 3, "not all the time");
        queue.sweep(&mut state, start + 2 * SWEEP_INTERVAL);
        assert_eq!(state.waiting.values().collect::<Vec<_>>(), [&"of one who waits"]);
    }

    #[test]
    fn a_sleeping_queue_hears_of_what_is_due_earlier_and_of_its_end() {
        let queue = Arc::new(Queue::new(|_| true));
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
