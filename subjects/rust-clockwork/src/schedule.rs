//! The calls that wait, by the moment that they wait for, where no timer wakes anybody: only the
//! first is looked at.

use crate::clock;
use std::{
    cell::RefCell,
    collections::BTreeMap,
    future::poll_fn,
    task::{Poll, Waker},
};
use tokio::task::yield_now;

/// By when they are due, nanoseconds, and by their turn.
#[derive(Default)]
pub struct Schedule {
    waiting: RefCell<BTreeMap<(u64, u64), Waker>>,
    turns: RefCell<u64>,
}

impl Schedule {
    /// Returns at `due_ns`, as soon as [`Schedule::run`] has looked.
    pub async fn wait_until(&self, due_ns: u64) {
        poll_fn(|context| {
            if clock::now_ns() >= due_ns {
                return Poll::Ready(());
            }
            let mut turns = self.turns.borrow_mut();
            *turns += 1;
            self.waiting.borrow_mut().insert((due_ns, *turns), context.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Wakes whoever is due, and looks at the sockets in between, without end.
    pub async fn run(&self) {
        loop {
            while let Some(waker) = self.next_due() {
                waker.wake();
            }
            yield_now().await;
        }
    }

    fn next_due(&self) -> Option<Waker> {
        let mut waiting = self.waiting.borrow_mut();
        let first = waiting.first_entry()?;
        (first.key().0 <= clock::now_ns()).then(|| first.remove())
    }
}
