//! Giving up after a while.

use crate::kernel::Grows;
use crate::shard::Session;
use rustix::io::Errno;
use std::collections::VecDeque;

/// Times at which something is given up. All of one kind wait equally long, so they stand in order.
#[derive(Default)]
pub(crate) struct Timeouts(VecDeque<(u64, u64)>);

impl Timeouts {
    /// Fails where there is no memory: who is to be given up must not be left waiting for ever.
    pub fn push(&mut self, at_ns: u64, session: Session) -> Result<(), Errno> {
        self.0.try_grow(1)?;
        self.0.push_back((at_ns, session.key()));
        Ok(())
    }

    /// The first that still matters; those before it are forgotten.
    pub fn next(&mut self, mut matters: impl FnMut(u64) -> bool) -> Option<u64> {
        while let Some(&(at_ns, key)) = self.0.front() {
            if matters(key) {
                return Some(at_ns);
            }
            self.0.pop_front();
        }
        None
    }

    pub fn pop_due(&mut self, now_ns: u64) -> Option<u64> {
        let &(at_ns, key) = self.0.front()?;
        (at_ns <= now_ns).then(|| {
            self.0.pop_front();
            key
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(index: u32) -> Session {
        Session {
            index,
            generation: 7,
        }
    }

    #[test]
    fn what_no_longer_matters_wakes_nobody() {
        let mut timeouts = Timeouts::default();
        timeouts.push(10, session(1)).unwrap();
        timeouts.push(20, session(2)).unwrap();
        assert_eq!(timeouts.next(|key| key == session(2).key()), Some(20));
        assert_eq!(timeouts.pop_due(19), None);
        assert_eq!(timeouts.pop_due(20), Some(session(2).key()));
        assert_eq!(timeouts.next(|_| true), None);
    }
}
