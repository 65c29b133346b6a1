//! The service behind the others: slow as a database is slow. What waits is a queue, not a thread
//! a call.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bookend_server::{Context, Responder};

use crate::messages::{CountReply, CountRequest, PersistenceService};

pub struct Persistence {
    delay: Duration,
    queue: Arc<Queue>,
}

/// All calls wait equally long, so they come due in the order in which they came.
#[derive(Default)]
struct Queue {
    waiting: Mutex<VecDeque<(Instant, Responder<CountReply>)>>,
    not_empty: Condvar,
}

impl Persistence {
    pub fn new(delay: Duration) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let answering = Arc::clone(&queue);
        thread::Builder::new()
            .name("persistence".into())
            .spawn(move || answering.answer_all())?;
        Ok(Persistence { delay, queue })
    }
}

impl PersistenceService for Persistence {
    fn count(&self, _: CountRequest, _: &Context<'_>, responder: Responder<CountReply>) {
        let due = Instant::now() + self.delay;
        self.queue.lock().push_back((due, responder));
        self.queue.not_empty.notify_one();
    }
}

impl Queue {
    /// Answers what has waited long enough, for as long as the process lives.
    fn answer_all(&self) {
        let mut count = 0;
        let mut due = Vec::new();
        loop {
            self.wait_for_due(&mut due);
            for responder in due.drain(..) {
                count += 1;
                responder.send(Ok(CountReply { count }));
            }
        }
    }

    fn wait_for_due(&self, due: &mut Vec<Responder<CountReply>>) {
        let first = self.first_due();
        thread::sleep(first.saturating_duration_since(Instant::now()));
        let now = Instant::now();
        let mut waiting = self.lock();
        while let Some((_, responder)) = waiting.pop_front_if(|(at, _)| *at <= now) {
            due.push(responder);
        }
    }

    fn first_due(&self) -> Instant {
        let mut waiting = self.lock();
        loop {
            match waiting.front() {
                Some((first, _)) => return *first,
                None => {
                    waiting = self
                        .not_empty
                        .wait(waiting)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        }
    }

    /// Nothing that panics happens under the lock.
    fn lock(&self) -> MutexGuard<'_, VecDeque<(Instant, Responder<CountReply>)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
