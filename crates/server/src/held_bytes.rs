//! How much all connections hold, and when what they held before is given back to the kernel.
//!
//! An attack that made a server hold much is over at some time. What it held is free then, but the
//! allocator keeps it (see [`return_free_memory`]). So it is returned once it was not needed for
//! some seconds; a load that needs it again and again is left alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use bookend_io::return_free_memory;

/// Less is not worth returning.
const UNUSED_MIN_BYTES: usize = 16 << 20;

/// Memory that nobody needed for this time is returned.
const UNUSED_TIME: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct HeldBytes {
    now: AtomicUsize,
    /// The most since memory was last returned.
    peak: AtomicUsize,
    /// The most since somebody last looked.
    recent_peak: AtomicUsize,
    /// Whether a thread looks.
    is_watched: AtomicBool,
}

impl HeldBytes {
    pub fn now(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    pub fn add(&self, bytes: usize) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
        self.recent_peak.fetch_max(now, Ordering::Relaxed);
    }

    pub fn subtract(self: &Arc<Self>, bytes: usize) {
        self.now.fetch_sub(bytes, Ordering::Relaxed);
        if self.may_be_unused() && !self.is_watched.swap(true, Ordering::Relaxed) {
            let held = Arc::clone(self);
            let watch =
                thread::Builder::new().name("memory".to_owned()).spawn(move || held.watch());
            if watch.is_err() {
                // There is no thread to be had now. The next thread that returns memory tries
                // again.
                self.is_watched.store(false, Ordering::Relaxed);
            }
        }
    }

    fn watch(&self) {
        loop {
            self.begin_look();
            thread::sleep(UNUSED_TIME);
            if self.take_unused() {
                return_free_memory();
            }
            if !self.may_be_unused() {
                self.is_watched.store(false, Ordering::Relaxed);
                // What was given back in between found that somebody looks.
                if !self.may_be_unused() || self.is_watched.swap(true, Ordering::Relaxed) {
                    return;
                }
            }
        }
    }

    fn may_be_unused(&self) -> bool {
        self.peak.load(Ordering::Relaxed).saturating_sub(self.now()) >= UNUSED_MIN_BYTES
    }

    fn begin_look(&self) {
        self.recent_peak.store(self.now(), Ordering::Relaxed);
    }

    /// Whether much of what was once held was not needed since the look began. It counts no more.
    fn take_unused(&self) -> bool {
        let recent = self.recent_peak.load(Ordering::Relaxed);
        let is_unused =
            self.peak.load(Ordering::Relaxed).saturating_sub(recent) >= UNUSED_MIN_BYTES;
        if is_unused {
            self.peak.store(recent, Ordering::Relaxed);
        }
        is_unused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    /// Held, without a thread that looks.
    fn held(bytes: usize) -> Arc<HeldBytes> {
        let held = HeldBytes { is_watched: AtomicBool::new(true), ..HeldBytes::default() };
        held.add(bytes);
        Arc::new(held)
    }

    #[test]
    fn what_is_not_needed_any_more_is_returned_once() {
        let held = held(100 * MIB);
        held.subtract(90 * MIB);
        assert!(held.may_be_unused());
        held.begin_look();
        assert!(held.take_unused());
        assert!(!held.take_unused() && !held.may_be_unused());
        assert_eq!(held.now(), 10 * MIB);
    }

    #[test]
    fn what_is_needed_again_and_again_stays() {
        let held = held(100 * MIB);
        held.subtract(90 * MIB);
        held.begin_look();
        held.add(80 * MIB);
        held.subtract(80 * MIB);
        assert!(!held.take_unused(), "ten megabytes less are not worth it");
        assert!(held.may_be_unused(), "somebody goes on looking");
    }

    #[test]
    fn a_little_is_left_alone() {
        let held = held(15 * MIB);
        held.subtract(15 * MIB);
        assert!(!held.may_be_unused());
    }
}
