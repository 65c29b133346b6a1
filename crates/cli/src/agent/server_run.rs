//! The server of a run, from its own node: what it and the node used.

use super::run_link::{Order, RunLink, raw};
use crate::fleet::task::{AgentResult, ServerTask};
use crate::lab;
use crate::terminal::Failure;
use bookend_contract::fleet::ServerReport;
use bookend_fleet::message::FromAgent;
use bookend_lab::node::{NodeCounters, interface_of};
use bookend_lab::process::become_subreaper;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::race::{RaceHost, RacePort, RaceServer, RaceServerSpec, RaceStart};
use bookend_load::run::clock_ns;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// How often it is looked whether something is due.
const LOOK: Duration = Duration::from_millis(5);

/// What messages call the server.
const NAME: &str = "the server";

/// Starts the server or finds it, counts what it uses in the window, and reports.
///
/// # Errors
/// [`Failure`] when there is no server.
pub fn make(task: &ServerTask, link: &RunLink) -> Result<(), Failure> {
    become_subreaper().map_err(Failure::nothing_measured)?;
    let host = RaceHost::new(lab::spawner(Interrupt::default())?, lab::cpus(), None);
    let mut server = RaceServer::start(&host, &spec(task)).map_err(Failure::nothing_measured)?;
    link.say(FromAgent::Prepared { facts: raw(&())? });
    let Some(start_ns) = await_start(link, &server)? else {
        await_release(link);
        return Ok(());
    };
    let begin_ns = start_ns.saturating_add(task.warmup_ns);
    let end_ns = task.window_ns.map_or(u64::MAX, |length_ns| begin_ns.saturating_add(length_ns));
    await_time(begin_ns, link, &server)?;
    let before = Reading::take(&mut server);
    await_time(end_ns, link, &server)?;
    let after = Reading::take(&mut server);
    // An agent on the coordinator's own loopback is where the coordinator is.
    let caller = if task.caller.is_loopback() { link.coordinator } else { task.caller };
    let report = before.until(&after, &server, caller);
    link.say(FromAgent::Reported { result: raw(&AgentResult::Server(Box::new(report)))? });
    await_release(link);
    Ok(())
}

fn spec(task: &ServerTask) -> RaceServerSpec {
    let start = match &task.command {
        Some(command) => RaceStart::Command {
            command: command.clone(),
            port: RacePort::Own(task.port),
            folder: PathBuf::from("."),
        },
        None => RaceStart::Running(SocketAddr::from((Ipv4Addr::LOCALHOST, task.port))),
    };
    RaceServerSpec { name: NAME.to_owned(), start }
}

/// When the run begins; `None`: it does not.
fn await_start(link: &RunLink, server: &RaceServer) -> Result<Option<u64>, Failure> {
    loop {
        match link.orders.recv_timeout(LOOK) {
            Ok(Order::Start(start_ns)) => return Ok(Some(start_ns)),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
        if link.is_stopped() {
            return Ok(None);
        }
        server.check().map_err(Failure::nothing_measured)?;
    }
}

/// Waits until then, or until the run is over.
fn await_time(until_ns: u64, link: &RunLink, server: &RaceServer) -> Result<(), Failure> {
    loop {
        let left_ns = until_ns.saturating_sub(clock_ns());
        if left_ns == 0 || link.is_stopped() {
            return Ok(());
        }
        std::thread::sleep(LOOK.min(Duration::from_nanos(left_ns)));
        server.check().map_err(Failure::nothing_measured)?;
    }
}

/// Waits until nobody needs the server any more: calls in flight may end after the window.
fn await_release(link: &RunLink) {
    while !matches!(link.orders.recv(), Ok(Order::Release) | Err(_)) {}
}

/// What was used until a moment.
struct Reading {
    cpu_ns: u64,
    node: NodeCounters,
}

impl Reading {
    fn take(server: &mut RaceServer) -> Reading {
        Reading { cpu_ns: server.cpu_ns(), node: NodeCounters::read() }
    }

    fn until(&self, after: &Reading, server: &RaceServer, caller: IpAddr) -> ServerReport {
        let node = after.node.since(&self.node);
        ServerReport {
            name: String::new(),
            cpu_seconds: after.cpu_ns.saturating_sub(self.cpu_ns) as f64 / 1e9,
            in_control_group: server.is_in_control_group(),
            memory_bytes: server.memory_bytes(),
            requests_per_cpu_second: 0.0,
            interface: interface_of(caller),
            node,
        }
    }
}
