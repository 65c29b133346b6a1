//! The agents of a command: gathered once, they make one run after another.

use super::flags::{Agents, FleetFlags};
use super::greeting::refuse;
use super::link::{Receiving, Sending};
use super::listener::{AgentListener, Arrival, Candidate};
use super::local::LocalAgents;
use super::token::{FleetToken, nonce};
use crate::agent::identity;
use crate::terminal::{Failure, print_error};
use bookend_fleet::message::{AgentFacts, AgentRole, FromAgent, Greeting, ToAgent};
use bookend_fleet::{CoordinatedRun, RunEvent};
use bookend_load::run::clock_ns;
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{sleep, timeout};

/// How often a run is looked at while nothing comes.
const LOOK: Duration = Duration::from_millis(20);

/// What an agent hears that another process of the command may want.
const ANOTHER_TIME: &str = "all agents of this process are there";

/// How long agents may take to hear that there is nothing more to do.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// An agent that takes part.
pub struct Member {
    /// What it has said of itself.
    pub facts: AgentFacts,
    /// Where it has dialled in from.
    pub address: IpAddr,
    sender: UnboundedSender<ToAgent>,
}

/// What comes from an agent, with its number and the time.
enum FromMember {
    Message(usize, FromAgent, u64),
    HungUp(usize, String, u64),
}

/// The agents of a run, or of one run after another. They hear that it is over where this is
/// dropped.
pub struct Gathered {
    runtime: Runtime,
    /// By number: first those that make calls, then the others.
    pub members: Vec<Member>,
    received: UnboundedReceiver<FromMember>,
    arrivals: UnboundedReceiver<Arrival>,
    is_private: bool,
    is_shared: bool,
    local: LocalAgents,
    /// Ends a wait before its time.
    pub wake: Arc<Notify>,
}

/// What a command does in the course of a run.
pub trait RunHandler {
    /// Something has happened. What is to be sent is sent already.
    fn event(&mut self, run: &mut CoordinatedRun, event: RunEvent);

    /// Some time has passed, or [`Gathered::wake`] was notified.
    fn look(&mut self, _: &mut CoordinatedRun) {}

    /// When [`RunHandler::look`] is wanted at the latest, nanoseconds of this clock.
    fn due_ns(&self) -> u64 {
        u64::MAX
    }
}

impl Gathered {
    /// Waits until all agents that the flags ask for have dialled in, and refuses all others.
    /// `None`: the user ended the waiting.
    ///
    /// # Errors
    /// [`Failure`] when they are not there in time, and which are.
    pub fn gather(
        flags: &FleetFlags,
        agents: Agents,
        interrupt: &AtomicBool,
    ) -> Result<Option<Gathered>, Failure> {
        let given = FleetToken::read(flags.token_file.as_deref())?;
        let is_local = matches!(agents, Agents::Local(_)) && !flags.is_shared;
        // A token of our own is of no use to agents that are started elsewhere.
        let is_alone = is_local && flags.roles(agents).len() == agents.count() as usize;
        let token = given.or_else(|| is_alone.then(|| FleetToken::of(nonce().as_bytes())));
        let text = token.as_ref().map(|token| token.text().to_owned());
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::nothing_measured)?;
        let listener = runtime.block_on(async { AgentListener::bind(flags, token) })?;
        let (address, is_private) = (listener.address, listener.is_private());
        let (arrived, arrivals) = unbounded_channel();
        let accepting = runtime.spawn(listener.accept(arrived));
        let local = match is_local {
            true => LocalAgents::start(agents.count(), address, text.as_deref())?,
            false => LocalAgents::default(),
        };
        let (tell, received) = unbounded_channel();
        let wake = Arc::default();
        let members = Vec::new();
        let mut gathered = Gathered {
            runtime,
            members,
            received,
            arrivals,
            is_private,
            is_shared: flags.is_shared,
            local,
            wake,
        };
        let gathering = Gathering {
            wanted: flags.roles(agents),
            program: identity::program()?,
            address,
            wait: flags.fleet_wait,
            is_shared: flags.is_shared,
            tell,
        };
        let is_shared = flags.is_shared;
        let is_complete = gathered.await_all(gathering, interrupt)?;
        if is_shared {
            // Other processes of the command await agents here as well.
            accepting.abort();
            let _ = gathered.runtime.block_on(accepting);
        }
        Ok(is_complete.then_some(gathered))
    }

    /// Names of those that make calls.
    pub fn load_names(&self) -> Vec<String> {
        let facts = self.members.iter().map(|member| &member.facts);
        let load = facts.filter(|facts| facts.role == AgentRole::Load);
        load.map(|facts| facts.name.clone()).collect()
    }

    /// Whether nobody else can read what goes to agents.
    pub fn is_private(&self) -> bool {
        self.is_private
    }

    fn await_all(&mut self, gathering: Gathering, interrupt: &AtomicBool) -> Result<bool, Failure> {
        let has_others = gathering.wanted.iter().any(|role| *role != AgentRole::Load);
        if !gathering.is_shared && (self.local.is_none() || has_others) {
            gathering.announce();
        }
        let deadline = Instant::now() + gathering.wait;
        let mut places: Vec<Option<Member>> = gathering.wanted.iter().map(|_| None).collect();
        let mut ticked = Instant::now();
        let mut strangers = BTreeSet::new();
        while places.iter().any(Option::is_none) {
            if interrupt.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if Instant::now() >= deadline || self.local.has_ended() {
                return Err(Failure::nothing_measured(gathering.missing(&places)));
            }
            let arrivals = &mut self.arrivals;
            let arrival = self.runtime.block_on(async { timeout(LOOK, arrivals.recv()).await });
            match arrival {
                Ok(Some(Arrival::Candidate(candidate))) => {
                    self.runtime.block_on(gathering.admit(*candidate, &mut places));
                }
                Ok(Some(Arrival::Stranger(peer, why))) => {
                    // It tries again and again.
                    if strangers.insert((peer.ip(), why.clone())) {
                        print_error(&format!("bookend: {peer} takes no part: {why}"));
                    }
                }
                Ok(None) | Err(_) => {}
            }
            // Those that are there know that the coordinator is, and are missed when they go.
            if ticked.elapsed() >= Duration::from_millis(200) {
                ticked = Instant::now();
                let there = places.iter().flatten();
                there.for_each(|member| drop(member.sender.send(ToAgent::Tick)));
            }
            while let Ok(message) = self.received.try_recv() {
                if let FromMember::HungUp(number, ..) = message {
                    places[number] = None;
                }
            }
        }
        self.members = places.into_iter().flatten().collect();
        Ok(true)
    }

    /// Makes a run of the agents, which `handler` follows until it is over.
    pub fn run(
        &mut self,
        mut run: CoordinatedRun,
        interrupt: &AtomicBool,
        handler: &mut impl RunHandler,
    ) -> CoordinatedRun {
        let mut is_stopped = false;
        loop {
            let mut is_over = false;
            for event in run.take_events() {
                match event {
                    RunEvent::Send(agent, message) => {
                        // One that is gone is noticed where its messages are read.
                        let _ = self.members[agent].sender.send(message);
                    }
                    event => {
                        is_over |= matches!(event, RunEvent::Over(_));
                        handler.event(&mut run, event);
                    }
                }
            }
            if is_over {
                return run;
            }
            if interrupt.load(Ordering::Relaxed) && !std::mem::replace(&mut is_stopped, true) {
                run.stop(clock_ns());
                continue;
            }
            self.receive(&mut run, handler.due_ns());
            run.tick(clock_ns());
            handler.look(&mut run);
        }
    }

    /// Waits a little for what comes, and passes it on.
    fn receive(&mut self, run: &mut CoordinatedRun, due_ns: u64) {
        let (received, arrivals) = (&mut self.received, &mut self.arrivals);
        let until_look = LOOK.min(Duration::from_nanos(due_ns.saturating_sub(clock_ns())));
        let (wake, is_shared) = (&self.wake, self.is_shared);
        let first = self.runtime.block_on(async {
            tokio::select! {
                message = received.recv() => message,
                Some(arrival) = arrivals.recv() => {
                    turn_away(arrival, is_shared).await;
                    None
                }
                () = wake.notified() => None,
                () = sleep(until_look) => None,
            }
        });
        let mut next = first;
        while let Some(message) = next {
            match message {
                FromMember::Message(agent, message, at_ns) => run.receive(agent, message, at_ns),
                FromMember::HungUp(agent, why, at_ns) => run.disconnected(agent, &why, at_ns),
            }
            next = self.received.try_recv().ok();
        }
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        for member in &self.members {
            let _ = member.sender.send(ToAgent::End);
        }
        let received = &mut self.received;
        let mut left = self.members.len();
        let gone = async {
            while left > 0 {
                match received.recv().await {
                    Some(FromMember::HungUp(..)) => left -= 1,
                    Some(FromMember::Message(..)) => {}
                    None => break,
                }
            }
        };
        self.runtime.block_on(async {
            // Whoever has not heard it by then notices that the connection has ended.
            let _ = timeout(END_TIMEOUT, gone).await;
        });
    }
}

/// What is awaited.
struct Gathering {
    wanted: Vec<AgentRole>,
    /// The digest of this program.
    program: String,
    address: SocketAddr,
    wait: Duration,
    /// Whether other processes of the command await agents at the same address.
    is_shared: bool,
    tell: UnboundedSender<FromMember>,
}

impl Gathering {
    fn announce(&self) {
        let port = self.address.port();
        print_error(&format!(
            "bookend: awaiting {} on port {port}: bookend agent --join THIS_HOST:{port}",
            by_role(&self.wanted)
        ));
    }

    /// Gives an agent a place, or refuses it.
    async fn admit(&self, candidate: Candidate, places: &mut [Option<Member>]) {
        let Candidate { mut facts, peer, receiving, mut sending } = candidate;
        let role = facts.role;
        let is_free =
            |(number, wanted): &(usize, &AgentRole)| **wanted == role && places[*number].is_none();
        let place = self.wanted.iter().enumerate().find(is_free).map(|(number, _)| number);
        let is_there = places.iter().flatten().any(|member| member.facts.id == facts.id);
        if self.is_shared && (is_there || place.is_none()) {
            return refuse(&mut sending, ANOTHER_TIME.to_owned(), true).await;
        }
        let refusal = if facts.program != self.program {
            Some(format!(
                "this agent is {}, and the coordinator another program: run the same bookend on \
                 both machines",
                facts.build
            ))
        } else if place.is_none() {
            Some(format!("no more agents of --role {} are awaited", role.name()))
        } else {
            None
        };
        let Some(number) = place.filter(|_| refusal.is_none()) else {
            let reason = refusal.unwrap_or_default();
            print_error(&format!("bookend: {} at {peer} takes no part: {reason}", facts.name));
            return refuse(&mut sending, reason, false).await;
        };
        if sending.send(&Greeting::Welcome { again: self.is_shared }).await.is_err() {
            return;
        }
        let taken: Vec<&str> =
            places.iter().flatten().map(|member| member.facts.name.as_str()).collect();
        facts.name = free_name(&facts.name, &taken);
        let (sender, to_send) = unbounded_channel();
        tokio::spawn(send_all(sending, to_send));
        tokio::spawn(receive_all(number, receiving, self.tell.clone()));
        places[number] = Some(Member { facts, address: peer.ip(), sender });
    }

    /// The sentence about those that are missing when the time is over.
    fn missing(&self, places: &[Option<Member>]) -> String {
        let there: Vec<&str> =
            places.iter().flatten().map(|member| member.facts.name.as_str()).collect();
        let missing = self.wanted.iter().zip(places).filter(|(_, place)| place.is_none());
        let missing: Vec<AgentRole> = missing.map(|(role, _)| *role).collect();
        let joined = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        format!(
            "{} of {} agents have not joined within {:?} ({}); joined: {joined}; each takes bookend \
             agent --join HOST:{}",
            missing.len(),
            self.wanted.len(),
            self.wait,
            by_role(&missing),
            self.address.port()
        )
    }
}

/// How many agents of each role these are.
fn by_role(agents: &[AgentRole]) -> String {
    let count = |role| agents.iter().filter(|agent| **agent == role).count();
    [AgentRole::Load, AgentRole::Server, AgentRole::Probe]
        .into_iter()
        .filter(|role| count(*role) > 0)
        .map(|role| format!("{} of --role {}", count(role), role.name()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The name of an agent among those of the others: several on one machine may have its name.
fn free_name(name: &str, taken: &[&str]) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(&name.as_str())).unwrap_or_default()
}

/// Whoever comes when a run has begun takes no part in it.
async fn turn_away(arrival: Arrival, is_shared: bool) {
    if let Arrival::Candidate(mut candidate) = arrival {
        if is_shared {
            return refuse(&mut candidate.sending, ANOTHER_TIME.to_owned(), true).await;
        }
        let name = candidate.facts.name;
        print_error(&format!("bookend: {name} came too late: all agents were there"));
        let reason = "all agents are there and the run has begun: nobody joins it now".to_owned();
        refuse(&mut candidate.sending, reason, false).await;
    }
}

async fn send_all(mut sending: Sending, mut messages: UnboundedReceiver<ToAgent>) {
    while let Some(message) = messages.recv().await {
        if sending.send(&message).await.is_err() {
            break;
        }
    }
    sending.close().await;
}

async fn receive_all(number: usize, mut receiving: Receiving, tell: UnboundedSender<FromMember>) {
    let why = loop {
        match receiving.next().await {
            Ok(Some(message)) => {
                if tell.send(FromMember::Message(number, message, clock_ns())).is_err() {
                    return;
                }
            }
            Ok(None) => break "it has hung up".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    let _ = tell.send(FromMember::HungUp(number, why, clock_ns()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_one_machine_have_names_of_their_own() {
        assert_eq!(free_name("vm", &[]), "vm");
        assert_eq!(free_name("vm", &["vm", "vm-3"]), "vm-2");
        assert_eq!(free_name("vm", &["vm-2", "vm"]), "vm-3");
    }
}
