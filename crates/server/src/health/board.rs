//! What is known of the services, and who watches them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::v1::HealthCheckResponse;
use super::v1::health_check_response::ServingStatus as WireStatus;
use crate::stream_waker::StreamWaker;

/// What a health service says about a server or a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServingStatus {
    /// Not known yet.
    Unknown,
    /// It takes calls.
    Serving,
    /// It takes no calls now.
    NotServing,
}

/// The table of watchers has room for at most this multiple of their number.
const SPARE_WATCHERS: usize = 4;

/// A board that several threads share.
#[derive(Clone, Default)]
pub(super) struct SharedBoard(Arc<Mutex<Board>>);

pub(super) struct Board {
    pub statuses: BTreeMap<String, ServingStatus>,
    watchers: HashMap<u64, Watcher>,
    next_watcher: u64,
    pub is_shut_down: bool,
}

/// A call of `Watch`.
struct Watcher {
    service: String,
    waker: StreamWaker,
}

/// Memory that a watcher of that service takes, bytes. The table is at least half full.
pub(super) fn watcher_bytes(service: &String) -> usize {
    service.capacity() + 2 * size_of::<(u64, Watcher)>()
}

impl SharedBoard {
    /// The state is whole whenever the lock is free: nothing under it panics halfway.
    pub fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Board {
    fn default() -> Self {
        Board {
            statuses: BTreeMap::from([(String::new(), ServingStatus::Serving)]),
            watchers: HashMap::new(),
            next_watcher: 0,
            is_shut_down: false,
        }
    }
}

impl Board {
    /// Wakes those who watch this service.
    pub fn wake_watchers_of(&self, service: &str) {
        for watcher in self.watchers.values().filter(|watcher| watcher.service == service) {
            watcher.waker.wake();
        }
    }

    pub fn wake_all_watchers(&self) {
        for watcher in self.watchers.values() {
            watcher.waker.wake();
        }
    }

    /// Adds a watcher; its number.
    pub fn watch(&mut self, service: String, waker: StreamWaker) -> u64 {
        let number = self.next_watcher;
        self.next_watcher += 1;
        self.watchers.insert(number, Watcher { service, waker });
        number
    }

    pub fn forget_watcher(&mut self, number: u64) {
        self.watchers.remove(&number);
        if self.watchers.len() < self.watchers.capacity() / SPARE_WATCHERS {
            self.watchers.shrink_to(SPARE_WATCHERS / 2 * self.watchers.len());
        }
    }

    /// What that watcher is to know.
    pub fn status_for(&self, watcher: u64) -> Option<WireStatus> {
        let status = self.statuses.get(&self.watchers.get(&watcher)?.service);
        Some(status.map_or(WireStatus::ServiceUnknown, |status| status.on_the_wire()))
    }
}

impl ServingStatus {
    pub(super) fn on_the_wire(self) -> WireStatus {
        match self {
            ServingStatus::Unknown => WireStatus::Unknown,
            ServingStatus::Serving => WireStatus::Serving,
            ServingStatus::NotServing => WireStatus::NotServing,
        }
    }
}

pub(super) fn response(status: WireStatus) -> HealthCheckResponse {
    HealthCheckResponse { status: status.into() }
}
