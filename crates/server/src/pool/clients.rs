//! The connections whose calls a pool has: which of them gets the next thread, which is refused
//! when the queue is full, and which gives a thread back.
//!
//! Threads and places are shared by connection. A free thread goes to the connection that has
//! fewest (max-min fairness), and a full queue refuses the one that has most (the longest queue
//! drop of fair queueing). What a connection has above its share is not taken from it before others
//! have waited for [`GRACE`], and then only from handlers that wait.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long a call waits for a thread to become free by itself before its connection's share is
/// taken from others: three times what an ordinary call that blocks takes.
const GRACE: Duration = Duration::from_millis(30);

/// If there are more connections than threads, how long a handler may have waited when its thread
/// goes to a connection that has none. Where many connections wait, it is shorter, so that all of
/// them get one within this time; with [`GRACE`], less than a second.
const SLICE: Duration = Duration::from_millis(500);

/// How soon a handler that waits returns once it was recalled. One that has not done so computes,
/// and its thread is not counted on.
const RETURN_TIME: Duration = Duration::from_millis(100);

/// Number of parts of a full queue; it is searched for calls that are over once for each part of
/// its length.
const SWEEP_PARTS: usize = 32;

/// Something to be done on a thread.
pub(crate) trait Job: Send + 'static {
    /// Which connection it came by.
    type Connection: Clone + PartialEq + Send;

    /// What is kept of it while it runs.
    type Ticket: Send + 'static;

    fn connection(&self) -> &Self::Connection;

    fn ticket(&self) -> Self::Ticket;

    /// Whether nobody waits for it any more.
    fn is_over(&self) -> bool;

    fn run(self);

    /// It was not taken.
    fn withdraw(self);

    /// It was taken, and makes room for that of another connection.
    fn refuse(self);

    /// How long it has waited altogether; `None` if it does not wait now.
    fn waited(ticket: &Self::Ticket, now: Instant) -> Option<Duration>;

    /// Asks a job that runs to come to its end.
    fn recall(ticket: &Self::Ticket);
}

/// There is no room for another call.
pub(crate) struct PoolFull;

/// Connections with a job that waits or runs. Everything takes one look at each of them at most.
pub(super) struct Clients<J: Job> {
    all: Vec<Client<J>>,
    queued: usize,
    last_number: u64,
    /// How often the queue was full since it was searched for what is over.
    full_since_sweep: usize,
}

struct Client<J: Job> {
    connection: J::Connection,
    queue: VecDeque<Queued<J>>,
    running: Vec<Running<J>>,
    /// How many of those that run were recalled.
    recalled: usize,
    /// When it last gave a thread back, as a number among those of jobs.
    gave_back: u64,
}

struct Queued<J> {
    /// In the order of arrival.
    number: u64,
    since: Instant,
    job: J,
}

struct Running<J: Job> {
    number: u64,
    ticket: J::Ticket,
    recalled_at: Option<Instant>,
}

/// What recalls depend on, besides the calls that wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecallRules {
    pub threads: usize,
    pub idle_threads: usize,
    /// What one connection may have of them.
    pub connection_threads: usize,
    /// How long a handler may have waited while any call waits for a thread.
    pub wait_max: Duration,
}

/// A handler that waits.
struct Waiting {
    client: usize,
    running: usize,
    waited: Duration,
}

impl<J: Job> Clients<J> {
    pub fn new() -> Self {
        Clients { all: Vec::new(), queued: 0, last_number: 0, full_since_sweep: 0 }
    }

    /// Jobs that wait for a thread.
    pub fn queued(&self) -> usize {
        self.queued
    }

    pub fn push(&mut self, job: J, now: Instant) {
        self.last_number += 1;
        let queued = Queued { number: self.last_number, since: now, job };
        self.queued += 1;
        if let Some(client) = self.find(queued.job.connection()) {
            return client.queue.push_back(queued);
        }
        self.all.push(Client {
            connection: queued.job.connection().clone(),
            queue: VecDeque::from([queued]),
            running: Vec::new(),
            recalled: 0,
            gave_back: 0,
        });
    }

    /// The next job and its number: of those connections that have fewest threads, and fewer than
    /// `connection_threads`, the one that has waited longest. A connection that has just had a
    /// thread begins to wait anew.
    pub fn take(&mut self, connection_threads: usize) -> Option<(J, u64)> {
        let next_of = |client: &Client<J>| {
            let has_share = client.running.len() < connection_threads;
            let first = client.queue.front().filter(|_| has_share)?;
            Some((client.running.len(), first.number.max(client.gave_back)))
        };
        let (_, client) = self
            .all
            .iter_mut()
            .filter_map(|client| Some((next_of(client)?, client)))
            .min_by_key(|(next, _)| *next)?;
        let Queued { number, job, .. } = client.queue.pop_front()?;
        client.running.push(Running { number, ticket: job.ticket(), recalled_at: None });
        self.queued -= 1;
        Some((job, number))
    }

    /// The job of that number runs no more.
    pub fn done(&mut self, number: u64) {
        for client in &mut self.all {
            let Some(at) = client.running.iter().position(|running| running.number == number)
            else {
                continue;
            };
            let done = client.running.swap_remove(at);
            client.recalled -= usize::from(done.recalled_at.is_some());
            self.last_number += 1;
            client.gave_back = self.last_number;
            break;
        }
        self.forget_idle();
    }

    /// Makes room for a job of that connection in a queue of limited length: by what is over, or by
    /// the newest job of the connection that has most. That one is returned.
    ///
    /// # Errors
    /// When no connection has more than this one would have.
    pub fn make_room(
        &mut self,
        connection: &J::Connection,
        queued_max: usize,
    ) -> Result<Option<J>, PoolFull> {
        if self.queued < queued_max {
            return Ok(None);
        }
        self.full_since_sweep += 1;
        if self.full_since_sweep > queued_max / SWEEP_PARTS {
            self.full_since_sweep = 0;
            self.forget_over();
            if self.queued < queued_max {
                return Ok(None);
            }
        }
        let own = self.find(connection).map_or(0, |client| client.jobs());
        let waiting = self.all.iter_mut().filter(|client| !client.queue.is_empty());
        // With one more only, both would refuse each other's for ever.
        let most = waiting.max_by_key(|client| client.jobs()).filter(|most| most.jobs() > own + 1);
        let newest = most.and_then(|client| client.queue.pop_back()).ok_or(PoolFull)?;
        self.queued -= 1;
        Ok(Some(newest.job))
    }

    /// Recalls handlers that wait, if others need their threads:
    ///
    /// - from connections above their share, for those that are below it and have waited;
    /// - if there are more connections than threads, from any that have waited long, for those that
    ///   have none;
    /// - those that have waited for too long, for any.
    pub fn recall(&mut self, rules: RecallRules, now: Instant) {
        self.forget_over();
        if self.queued == 0 {
            return;
        }
        let share = (rules.threads / self.all.len()).clamp(1, rules.connection_threads);
        let slice = self.slice(rules.threads).min(rules.wait_max);
        let returning = self.returning(now);
        let missing = self.all.iter().map(|client| client.missing(share, now)).sum::<usize>();
        let mut missing = missing.saturating_sub(returning + rules.idle_threads);
        let mut waiting = self.waiting(now);
        for _ in 0..self.queued.saturating_sub(returning) {
            let patience = |client: &Client<J>| match client.kept() > share {
                _ if missing == 0 => rules.wait_max,
                true => Duration::ZERO,
                false => slice,
            };
            let is_due = |its: &Waiting| its.waited >= patience(&self.all[its.client]);
            let due = waiting.iter().enumerate().filter(|(_, its)| is_due(its));
            let next = due.max_by_key(|(_, its)| {
                let kept = self.all[its.client].kept();
                (if kept > share { kept } else { 0 }, its.waited)
            });
            let Some((at, _)) = next else {
                return;
            };
            let its = waiting.swap_remove(at);
            self.all[its.client].recall(its.running, now);
            missing = missing.saturating_sub(1);
        }
    }

    /// How long a handler may have waited when its thread goes to a connection that has none.
    fn slice(&self, threads: usize) -> Duration {
        if self.all.len() <= threads {
            return Duration::MAX;
        }
        let without = self.all.iter().filter(|client| client.running.is_empty()).count();
        // Twice as fast as they need it: to end a handler and to begin the next takes time, too.
        SLICE * threads as u32 / (2 * without).max(threads) as u32
    }

    /// Threads that will be free in a moment.
    fn returning(&self, now: Instant) -> usize {
        let running = self.all.iter().flat_map(|client| &client.running);
        let recalled_at = running.filter_map(|running| running.recalled_at);
        recalled_at.filter(|at| now.saturating_duration_since(*at) < RETURN_TIME).count()
    }

    /// Handlers that wait and were not recalled.
    fn waiting(&self, now: Instant) -> Vec<Waiting> {
        let mut all = Vec::new();
        for (client, its) in self.all.iter().enumerate() {
            for (running, its) in its.running.iter().enumerate() {
                let waited = J::waited(&its.ticket, now).filter(|_| its.recalled_at.is_none());
                all.extend(waited.map(|waited| Waiting { client, running, waited }));
            }
        }
        all
    }

    fn find(&mut self, connection: &J::Connection) -> Option<&mut Client<J>> {
        self.all.iter_mut().find(|client| client.connection == *connection)
    }

    /// Drops jobs for which nobody waits.
    fn forget_over(&mut self) {
        for client in &mut self.all {
            client.queue.retain(|queued| !queued.job.is_over());
        }
        self.queued = self.all.iter().map(|client| client.queue.len()).sum();
        self.forget_idle();
    }

    fn forget_idle(&mut self) {
        self.all.retain(|client| client.jobs() > 0);
    }
}

impl<J: Job> Client<J> {
    fn jobs(&self) -> usize {
        self.queue.len() + self.running.len()
    }

    /// Jobs that run and were not recalled.
    fn kept(&self) -> usize {
        self.running.len() - self.recalled
    }

    fn recall(&mut self, running: usize, now: Instant) {
        let running = &mut self.running[running];
        running.recalled_at = Some(now);
        self.recalled += 1;
        J::recall(&running.ticket);
    }

    /// How many threads it lacks of its share, for jobs that have waited for one.
    fn missing(&self, share: usize, now: Instant) -> usize {
        let has_waited = |queued: &Queued<J>| now.saturating_duration_since(queued.since) >= GRACE;
        self.queue.partition_point(has_waited).min(share.saturating_sub(self.running.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    const TICK: Duration = Duration::from_millis(10);

    const RULES: RecallRules = RecallRules {
        threads: 64,
        idle_threads: 0,
        connection_threads: 48,
        wait_max: Duration::from_secs(10),
    };

    const QUEUED_MAX: usize = 1_024;

    /// The calls that a client may have open, of the server's default limits.
    const STREAMS: usize = 250;

    struct TestJob {
        connection: usize,
        handler: Arc<Handler>,
    }

    #[derive(Default)]
    struct Handler {
        /// When it began; `None` before.
        since: Option<Instant>,
        /// Of how many looks at it one finds that it waits; 0 for one that only computes.
        waits_every: u32,
        is_over: AtomicBool,
        is_recalled: AtomicBool,
    }

    impl Job for TestJob {
        type Connection = usize;
        type Ticket = Arc<Handler>;

        fn connection(&self) -> &usize {
            &self.connection
        }

        fn ticket(&self) -> Arc<Handler> {
            Arc::clone(&self.handler)
        }

        fn is_over(&self) -> bool {
            self.handler.is_over.load(Ordering::Relaxed)
        }

        fn run(self) {}

        fn withdraw(self) {}

        fn refuse(self) {}

        fn waited(ticket: &Arc<Handler>, now: Instant) -> Option<Duration> {
            let handled = now.saturating_duration_since(ticket.since?);
            let looks = (handled.as_nanos() / TICK.as_nanos()) as u32;
            let waits = looks.checked_rem(ticket.waits_every)? == 0;
            waits.then(|| handled / ticket.waits_every)
        }

        fn recall(ticket: &Arc<Handler>) {
            ticket.is_recalled.store(true, Ordering::Relaxed);
        }
    }

    /// A pool without threads, in virtual time.
    struct Crowd {
        clients: Clients<TestJob>,
        now: Instant,
        /// The number of each job that runs, and whose it is.
        running: Vec<(u64, usize, Arc<Handler>)>,
        /// Of all handlers.
        waits_every: u32,
    }

    impl Crowd {
        fn new(waits_every: u32) -> Self {
            let (clients, now) = (Clients::new(), Instant::now());
            Crowd { clients, now, running: Vec::new(), waits_every }
        }

        /// Whether the call was taken, and whose went for it.
        fn call(&mut self, connection: usize) -> Result<Option<usize>, PoolFull> {
            let refused = self.clients.make_room(&connection, QUEUED_MAX)?;
            self.clients.push(TestJob { connection, handler: Arc::default() }, self.now);
            Ok(refused.map(|job| job.connection))
        }

        /// Gives free threads away.
        fn begin(&mut self) {
            while self.running.len() < RULES.threads
                && let Some((job, number)) = self.clients.take(RULES.connection_threads)
            {
                let (since, waits_every) = (Some(self.now), self.waits_every);
                let handler = Arc::new(Handler { since, waits_every, ..Handler::default() });
                let client = self.clients.find(&job.connection).unwrap();
                client.running.last_mut().unwrap().ticket = Arc::clone(&handler);
                self.running.push((number, job.connection, handler));
            }
        }

        /// Ends the handlers that are to end, and returns their connections.
        fn end(&mut self, ends: impl Fn(usize, &Handler) -> bool) -> Vec<usize> {
            let (gone, stay) = std::mem::take(&mut self.running)
                .into_iter()
                .partition(|(_, connection, handler)| ends(*connection, handler));
            self.running = stay;
            let gone: Vec<_> = gone;
            gone.into_iter()
                .map(|(number, connection, _)| {
                    self.clients.done(number);
                    connection
                })
                .collect()
        }

        /// Ten milliseconds pass; returns whose handlers were recalled, and ended.
        fn tick(&mut self) -> Vec<usize> {
            self.now += TICK;
            self.clients.recall(RULES, self.now);
            let recalled = self.end(|_, handler| handler.is_recalled.load(Ordering::Relaxed));
            self.begin();
            recalled
        }

        fn threads_of(&self, connection: usize) -> usize {
            self.running.iter().filter(|(_, its, _)| *its == connection).count()
        }

        /// Ticks until some handler is recalled.
        fn until_recalled(&mut self) -> (Duration, Vec<usize>) {
            let start = self.now;
            loop {
                let recalled = self.tick();
                if !recalled.is_empty() {
                    return (self.now - start, recalled);
                }
                assert!(self.now - start < Duration::from_secs(60), "none for a minute");
            }
        }
    }

    /// Opens calls of `connections` connections by turns, as many as each may have, or are taken
    /// twice.
    fn attacked_by(connections: usize, waits_every: u32) -> Crowd {
        let mut crowd = Crowd::new(waits_every);
        for _ in 0..STREAMS.min(2 * (RULES.threads + QUEUED_MAX) / connections) {
            (1..=connections).for_each(|connection| drop(crowd.call(connection)));
            crowd.begin();
        }
        crowd
    }

    #[test]
    fn a_newcomer_has_a_thread_within_a_second_however_many_hold_all_of_them() {
        let pieces = [(2, 10), (6, 10), (60, 10)];
        let all = [2, 6, 60, 63, 64, 65, 100, 1_000].map(|connections| (connections, 1));
        for (connections, waits_every) in all.into_iter().chain(pieces) {
            let mut crowd = attacked_by(connections, waits_every);
            for round in 0..10 {
                let called_at = crowd.now;
                assert!(crowd.call(0).is_ok(), "{connections}, {round}");
                while crowd.threads_of(0) == 0 {
                    // Whoever is recalled calls again at once; so do some that were refused.
                    let recalled = crowd.tick();
                    recalled.into_iter().for_each(|connection| drop(crowd.call(connection)));
                    (1..=connections.min(50)).for_each(|connection| drop(crowd.call(connection)));
                    let waited = crowd.now - called_at;
                    assert!(waited < Duration::from_secs(1), "{connections}, {round}");
                }
                crowd.end(|connection, _| connection == 0);
                (0..round).for_each(|_| drop(crowd.tick()));
            }
        }
    }

    #[test]
    fn a_handler_that_computes_is_never_recalled() {
        let mut crowd = attacked_by(6, 0);
        assert!(crowd.call(0).is_ok());
        for _ in 0..10_000 {
            assert_eq!(crowd.tick(), []);
        }
        crowd.end(|connection, _| connection == 1);
        crowd.begin();
        assert_eq!(crowd.threads_of(0), 1, "but the next free thread is the newcomer's");
    }

    #[test]
    fn within_a_connection_and_among_those_at_their_share_handlers_wait_for_ten_seconds() {
        for connections in [1, 2, 64] {
            let mut crowd = attacked_by(connections, 1);
            for connection in 1..=connections {
                let share = (RULES.threads / connections).min(RULES.connection_threads);
                assert_eq!(crowd.threads_of(connection), share);
            }
            let (after, _) = crowd.until_recalled();
            assert_eq!(after, RULES.wait_max, "{connections}");
        }
    }

    #[test]
    fn a_share_is_taken_from_who_has_most_after_the_others_have_waited() {
        let mut crowd = Crowd::new(1);
        (0..60).for_each(|_| drop(crowd.call(1)));
        crowd.begin();
        (0..60).for_each(|_| drop(crowd.call(2)));
        crowd.begin();
        assert_eq!((crowd.threads_of(1), crowd.threads_of(2)), (48, 16));
        let (after, recalled) = crowd.until_recalled();
        assert_eq!((after, recalled), (GRACE, vec![1; 16]));
        assert_eq!((crowd.threads_of(1), crowd.threads_of(2)), (32, 32));
        assert_eq!(crowd.until_recalled().0, RULES.wait_max - GRACE, "which is the share of each");
    }

    #[test]
    fn who_is_recalled_and_does_not_return_is_not_waited_for() {
        let mut crowd = Crowd::new(1);
        (0..64).for_each(|call| drop(crowd.call(1 + call / 48)));
        crowd.begin();
        assert!(crowd.call(0).is_ok());
        let recalled = |crowd: &Crowd| {
            let is_recalled = |handler: &Handler| handler.is_recalled.load(Ordering::Relaxed);
            crowd.running.iter().filter(|(.., handler)| is_recalled(handler)).count()
        };
        let mut counts = Vec::new();
        for _ in 0..35 {
            crowd.now += TICK;
            crowd.clients.recall(RULES, crowd.now);
            counts.push(recalled(&crowd));
        }
        assert_eq!(counts[1..], [&[0][..], &[1; 10], &[2; 10], &[3; 10], &[4; 3]].concat());
    }

    #[test]
    fn a_full_queue_refuses_the_newest_of_who_has_most() {
        let mut crowd = attacked_by(6, 1);
        assert!(crowd.call(1).is_err(), "all have as many");
        let mut refused = [0; 7];
        // Until the newcomer has as many as the others, running ones included.
        while let Ok(Some(connection)) = crowd.call(0) {
            refused[connection] += 1;
        }
        let jobs = |connection: usize| crowd.clients.all[connection].jobs();
        let most = (0..7).map(jobs).max();
        assert!((0..7).all(|connection| most <= Some(jobs(connection) + 1)), "{refused:?}");
        assert_eq!(crowd.clients.queued(), QUEUED_MAX);
    }

    #[test]
    fn what_is_over_makes_room() {
        let mut crowd = attacked_by(6, 1);
        for client in &crowd.clients.all {
            client.queue[0].job.handler.is_over.store(true, Ordering::Relaxed);
        }
        // The queue is not searched for it each time.
        let calls = (0..=QUEUED_MAX / SWEEP_PARTS).take_while(|_| crowd.call(1).is_err()).count();
        assert!(calls <= QUEUED_MAX / SWEEP_PARTS);
        assert_eq!(crowd.clients.queued(), QUEUED_MAX - 5);
    }

    #[test]
    fn a_thread_goes_to_who_has_fewest_and_then_to_who_came_first() {
        let mut clients = Clients::new();
        let now = Instant::now();
        for connection in [1, 1, 1, 3, 2, 2] {
            clients.push(TestJob { connection, handler: Arc::default() }, now);
        }
        let mut next = || clients.take(2).map(|(job, number)| (job.connection, number));
        let expected = [(1, 1), (3, 4), (2, 5), (1, 2), (2, 6)];
        assert_eq!(expected.map(Some), [0; 5].map(|_| next()));
        assert_eq!(next(), None, "the third of the first waits for its share");
        clients.done(1);
        assert_eq!(clients.take(2).map(|(_, number)| number), Some(3));
    }
}
