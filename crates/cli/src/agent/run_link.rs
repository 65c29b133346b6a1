//! What the thread of an agent's runs hears and says.

use crate::terminal::Failure;
use bookend_fleet::message::FromAgent;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use tokio::sync::mpsc::UnboundedSender;

/// What the thread is to do.
pub enum Order {
    /// Make ready for this.
    Prepare(Box<RawValue>),
    /// Begin at that time, nanoseconds of the drivers' clock.
    Start(u64),
    /// Do this, in the run's own terms.
    Command(Box<RawValue>),
    /// What it has started may end.
    Release,
}

/// What the thread of a run says.
pub enum Told {
    /// To the coordinator.
    Say(FromAgent),
    /// What was done in a second of the window.
    Second(Box<RawValue>),
}

/// How a run hears what is to be done, and tells what was done.
pub struct RunLink {
    /// What is to be done. Hung up where there is nothing more.
    pub orders: Receiver<Order>,
    /// Raised where what runs is to end.
    pub stop: Arc<AtomicBool>,
    /// To the coordinator.
    pub tell: UnboundedSender<Told>,
    /// Where the coordinator is.
    pub coordinator: IpAddr,
}

impl RunLink {
    /// Whether what runs is to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says something to the coordinator.
    pub fn say(&self, message: FromAgent) {
        // Where nobody hears it, the thread is about to end.
        let _ = self.tell.send(Told::Say(message));
    }
}

/// Something as the protocol carries it.
///
/// # Errors
/// [`Failure`]: it has no form in JSON, which would be a defect.
pub fn raw(content: &impl Serialize) -> Result<Box<RawValue>, Failure> {
    to_raw_value(content).map_err(Failure::nothing_measured)
}
