//! Threads in addition to those of the shards: a bounded number of them, and a bounded queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::clients::{Clients, Job, PoolFull, RecallRules};

/// The default number of threads for handlers that block: Java's and Python's gRPC servers usually
/// get pools of ten to a hundred.
pub const POOL_THREADS: usize = 64;

/// The default number of calls that may wait for one of these threads: two seconds' worth if each
/// call takes an eighth of a second. A client that would wait longer should fail at once.
pub const POOL_QUEUED_CALLS: usize = 1_024;

/// How long a handler may wait for its client, altogether, before calls that wait for a thread get
/// its own: an interactive client answers within seconds.
pub const POOL_CLIENT_WAIT: Duration = Duration::from_secs(10);

/// One connection gets at most this number of four threads while it could do with more: the others'
/// calls find one at once.
const SHARE_OF_FOUR: usize = 3;

/// How often handlers are looked for that have to give way, while calls wait for a thread.
const WATCH_INTERVAL: Duration = Duration::from_millis(10);

/// How many handlers may block, and how many calls may wait for that.
///
/// One connection's calls get at most three quarters of the threads at a time; its others wait. A
/// thread that becomes free goes to the connection that has fewest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Threads. They are started when needed, and then kept.
    pub threads: usize,
    /// Calls that may wait for a thread. Beyond that, the newest of the connection that has most
    /// end at once with `RESOURCE_EXHAUSTED`.
    pub queued_calls: usize,
    /// How long a handler may wait, altogether, while other calls wait for a thread: for requests,
    /// for replies to be read, or in [`PoolContext::sleep`](crate::PoolContext::sleep). Then its
    /// call ends with `RESOURCE_EXHAUSTED`. It may wait for less while its connection has more than
    /// its share of the threads and others have less than theirs: see `docs/use/limits.md`. `None`
    /// for no limit, and no such shares.
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

/// The threads of one server. Once this is dropped, they end as soon as their jobs return.
pub(crate) struct Threads<J: Job> {
    shared: Arc<Shared<J>>,
    name: &'static str,
}

struct Shared<J: Job> {
    limits: PoolLimits,
    state: Mutex<State<J>>,
    changed: Condvar,
    /// For the thread that watches over calls that wait.
    contended: Condvar,
}

struct State<J: Job> {
    clients: Clients<J>,
    threads: usize,
    idle_threads: usize,
    watcher: Watcher,
    closed: bool,
}

/// The thread that has handlers recalled while calls wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watcher {
    /// There is no watcher: no call has had to wait yet.
    None,
    /// No call waits.
    Asleep,
    Awake,
}

impl<J: Job> Threads<J> {
    pub fn new(limits: PoolLimits, name: &'static str) -> Self {
        let state = State {
            clients: Clients::new(),
            threads: 0,
            idle_threads: 0,
            watcher: Watcher::None,
            closed: false,
        };
        let (changed, contended) = (Condvar::new(), Condvar::new());
        let shared = Shared { limits, state: Mutex::new(state), changed, contended };
        Threads { shared: Arc::new(shared), name }
    }

    /// Queues a job for the next free thread.
    ///
    /// # Errors
    /// When all threads are busy, the queue is full, and no connection has more of it than the
    /// job's. The job itself is not ended.
    pub fn submit(&self, job: J) -> Result<(), PoolFull> {
        let mut state = self.shared.lock();
        let has_thread = state.idle_threads > state.clients.queued() || self.add_thread(&mut state);
        let mut refused = None;
        if !has_thread {
            match state.make_room(&job, &self.shared.limits) {
                Ok(other) => refused = other,
                Err(full) => {
                    job.withdraw();
                    return Err(full);
                }
            }
        }
        state.clients.push(job, Instant::now());
        if state.idle_threads > 0 {
            // Also where others are ahead of it: they may wait for their connection's share.
            self.shared.changed.notify_one();
        }
        if !has_thread {
            self.watch(&mut state);
        }
        drop(state);
        if let Some(refused) = refused {
            refused.refuse();
        }
        Ok(())
    }

    /// Ends calls whose handlers wait, if others need their threads.
    pub fn relieve(&self) {
        self.shared.recall(&mut self.shared.lock());
    }

    /// Starts another thread, if there may be one and it can be started.
    fn add_thread(&self, state: &mut State<J>) -> bool {
        let is_added = state.threads < self.shared.limits.threads
            && self.start_thread(self.name, |shared| shared.work());
        state.threads += usize::from(is_added);
        is_added
    }

    /// Has a thread watch over the calls that wait.
    fn watch(&self, state: &mut State<J>) {
        match state.watcher {
            Watcher::Awake => return,
            Watcher::Asleep => self.shared.contended.notify_one(),
            Watcher::None => {
                // Where nothing is ever recalled, there is nothing to watch.
                let is_needed = self.shared.limits.client_wait.is_some();
                if !is_needed || !self.start_thread("bookend-watch", |shared| shared.watch()) {
                    return;
                }
            }
        }
        state.watcher = Watcher::Awake;
    }

    /// Whether another thread could be started.
    fn start_thread(&self, name: &str, run: fn(&Shared<J>)) -> bool {
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name(name.into());
        thread.spawn(move || run(&shared)).is_ok()
    }
}

impl<J: Job> Drop for Threads<J> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let unhandled = std::mem::replace(&mut state.clients, Clients::new());
        drop(state);
        self.shared.changed.notify_all();
        self.shared.contended.notify_all();
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
            state.clients.done(done);
            // The next job may have waited for its connection's share.
            if state.idle_threads > 0 && state.clients.queued() > 1 {
                self.changed.notify_one();
            }
        }
        loop {
            if let Some(next) = state.clients.take(self.limits.connection_threads()) {
                return Some(next);
            }
            if state.closed {
                return None;
            }
            state.idle_threads += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle_threads -= 1;
        }
    }

    /// Looks after the calls that wait, as long as there are any, until the pool is closed.
    fn watch(&self) {
        let mut state = self.lock();
        while !state.closed {
            state = if state.clients.queued() == 0 {
                state.watcher = Watcher::Asleep;
                self.contended.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.recall(&mut state);
                let slept = self.contended.wait_timeout(state, WATCH_INTERVAL);
                slept.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }

    fn recall(&self, state: &mut State<J>) {
        let Some(wait_max) = self.limits.client_wait else {
            return;
        };
        let rules = RecallRules {
            threads: state.threads,
            idle_threads: state.idle_threads,
            connection_threads: self.limits.connection_threads(),
            wait_max,
        };
        state.clients.recall(rules, Instant::now());
    }

    /// No job runs under the lock, and nothing else there panics.
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Job> State<J> {
    /// Makes room for a job in the queue. Returns the one that has to go for it, if one has.
    fn make_room(&mut self, job: &J, limits: &PoolLimits) -> Result<Option<J>, PoolFull> {
        if self.threads == 0 {
            return Err(PoolFull);
        }
        self.clients.make_room(job.connection(), limits.queued_calls)
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
        waited: Option<Duration>,
        recalled: Sender<u32>,
    }

    impl Job for TestJob {
        type Connection = u32;
        type Ticket = (u32, Option<Duration>, Sender<u32>);

        fn connection(&self) -> &u32 {
            &self.connection
        }

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

        fn refuse(self) {
            self.recalled.send(self.connection).unwrap();
        }

        fn waited(ticket: &Self::Ticket, _: Instant) -> Option<Duration> {
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
            Self::with(PoolLimits { threads, ..PoolLimits::default() })
        }

        fn with(limits: PoolLimits) -> Self {
            let (begin, begun) = channel();
            let (open, gate) = channel();
            let (recall, recalled) = channel();
            let threads = Threads::new(limits, "test");
            let gate = Arc::new(Mutex::new(gate));
            Test { threads, begin, begun, gate, open, recall, recalled }
        }

        /// The handler waits, if `waited` says how long it has.
        fn submit(&self, connection: u32, waited: Option<Duration>) {
            assert!(self.try_submit(connection, waited));
        }

        fn try_submit(&self, connection: u32, waited: Option<Duration>) -> bool {
            let (begun, recalled) = (self.begin.clone(), self.recall.clone());
            let gate = Arc::clone(&self.gate);
            let job = TestJob { connection, begun, gate, waited, recalled };
            self.threads.submit(job).is_ok()
        }

        fn end(&self, count: usize) {
            (0..count).for_each(|_| self.open.send(()).unwrap());
        }

        fn begun(&self, count: usize) -> Vec<u32> {
            (0..count).map(|_| self.begun.recv().unwrap()).collect()
        }
    }

    #[test]
    fn one_connection_leaves_a_thread_for_the_others() {
        let test = Test::new(4);
        (0..10).for_each(|_| test.submit(1, None));
        assert_eq!(test.begun(3), [1, 1, 1]);
        test.submit(2, None);
        assert_eq!(test.begun(1), [2], "ahead of those that came before");
        test.end(11);
        assert_eq!(test.begun(7), [1; 7], "and none of these is forgotten");
    }

    #[test]
    fn who_waits_for_a_client_gives_way_when_others_wait_for_a_thread() {
        let test = Test::new(2);
        test.submit(1, Some(POOL_CLIENT_WAIT));
        test.submit(2, None);
        test.begun(2);
        test.threads.relieve();
        assert!(test.recalled.try_recv().is_err(), "nobody waits");
        test.submit(3, None);
        assert_eq!(test.recalled.recv(), Ok(1), "nobody has to ask for it");
        test.threads.relieve();
        assert!(test.recalled.try_recv().is_err(), "once is enough");
        test.end(3);
        assert_eq!(test.begun(1), [3]);
    }

    #[test]
    fn a_full_queue_takes_a_newcomer_in_the_place_of_who_has_most_of_it() {
        let test = Test::with(PoolLimits { threads: 1, queued_calls: 3, client_wait: None });
        test.submit(1, None);
        assert_eq!(test.begun(1), [1]);
        (0..3).for_each(|_| test.submit(1, None));
        assert!(!test.try_submit(1, None), "its own are those that there are too many of");
        test.submit(2, None);
        assert_eq!(test.recalled.recv(), Ok(1));
        test.end(4);
        assert_eq!(test.begun(3), [2, 1, 1]);
    }
}
