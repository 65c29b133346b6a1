//! The flags of load tests by several machines, as they are typed.

use bookend_contract::duration;
use bookend_fleet::LossRule;
use bookend_fleet::message::AgentRole;
use bookend_load::flags::pacing::rate;
use bookend_load::flags::whole;
use bookend_payload::error_text::choice;
use clap::{Args, Command, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The most agents of a run.
const AGENTS_MAX: u32 = 1_000;

/// Where the agents of a run come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agents {
    /// That number dials in.
    Joining(u32),
    /// That number is started on this machine.
    Local(u32),
}

impl Agents {
    /// How many make calls.
    pub fn count(self) -> u32 {
        match self {
            Self::Joining(count) | Self::Local(count) => count,
        }
    }
}

/// What happens when an agent is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OnLoss {
    /// The run ends with exit status 7, and the seconds that all had told are printed.
    #[default]
    Fail,
    /// The others go on, in open loops only. The result says who was lost and is not to be quoted.
    Continue,
}

impl From<OnLoss> for LossRule {
    fn from(on_loss: OnLoss) -> LossRule {
        match on_loss {
            OnLoss::Fail => LossRule::Fail,
            OnLoss::Continue => LossRule::Continue,
        }
    }
}

/// Which machines make the calls, and how they find this one.
#[derive(Args, Clone, Debug)]
pub struct FleetFlags {
    /// Number of bookend agents that make the calls; local:N starts them here
    #[arg(long, value_name = "N", value_parser = agents, help_heading = "Rate and duration")]
    pub agents: Option<Agents>,
    /// Address on which agents are awaited
    #[arg(
        long,
        value_name = "HOST:PORT",
        default_value = "0.0.0.0:7420",
        requires = "agents",
        help_heading = "Fleet",
        hide_short_help = true
    )]
    pub listen: String,
    /// File with the secret that agents know too [default: the variable BOOKEND_FLEET_TOKEN]
    #[arg(
        long,
        value_name = "FILE",
        requires = "agents",
        help_heading = "Fleet",
        hide_short_help = true
    )]
    pub token_file: Option<PathBuf>,
    /// Certificate with which agents are awaited, with --fleet-key: the link has TLS then
    #[arg(
        long, value_name = "FILE", requires_all = ["agents", "fleet_key"], help_heading = "Fleet",
        hide_short_help = true
    )]
    pub fleet_cert: Option<PathBuf>,
    /// Private key of --fleet-cert
    #[arg(
        long, value_name = "FILE", requires_all = ["agents", "fleet_cert"], help_heading = "Fleet",
        hide_short_help = true
    )]
    pub fleet_key: Option<PathBuf>,
    /// Time to wait for the agents
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "60s",
        requires = "agents", help_heading = "Fleet", hide_short_help = true
    )]
    pub fleet_wait: Duration,
    /// What happens when an agent is lost: fail, or continue in an open loop
    #[arg(
        long, value_name = "HOW", value_parser = choice::<OnLoss>, default_value = "fail",
        requires = "agents", help_heading = "Fleet", hide_short_help = true
    )]
    pub on_loss: OnLoss,
    /// Wait for an agent on the server's node too (bookend agent --role server), and say what the
    /// server and its node used
    #[arg(long, requires = "agents", help_heading = "Fleet", hide_short_help = true)]
    pub server_agent: bool,
    /// Have that agent start the server with this command line of the shell
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "agents",
        help_heading = "Fleet",
        hide_short_help = true
    )]
    pub start_server: Option<String>,
    /// Have an agent that does nothing else (bookend agent --role probe) make this number of calls
    /// a second, and say how long they took
    #[arg(
        long, value_name = "RATE", value_parser = rate, requires = "agents",
        help_heading = "Fleet", hide_short_help = true
    )]
    pub probe_rate: Option<f64>,
    /// Whether other processes of the command await agents at the same address.
    #[arg(skip)]
    pub is_shared: bool,
}

impl FleetFlags {
    /// Where agents are awaited: those of this machine need no address that others reach.
    pub fn listens_on(&self) -> String {
        let is_local = matches!(self.agents, Some(Agents::Local(_)));
        let is_alone = !self.has_server() && self.probe_rate.is_none();
        match is_local && is_alone && !self.is_shared {
            true => "127.0.0.1:0".to_owned(),
            false => self.listen.clone(),
        }
    }

    /// The roles of the agents that are awaited, first those that make calls.
    pub fn roles(&self, agents: Agents) -> Vec<AgentRole> {
        let mut roles = vec![AgentRole::Load; agents.count() as usize];
        roles.extend(self.has_server().then_some(AgentRole::Server));
        roles.extend(self.probe_rate.map(|_| AgentRole::Probe));
        roles
    }

    /// Whether an agent on the server's node takes part.
    pub fn has_server(&self) -> bool {
        self.server_agent || self.start_server.is_some()
    }
}

/// The words without the flags of this page, which an agent has no use for.
pub fn without_fleet_flags(words: &[OsString]) -> Vec<OsString> {
    let command = FleetFlags::augment_args(Command::new("load"));
    let takes_value = |name: &str| {
        let flag = command.get_arguments().find(|flag| flag.get_long() == Some(name))?;
        Some(flag.get_action().takes_values())
    };
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word.clone());
            kept.extend(words.cloned());
            break;
        }
        let flag = word.to_str().and_then(|word| word.strip_prefix("--")).unwrap_or_default();
        let name = flag.split_once('=').map_or(flag, |(name, _)| name);
        match takes_value(name) {
            None => kept.push(word.clone()),
            Some(true) if name == flag => drop(words.next()),
            Some(_) => {}
        }
    }
    kept
}

fn agents(text: &str) -> Result<Agents, String> {
    let (agents, number): (fn(u32) -> Agents, &str) = match text.strip_prefix("local:") {
        Some(number) => (Agents::Local, number),
        None => (Agents::Joining, text),
    };
    match whole::<u32>(number)? {
        0 => Err("at least one makes the calls".to_owned()),
        count if count > AGENTS_MAX => Err(format!("no more than {AGENTS_MAX}")),
        count => Ok(agents(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_get_the_flags_that_are_theirs() {
        let words =
            "--agents 3 -c 5 --listen=a:1 --server-agent -d {} --probe-rate 9 host -- --agents";
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let kept = without_fleet_flags(&words).join(" ".as_ref());
        assert_eq!(kept, "-c 5 -d {} host -- --agents");
    }

    #[test]
    fn agents_join_or_are_started_here() {
        assert_eq!(agents("3"), Ok(Agents::Joining(3)));
        assert_eq!(agents("local:2"), Ok(Agents::Local(2)));
        for wrong in ["0", "local:", "local:0", "-1", "1001", "x"] {
            assert!(agents(wrong).is_err(), "{wrong}");
        }
    }
}
