//! The memory of a whole server: what its connections hold for requests and replies.
//!
//! Each connection has limits of its own, and a thousand of them could hold a thousand times as
//! much. So what they hold is added up, in steps, and there is one limit for all. When three
//! quarters of it are taken, connections that hold more than their share get no further streams
//! (REFUSED_STREAM, which is safe to try again), and halves of messages have less time. When all of
//! it is taken, connections are reset: see `shard::holding`.

use std::cmp::Ordering;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bookend_io::Waker;

use crate::held_bytes::HeldBytes;

/// Changes smaller than this are not counted at once, so that small calls touch nothing that
/// threads share: what a hundred calls put out in one turn. The checks of timeouts count exactly.
pub(crate) const STEP_BYTES: usize = 16 << 10;

/// What a connection without a call takes.
pub(crate) const CONNECTION_BYTES: usize = 4 << 10;

/// Once something has to go, the limit divided by this goes, so that it does not happen again at
/// once.
const RELIEF_PART: usize = 16;

/// What all connections of a server hold.
pub(crate) struct MemoryBudget {
    limit_bytes: usize,
    held: Arc<HeldBytes>,
    connections: AtomicUsize,
    /// Of the shards.
    wakers: Mutex<Vec<(u64, Waker)>>,
}

impl MemoryBudget {
    /// `None` for no limit.
    pub fn new(limit_bytes: Option<usize>) -> Self {
        MemoryBudget {
            limit_bytes: limit_bytes.unwrap_or(usize::MAX),
            held: Arc::default(),
            connections: AtomicUsize::new(0),
            wakers: Mutex::default(),
        }
    }

    /// A shard of that number looks after its connections when it is woken.
    pub fn join(&self, number: u64, waker: Waker) {
        self.wakers().push((number, waker));
    }

    /// That shard has come to its end.
    pub fn leave(&self, number: u64) {
        self.wakers().retain(|(other, _)| *other != number);
    }

    /// Has the other shards look who holds too much.
    pub fn wake_others(&self, number: u64) {
        for (_, waker) in self.wakers().iter().filter(|(other, _)| *other != number) {
            waker.wake();
        }
    }

    /// Whether there are other shards that could look.
    pub fn has_other_shards(&self) -> bool {
        self.wakers().len() > 1
    }

    fn wakers(&self) -> MutexGuard<'_, Vec<(u64, Waker)>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection is there, whose account this is.
    pub fn open(&self) -> Account {
        self.connections.fetch_add(1, Relaxed);
        self.held.add(CONNECTION_BYTES);
        Account { charged_bytes: CONNECTION_BYTES, base_bytes: CONNECTION_BYTES }
    }

    /// A connection is gone, and what it held.
    pub fn close(&self, account: &mut Account) {
        self.connections.fetch_sub(1, Relaxed);
        self.held.subtract(account.charged_bytes);
        account.charged_bytes = 0;
    }

    /// A connection holds `bytes` now, and its tables `table_bytes`.
    #[cold]
    pub fn charge(&self, account: &mut Account, bytes: usize, table_bytes: usize) {
        account.base_bytes = CONNECTION_BYTES + table_bytes;
        let bytes = account.base_bytes + bytes;
        match bytes.cmp(&account.charged_bytes) {
            Ordering::Greater => self.held.add(bytes - account.charged_bytes),
            Ordering::Less => self.held.subtract(account.charged_bytes - bytes),
            Ordering::Equal => {}
        }
        account.charged_bytes = bytes;
    }

    /// `bytes` more bytes are held outside of connections' accounts.
    pub fn add(&self, bytes: usize) {
        self.held.add(bytes);
    }

    /// `bytes` of those are held no longer.
    pub fn subtract(&self, bytes: usize) {
        self.held.subtract(bytes);
    }

    /// What is held now.
    pub fn held_bytes(&self) -> usize {
        self.held.now()
    }

    /// Whether more is held than there may be.
    pub fn is_exceeded(&self) -> bool {
        self.held.now() > self.limit_bytes
    }

    /// Whether the limit is exceeded so far that there is no time to wait for other threads.
    pub fn is_far_exceeded(&self) -> bool {
        self.held.now() > self.limit_bytes.saturating_add(self.limit_bytes / RELIEF_PART)
    }

    /// Whether there is not enough room yet for what comes next, now that something had to go.
    pub fn needs_relief(&self) -> bool {
        self.held.now() > self.limit_bytes - self.limit_bytes / RELIEF_PART
    }

    /// Whether not much is left.
    pub fn is_tight(&self) -> bool {
        self.held.now() / 3 > self.limit_bytes / 4
    }

    /// Whether that connection holds more than its share while not much is left.
    pub fn is_tight_for(&self, account: &Account) -> bool {
        self.is_tight() && self.is_above_share(account)
    }

    /// Whether that connection holds more than it would if all held the same.
    pub fn is_above_share(&self, account: &Account) -> bool {
        account.charged_bytes > self.share_bytes()
    }

    /// Whether that connection holds half of what it would if all held the same.
    pub fn has_half_share(&self, account: &Account) -> bool {
        account.charged_bytes > self.share_bytes() / 2
    }

    fn share_bytes(&self) -> usize {
        self.limit_bytes / self.connections.load(Relaxed).max(1)
    }
}

/// What one connection is charged with.
#[derive(Debug)]
pub(crate) struct Account {
    pub charged_bytes: usize,
    /// What it holds whatever its calls do: itself, and its tables as they were last counted.
    base_bytes: usize,
}

impl Account {
    /// Whether a connection that holds `bytes` is charged with something else.
    #[inline]
    pub fn is_off(&self, bytes: usize) -> bool {
        (self.base_bytes + bytes).abs_diff(self.charged_bytes) >= STEP_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn what_is_charged_is_given_back() {
        let budget = MemoryBudget::new(Some(100 * MIB));
        let mut accounts: Vec<_> = (0..10).map(|_| budget.open()).collect();
        for (account, mib) in accounts.iter_mut().zip(1..) {
            budget.charge(account, mib * MIB, 0);
            budget.charge(account, mib * 2 * MIB, 0);
        }
        assert_eq!(budget.held.now(), 10 * CONNECTION_BYTES + 110 * MIB);
        assert!(budget.is_exceeded());
        accounts.iter_mut().for_each(|account| budget.close(account));
        assert_eq!(budget.held.now(), 0);
    }

    #[test]
    fn small_changes_are_not_counted() {
        let budget = MemoryBudget::new(None);
        let mut account = budget.open();
        assert!(!account.is_off(0) && !account.is_off(STEP_BYTES - 1));
        assert!(account.is_off(STEP_BYTES));
        budget.charge(&mut account, STEP_BYTES, 0);
        assert!(!account.is_off(1) && account.is_off(0));
    }

    #[test]
    fn only_who_is_above_the_share_is_affected() {
        let budget = MemoryBudget::new(Some(16 * MIB));
        let (mut much, mut little) = (budget.open(), budget.open());
        budget.charge(&mut much, 10 * MIB, 0);
        budget.charge(&mut little, MIB, 0);
        assert!(!budget.is_tight_for(&much), "a quarter is left");
        budget.charge(&mut much, 12 * MIB, 0);
        assert!(budget.is_tight_for(&much) && !budget.is_tight_for(&little));
        assert!(!budget.is_exceeded());
        budget.charge(&mut much, 16 * MIB, 0);
        assert!(budget.is_exceeded());
        assert!(budget.is_above_share(&much) && !budget.is_above_share(&little));
    }

    #[test]
    fn without_a_limit_nothing_is_tight() {
        let budget = MemoryBudget::new(None);
        let mut account = budget.open();
        budget.charge(&mut account, usize::MAX / 4, 0);
        assert!(!budget.is_exceeded() && !budget.is_tight_for(&account));
    }
}
