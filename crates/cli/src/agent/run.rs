//! The thread of an agent in which its runs are made, so that no message waits for one.

use super::kept::KeptShare;
use super::lap_run;
use super::load_run;
use super::run_link::{Order, RunLink, Told};
use super::server_run;
use crate::fleet::task::Task;
use crate::terminal::{Failure, print_error};
use bookend_fleet::message::FromAgent;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use tokio::sync::mpsc::UnboundedSender;

/// The thread.
pub struct RunThread {
    orders: Option<Sender<Order>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<KeptShare>>>,
}

impl RunThread {
    /// Starts it.
    ///
    /// # Errors
    /// [`Failure`] when the machine has no thread left.
    pub fn start(tell: UnboundedSender<Told>, coordinator: IpAddr) -> Result<RunThread, Failure> {
        let (orders, ordered) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let link = RunLink { orders: ordered, stop: Arc::clone(&stop), tell, coordinator };
        let thread = thread::Builder::new().name("agent-run".to_owned()).spawn(move || make(&link));
        let thread = thread.map_err(Failure::nothing_measured)?;
        Ok(RunThread { orders: Some(orders), stop, thread: Some(thread) })
    }

    /// Has something done.
    pub fn order(&self, order: Order) {
        let Some(orders) = &self.orders else {
            return;
        };
        if matches!(order, Order::Prepare(_)) {
            let _ = orders.send(Order::Release);
            self.stop.store(false, Ordering::Relaxed);
        }
        let _ = orders.send(order);
    }

    /// Ends what runs.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends what runs, and the thread. Returns the file in which what was measured last is kept, if
    /// it is to be kept in a folder and there was something.
    pub fn end(mut self, keep: Option<&Path>) -> Option<PathBuf> {
        self.stop();
        self.orders = None;
        let kept = self.thread.take()?.join().ok()??;
        kept.write(keep?)
    }
}

impl Drop for RunThread {
    fn drop(&mut self) {
        self.stop();
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes runs until there are no more orders. Returns what the last one has measured.
fn make(link: &RunLink) -> Option<KeptShare> {
    let mut last = None;
    while let Ok(order) = link.orders.recv() {
        let Order::Prepare(task) = order else {
            // Of a run that has failed.
            continue;
        };
        let made = match serde_json::from_str(task.get()) {
            Ok(Task::Load(task)) if task.in_laps => lap_run::make(&task, link).map(|()| None),
            Ok(Task::Load(task)) => load_run::make(&task, link).map(Some),
            Ok(Task::Server(task)) => server_run::make(&task, link).map(|()| None),
            Err(error) => Err(Failure::usage(format!("a task that makes no sense: {error}"))),
        };
        match made {
            Ok(kept) => last = kept.or(last),
            Err(failure) => {
                // What was ended from outside has not failed.
                if !link.is_stopped() {
                    print_error(&format!("bookend agent: {}", failure.line()));
                }
                let (reason, status) = (failure.line().to_owned(), failure.status());
                link.say(FromAgent::Failed { reason, status });
            }
        }
    }
    last
}
