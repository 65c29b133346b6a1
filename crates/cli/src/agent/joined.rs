//! An agent that takes part: it hears what is to be done, has it done, and tells what was done.

use super::run::RunThread;
use super::run_link::{Order, Told};
use crate::fleet::link::{Receiving, Sending};
use crate::terminal::{Failure, print_error};
use bookend_fleet::message::{FromAgent, ToAgent};
use bookend_fleet::{AgentEvent, AgentRun};
use bookend_load::run::clock_ns;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep, timeout};

/// How often it is looked whether the user wants the agent to end.
const LOOK: Duration = Duration::from_millis(50);

/// How long a message may take to be taken by the kernel. The coordinator has given the agent up
/// before.
const SEND_TIMEOUT: Duration = Duration::from_secs(4);

/// What an agent that took part is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// There is nothing more to do.
    Over,
    /// The user has ended it.
    Interrupted,
}

/// Takes part until the coordinator says that it is over. `keep`: where what was measured is kept
/// if the coordinator is gone; `None`: it is one of several processes of a command, which ends them
/// as it likes.
///
/// # Errors
/// [`Failure`]: the coordinator is gone, and where what was measured is kept.
pub async fn serve(
    mut receiving: Receiving,
    mut sending: Sending,
    coordinator: IpAddr,
    keep: Option<&Path>,
    interrupt: &AtomicBool,
) -> Result<Ending, Failure> {
    let (tell, mut told) = unbounded_channel();
    let thread = RunThread::start(tell, coordinator)?;
    let mut run = AgentRun::new(clock_ns());
    loop {
        let heard = hear(&mut receiving, &mut told, &run).await;
        match heard {
            Heard::Message(Ok(Some(message))) => run.receive(message, clock_ns()),
            Heard::Message(Ok(None)) => run.disconnected("the coordinator has hung up".to_owned()),
            Heard::Message(Err(error)) => run.disconnected(error.to_string()),
            Heard::Told(Told::Say(message)) => run.say(message),
            Heard::Told(Told::Second(content)) => run.second(content),
            Heard::Nothing => {}
        }
        run.tick(clock_ns());
        for event in run.take_events() {
            match event {
                AgentEvent::Send(message) => {
                    let sent = timeout(SEND_TIMEOUT, sending.send(&message)).await;
                    if !matches!(sent, Ok(Ok(()))) {
                        run.disconnected("the coordinator takes no messages any more".to_owned());
                    }
                }
                AgentEvent::Prepare(task) => thread.order(Order::Prepare(task)),
                AgentEvent::Start(start_ns) => thread.order(Order::Start(start_ns)),
                AgentEvent::Command(command) => thread.order(Order::Command(command)),
                AgentEvent::Stop => thread.stop(),
                AgentEvent::End => {
                    sending.close().await;
                    thread.end(None);
                    return Ok(Ending::Over);
                }
                AgentEvent::Abandoned(reason) => return abandoned(thread, keep, &reason),
            }
        }
        if interrupt.load(Ordering::Relaxed) {
            let reason = "its user has ended it".to_owned();
            let _ = sending.send(&FromAgent::Failed { reason, status: 130 }).await;
            sending.close().await;
            if let Some(file) = thread.end(keep) {
                let file = file.display();
                print_error(&format!("bookend agent: what it has measured is in {file}"));
            }
            return Ok(Ending::Interrupted);
        }
    }
}

enum Heard {
    Message(io::Result<Option<ToAgent>>),
    Told(Told),
    Nothing,
}

/// What comes next, from the coordinator or from the run.
async fn hear(
    receiving: &mut Receiving,
    told: &mut UnboundedReceiver<Told>,
    run: &AgentRun,
) -> Heard {
    let until_tick = Duration::from_nanos(run.next_tick_ns().saturating_sub(clock_ns()));
    tokio::select! {
        message = receiving.next() => Heard::Message(message),
        Some(told) = told.recv() => Heard::Told(told),
        () = sleep(until_tick.min(LOOK)) => Heard::Nothing,
    }
}

/// The coordinator is gone: the load ends, and what was measured is kept where it is of use.
fn abandoned(thread: RunThread, keep: Option<&Path>, reason: &str) -> Result<Ending, Failure> {
    let kept = thread.end(keep);
    if keep.is_none() {
        return Ok(Ending::Over);
    }
    let kept = match kept {
        Some(file) => format!("what this agent has measured is in {}", file.display()),
        None => "this agent had measured nothing".to_owned(),
    };
    Err(Failure::nothing_measured(format!("{reason}; {kept}")))
}
