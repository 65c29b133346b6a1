//! Commands whose processes await agents by turns, at one address: a race or a suite is such a
//! command, and each process that makes its calls gathers the agents for itself.

use super::flags::{Agents, FleetFlags};
use super::listener::{AgentListener, Arrival, reserve};
use super::local::LocalAgents;
use super::token::{FleetToken, VARIABLE, nonce};
use crate::terminal::{Failure, print_error};
use bookend_fleet::message::Greeting;
use bookend_lab::context::FleetSettings;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::timeout;

/// The variable that tells such a process where to await agents.
pub const LISTEN: &str = "BOOKEND_FLEET_LISTEN";

/// And the one that tells it how many make calls.
pub const AGENTS: &str = "BOOKEND_FLEET_AGENTS";

/// And those that name the certificate and the key of the link.
const CERTIFICATE: &str = "BOOKEND_FLEET_CERT";
const KEY: &str = "BOOKEND_FLEET_KEY";

/// How often it is looked whether the user wants to end.
const LOOK: Duration = Duration::from_millis(20);

/// How long agents may take to hear that the command is over.
const DISMISS_TIMEOUT: Duration = Duration::from_secs(2);

/// The agents of such a command. They hear that it is over where this is dropped.
pub struct SharedFleet {
    flags: FleetFlags,
    token: Option<FleetToken>,
    /// Of each agent.
    ids: BTreeSet<String>,
    runtime: Runtime,
    /// Keeps the address where nobody awaits agents for a while.
    _reserved: TcpSocket,
    address: SocketAddr,
    _local: LocalAgents,
}

impl SharedFleet {
    /// Waits until as many agents have dialled in as the flags ask for. `None`: the user ended the
    /// waiting.
    ///
    /// # Errors
    /// [`Failure`] when the flags make no sense, or agents are missing.
    pub fn await_all(
        flags: &FleetFlags,
        agents: Agents,
        interrupt: impl Fn() -> bool,
    ) -> Result<Option<SharedFleet>, Failure> {
        if flags.has_server() || flags.probe_rate.is_some() {
            return Err(Failure::usage(
                "--server-agent, --start-server and --probe-rate are flags of bookend load: here \
                 the servers run on this machine",
            ));
        }
        let is_local = matches!(agents, Agents::Local(_));
        let mut flags = FleetFlags { is_shared: true, ..flags.clone() };
        if is_local {
            "127.0.0.1:0".clone_into(&mut flags.listen);
        }
        let given = FleetToken::read(flags.token_file.as_deref())?;
        let own = || is_local.then(|| FleetToken::of(nonce().as_bytes()));
        let token = given.or_else(own);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::nothing_measured)?;
        let reserved = runtime.block_on(async { reserve(&flags, token.is_some()) })?;
        let address = reserved.local_addr().map_err(Failure::nothing_measured)?;
        flags.listen = address.to_string();
        let local = match is_local {
            true => {
                let text = token.as_ref().map(FleetToken::text);
                LocalAgents::start(agents.count(), address, text)?
            }
            false => LocalAgents::default(),
        };
        if !is_local {
            print_error(&format!(
                "bookend: awaiting {} agents on port {1}: bookend agent --join THIS_HOST:{1}",
                agents.count(),
                address.port()
            ));
        }
        let mut fleet = SharedFleet {
            flags,
            token,
            ids: BTreeSet::new(),
            runtime,
            _reserved: reserved,
            address,
            _local: local,
        };
        let deadline = Instant::now() + fleet.flags.fleet_wait;
        let wanted = agents.count() as usize;
        let is_complete = fleet.greet_all(deadline, wanted, &interrupt)?;
        if !is_complete && !interrupt() {
            return Err(Failure::nothing_measured(format!(
                "{} of {wanted} agents have not joined within {:?}; each takes bookend agent \
                 --join HOST:{}",
                wanted - fleet.ids.len(),
                fleet.flags.fleet_wait,
                fleet.address.port()
            )));
        }
        Ok(is_complete.then_some(fleet))
    }

    /// What a process that makes calls needs to know of the agents.
    pub fn variables(&self, agents: Agents) -> Vec<(OsString, OsString)> {
        let path = |file: &Option<PathBuf>| file.clone().map(PathBuf::into_os_string);
        let token = self.token.as_ref().map(|token| token.text().into());
        [
            (LISTEN, Some(self.flags.listen.clone().into())),
            (AGENTS, Some(agents.count().to_string().into())),
            (VARIABLE, token),
            (CERTIFICATE, path(&self.flags.fleet_cert)),
            (KEY, path(&self.flags.fleet_key)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.into(), value?)))
        .collect()
    }

    /// What the lab needs to know of the agents.
    pub fn settings(&self, agents: Agents) -> FleetSettings {
        let is_local = matches!(agents, Agents::Local(_));
        let listen = (!is_local).then_some(IpAddr::from(Ipv4Addr::UNSPECIFIED));
        FleetSettings { listen, variables: self.variables(agents) }
    }

    /// Notes which agents dial in, and sends them away for now, until `wanted` have come or the
    /// time is over.
    fn greet_all(
        &mut self,
        deadline: Instant,
        wanted: usize,
        interrupt: &impl Fn() -> bool,
    ) -> Result<bool, Failure> {
        let mut seen = BTreeSet::new();
        self.each_arrival(
            deadline,
            Greeting::Refused { reason: String::new(), again: true },
            |id| {
                seen.insert(id);
                seen.len() >= wanted || interrupt()
            },
        )?;
        let is_complete = seen.len() >= wanted;
        self.ids = seen;
        Ok(is_complete)
    }

    /// Says `greeting` to each agent that dials in, until `is_done` or the time is over. `is_done`
    /// gets its id, or nothing new.
    fn each_arrival(
        &self,
        deadline: Instant,
        greeting: Greeting,
        mut is_done: impl FnMut(String) -> bool,
    ) -> Result<(), Failure> {
        let (flags, token) = (&self.flags, self.token.clone());
        let listener = self.runtime.block_on(async { AgentListener::bind(flags, token) })?;
        let (arrived, mut arrivals) = unbounded_channel();
        let accepting = self.runtime.spawn(listener.accept(arrived));
        let mut last = String::new();
        while Instant::now() < deadline {
            let arrival = self.runtime.block_on(async { timeout(LOOK, arrivals.recv()).await });
            match arrival {
                Ok(Some(Arrival::Candidate(mut candidate))) => {
                    self.runtime.block_on(async {
                        // One that has gone does not need to know.
                        let _ = candidate.sending.send(&greeting).await;
                        candidate.sending.close().await;
                    });
                    last.clone_from(&candidate.facts.id);
                }
                Ok(Some(Arrival::Stranger(peer, why))) => {
                    print_error(&format!("bookend: {peer} takes no part: {why}"));
                }
                Ok(None) | Err(_) => {}
            }
            if !last.is_empty() && is_done(last.clone()) {
                break;
            }
        }
        accepting.abort();
        // The socket is closed once the task is gone.
        let _ = self.runtime.block_on(accepting);
        Ok(())
    }
}

impl Drop for SharedFleet {
    fn drop(&mut self) {
        let mut left = self.ids.clone();
        let deadline = Instant::now() + DISMISS_TIMEOUT;
        // Agents that have not heard it give up by themselves.
        let _ = self.each_arrival(deadline, Greeting::Over, |id| {
            left.remove(&id);
            left.is_empty()
        });
    }
}

/// The flags of a process that such a command has started, if this is one.
pub fn of_this_process(flags: &FleetFlags) -> Option<(FleetFlags, Agents)> {
    let listen = env::var(LISTEN).ok()?;
    let count = env::var(AGENTS).ok()?.parse().ok()?;
    let file = |name| env::var_os(name).map(PathBuf::from);
    let (fleet_cert, fleet_key) = (file(CERTIFICATE), file(KEY));
    let (token_file, is_shared) = (None, true);
    let flags =
        FleetFlags { listen, token_file, fleet_cert, fleet_key, is_shared, ..flags.clone() };
    Some((flags, Agents::Joining(count)))
}
