//! Threads beside those of the shards: a bounded number of them, and a bounded queue.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The default number of threads for handlers that block: Java's and Python's gRPC servers usually
/// get pools of ten to a hundred.
pub const POOL_THREADS: usize = 64;

/// The default number of calls that may wait for one of these threads: two seconds' worth if each
/// call takes an eighth of a second. A client that would wait longer should fail at once.
pub const POOL_QUEUED_CALLS: usize = 1_024;

/// How long a handler may wait for its client, altogether, before calls that wait for a thread get
/// its own: an interactive client answers within seconds.
pub const POOL_CLIENT_WAIT: Duration = Duration::from_secs(10);

/// One connection gets at most so many of four threads while it could do with more: the others'
/// calls find one at once.
const SHARE_OF_FOUR: usize = 3;

/// How far the queue is searched for a call whose connection has not got its share.
const SEARCHED_CALLS: usize = 256;

/// How many handlers may block, and how many calls may wait for that.
///
/// One connection's calls get at most three quarters of the threads at a time; its others wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Threads. They are started when needed, and then kept.
    pub threads: usize,
    /// Calls that may wait for a thread. Further ones end at once with `RESOURCE_EXHAUSTED`.
    pub queued_calls: usize,
    /// How long a handler may wait for its client, altogether, while other calls wait for a thread:
    /// for requests to come and for replies to be read. Then its call ends with
    /// `RESOURCE_EXHAUSTED`. `None` for no limit.
    pub client_wait: Option<Duration>,
}

impl Default for PoolLimits {
    fn default() -> Self {
        PoolLimits {
            threads: POOL_THREADS,
            queued_calls: POOL_QUEUED_CALLS,
            client_wait: Some(POOL_CLIENT_WAIT),
        }
    }
}

impl PoolLimits {
    fn connection_threads(&self) -> usize {
        (self.threads * SHARE_OF_FOUR / 4).max(1)
    }
}

/// Something to be done on a thread.
pub(crate) trait Job: Send + 'static {
    /// What is kept of it while it runs.
    type Ticket: Send + 'static;

    fn ticket(&self) -> Self::Ticket;

    /// Whether nobody waits for it any more.
    fn is_over(&self) -> bool;

    fn run(self);

    /// It was not taken.
    fn withdraw(self);

    /// Whether both are the same connection's.
    fn is_of_same_connection(&self, ticket: &Self::Ticket) -> bool;

    /// How long it has waited for its client altogether; nothing if it does not wait now.
    fn waited(ticket: &Self::Ticket) -> Duration;

    /// Asks a job that runs to come to its end.
    fn recall(ticket: &Self::Ticket);
}

/// The threads of one server. Once this is dropped, they end as soon as their jobs return.
pub(crate) struct Threads<J: Job> {
    shared: Arc<Shared<J>>,
    name: &'static str,
}

/// There is no room for another call.
pub(crate) struct PoolFull;

struct Shared<J: Job> {
    limits: PoolLimits,
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J: Job> {
    queue: VecDeque<J>,
    running: Vec<Running<J>>,
    last_number: u64,
    threads: usize,
    idle_threads: usize,
    closed: bool,
}

struct Running<J: Job> {
    number: u64,
    ticket: J::Ticket,
    was_recalled: bool,
}

impl<J: Job> Threads<J> {
    pub fn new(limits: PoolLimits, name: &'static str) -> Self {
        let state = State {
            queue: VecDeque::new(),
            running: Vec::new(),
            last_number: 0,
            threads: 0,
            idle_threads: 0,
            closed: false,
        };
        let shared = Shared { limits, state: Mutex::new(state), changed: Condvar::new() };
        Threads { shared: Arc::new(shared), name }
    }

    /// Queues a job for the next free thread.
    ///
    /// # Errors
    /// When all threads are busy and the queue is full. The job itself is not ended.
    pub fn submit(&self, job: J) -> Result<(), PoolFull> {
        let mut state = self.shared.lock();
        if state.idle_threads > state.queue.len() {
            state.queue.push_back(job);
            self.shared.changed.notify_one();
            return Ok(());
        }
        if state.threads < self.shared.limits.threads && self.start_thread() {
            state.threads += 1;
            state.queue.push_back(job);
            return Ok(());
        }
        if !self.shared.has_room(&mut state) {
            job.withdraw();
            return Err(PoolFull);
        }
        state.queue.push_back(job);
        if state.idle_threads > 0 {
            // What is ahead of it in the queue waits for its connection's share.
            self.shared.changed.notify_one();
        }
        self.shared.recall(&mut state);
        Ok(())
    }

    /// Ends calls that have waited for their client for too long, if others wait for their threads.
    pub fn relieve(&self) {
        let mut state = self.shared.lock();
        if !state.queue.is_empty() {
            self.shared.recall(&mut state);
        }
    }

    /// Whether another thread could be started.
    fn start_thread(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name(self.name.into());
        thread.spawn(move || shared.work()).is_ok()
    }
}

impl<J: Job> Drop for Threads<J> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let unhandled = std::mem::take(&mut state.queue);
        drop(state);
        self.shared.changed.notify_all();
        drop(unhandled);
    }
}

impl<J: Job> Shared<J> {
    /// Does jobs until the pool is closed.
    fn work(&self) {
        let mut done = None;
        while let Some((job, number)) = self.next_job(done) {
            if !job.is_over() {
                // What it has not finished ends when it is dropped.
                let _ = catch_unwind(AssertUnwindSafe(|| job.run()));
            }
            done = Some(number);
        }
    }

    /// The next job; `done` is the number of the last one.
    fn next_job(&self, done: Option<u64>) -> Option<(J, u64)> {
        let mut state = self.lock();
        if let Some(done) = done {
            state.running.retain(|running| running.number != done);
            // The next job may have waited for its connection's share.
            if state.idle_threads > 0 && state.queue.len() > 1 {
                self.changed.notify_one();
            }
        }
        loop {
            if let Some(job) = state.take(self.limits.connection_threads()) {
                return Some(state.begin(job));
            }
            if state.closed {
                return None;
            }
            state.idle_threads += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle_threads -= 1;
        }
    }

    /// Whether the queue takes another call; removes those that are over.
    fn has_room(&self, state: &mut State<J>) -> bool {
        if state.threads == 0 {
            return false;
        }
        if state.queue.len() >= self.limits.queued_calls {
            state.queue.retain(|job| !job.is_over());
        }
        state.queue.len() < self.limits.queued_calls
    }

    /// Recalls as many of those that have waited too long as wait for a thread.
    fn recall(&self, state: &mut State<J>) {
        let Some(limit) = self.limits.client_wait else {
            return;
        };
        let State { queue, running, .. } = state;
        let waiting = queue.iter().filter(|job| !job.is_over()).take(running.len()).count();
        let is_due = |running: &&mut Running<J>| {
            !running.was_recalled && J::waited(&running.ticket) >= limit
        };
        for running in running.iter_mut().filter(is_due).take(waiting) {
            running.was_recalled = true;
            J::recall(&running.ticket);
        }
    }

    /// No job runs under the lock, and nothing else there panics.
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Job> State<J> {
    /// The first job whose connection has not got its share of the threads.
    fn take(&mut self, connection_threads: usize) -> Option<J> {
        let State { queue, running, .. } = self;
        let has_share = |job: &J| {
            running.iter().filter(|other| job.is_of_same_connection(&other.ticket)).count()
                < connection_threads
        };
        let at = queue.iter().take(SEARCHED_CALLS).position(has_share)?;
        queue.remove(at)
    }

    fn begin(&mut self, job: J) -> (J, u64) {
        self.last_number += 1;
        let number = self.last_number;
        self.running.push(Running { number, ticket: job.ticket(), was_recalled: false });
        (job, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// Says when it begins, and ends when it is let.
    struct TestJob {
        connection: u32,
        begun: Sender<u32>,
        gate: Arc<Mutex<Receiver<()>>>,
        waited: Duration,
        recalled: Sender<u32>,
    }

    impl Job for TestJob {
        type Ticket = (u32, Duration, Sender<u32>);

        fn ticket(&self) -> Self::Ticket {
            (self.connection, self.waited, self.recalled.clone())
        }

        fn is_over(&self) -> bool {
            false
        }

        fn run(self) {
            self.begun.send(self.connection).unwrap();
            self.gate.lock().unwrap().recv().unwrap();
        }

        fn withdraw(self) {}

        fn is_of_same_connection(&self, other: &Self::Ticket) -> bool {
            self.connection == other.0
        }

        fn waited(ticket: &Self::Ticket) -> Duration {
            ticket.1
        }

        fn recall(ticket: &Self::Ticket) {
            ticket.2.send(ticket.0).unwrap();
        }
    }

    struct Test {
        threads: Threads<TestJob>,
        begin: Sender<u32>,
        begun: Receiver<u32>,
        gate: Arc<Mutex<Receiver<()>>>,
        open: Sender<()>,
        recall: Sender<u32>,
        recalled: Receiver<u32>,
    }

    impl Test {
        fn new(threads: usize) -> Self {
            let limits = PoolLimits { threads, ..PoolLimits::default() };
            let (begin, begun) = channel();
            let (open, gate) = channel();
            let (recall, recalled) = channel();
            let threads = Threads::new(limits, "test");
            let gate = Arc::new(Mutex::new(gate));
            Test { threads, begin, begun, gate, open, recall, recalled }
        }

        fn submit(&self, connection: u32, waited: Duration) {
            let (begun, recalled) = (self.begin.clone(), self.recall.clone());
            let gate = Arc::clone(&self.gate);
            let job = TestJob { connection, begun, gate, waited, recalled };
            assert!(self.threads.submit(job).is_ok());
        }

        fn begun(&self, count: usize) -> Vec<u32> {
            (0..count).map(|_| self.begun.recv().unwrap()).collect()
        }
    }

    #[test]
    fn one_connection_leaves_a_thread_for_the_others() {
        let test = Test::new(4);
        (0..10).for_each(|_| test.submit(1, Duration::ZERO));
        assert_eq!(test.begun(3), [1, 1, 1]);
        test.submit(2, Duration::ZERO);
        assert_eq!(test.begun(1), [2], "ahead of those that came before");
        (0..11).for_each(|_| test.open.send(()).unwrap());
        assert_eq!(test.begun(7), [1; 7], "and none of these is forgotten");
    }

    #[test]
    fn who_waits_for_a_client_gives_way_when_others_wait_for_a_thread() {
        let test = Test::new(2);
        test.submit(1, POOL_CLIENT_WAIT);
        test.submit(2, Duration::ZERO);
        test.begun(2);
        test.threads.relieve();
        assert!(test.recalled.try_recv().is_err(), "nobody waits");
        test.submit(3, Duration::ZERO);
        assert_eq!(test.recalled.try_recv(), Ok(1));
        test.threads.relieve();
        assert!(test.recalled.try_recv().is_err(), "once is enough");
        (0..3).for_each(|_| test.open.send(()).unwrap());
        assert_eq!(test.begun(1), [3]);
    }
}
