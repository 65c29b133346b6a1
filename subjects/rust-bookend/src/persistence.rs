//! The service behind the others: slow as a database is slow. What waits is a queue, not a thread
//! a call.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bookend_server::{Context, Responder};

use crate::ANSWERED;
use crate::messages::{CountReply, CountRequest, PersistenceService};

pub struct Persistence {
    delay: Duration,
    queue: Arc<Queue>,
}

/// All calls wait equally long, so they come due in the order in which they came.
type Waiting = VecDeque<(Instant, Responder<CountReply>)>;

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    not_empty: Condvar,
}

impl Persistence {
    pub fn new(delay: Duration) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let answering = Arc::clone(&queue);
        let thread = thread::Builder::new().name("persistence".into());
        thread.spawn(move || answering.answer_all())?;
        Ok(Persistence { delay, queue })
    }
}

impl PersistenceService for Persistence {
    fn count(&self, _: CountRequest, _: &Context<'_>, responder: Responder<CountReply>) {
        let due = Instant::now() + self.delay;
        let mut waiting = self.queue.lock();
        waiting.push_back((due, responder));
        if waiting.len() == 1 {
            self.queue.not_empty.notify_one();
        }
    }
}

impl Queue {
    /// Answers what has waited long enough, for as long as the process lives.
    fn answer_all(&self) {
        let mut due = Vec::new();
        loop {
            let first = self.first_due();
            thread::sleep(first.saturating_duration_since(Instant::now()));
            self.take_due(&mut due);
            for (_, responder) in due.drain(..) {
                let count = ANSWERED.fetch_add(1, Ordering::Relaxed) as i64 + 1;
                responder.send(Ok(CountReply { count }));
            }
        }
    }

    fn first_due(&self) -> Instant {
        let mut waiting = self.lock();
        loop {
            waiting = match waiting.front() {
                Some((first, _)) => return *first,
                None => self.not_empty.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn take_due(&self, due: &mut Vec<(Instant, Responder<CountReply>)>) {
        let now = Instant::now();
        let mut waiting = self.lock();
        let count = waiting.partition_point(|(at, _)| *at <= now);
        due.extend(waiting.drain(..count));
    }

    /// Nothing that panics happens under the lock.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
