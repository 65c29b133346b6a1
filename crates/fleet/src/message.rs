//! What a coordinator and an agent say to each other: a JSON object a line.

use bookend_contract::build_facts::BuildFacts;
use bookend_contract::machine::MachineFacts;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The version of this protocol. Both ends have the same, which is the first thing that they say.
pub const PROTOCOL_VERSION: u32 = 1;

/// A message is no longer than this, bytes: the calls of a run one by one, a million of them, have
/// room in it.
pub const MESSAGE_MAX_BYTES: usize = 256 << 20;

/// What an agent does in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentRole {
    /// It makes its share of the calls.
    #[default]
    Load,
    /// It starts the server, or finds it, and counts what the server and its node use.
    Server,
    /// It makes few calls, on a node that does nothing else, and says how long they took.
    Probe,
}

impl AgentRole {
    /// Its name, as `--role` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Server => "server",
            Self::Probe => "probe",
        }
    }
}

/// What an agent says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFacts {
    /// Random: one process has one, however often it dials in.
    pub id: String,
    /// What users call it.
    pub name: String,
    /// What it does.
    pub role: AgentRole,
    /// The program that it runs.
    pub build: BuildFacts,
    /// A digest of the program's file.
    pub program: String,
    /// Its machine.
    pub machine: MachineFacts,
    /// The clock that its kernel uses: `tsc`, `kvm-clock`.
    pub clock_source: Option<String>,
    /// CPUs that it may use.
    pub cpus: u32,
}

/// The first messages, in this order: [`Greeting::Hello`] of the agent, [`Greeting::Challenge`],
/// [`Greeting::Join`], and then [`Greeting::Welcome`] or [`Greeting::Refused`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "lowercase")]
pub enum Greeting {
    /// An agent wants to join.
    Hello {
        /// [`PROTOCOL_VERSION`].
        protocol: u32,
        /// Random, hexadecimal.
        nonce: String,
    },
    /// The coordinator shows that it knows the token, and asks the agent to do so.
    Challenge {
        /// [`PROTOCOL_VERSION`].
        protocol: u32,
        /// Random, hexadecimal.
        nonce: String,
        /// A code of both nonces with the token, hexadecimal.
        proof: String,
    },
    /// The agent shows that it knows the token, and says who it is.
    Join {
        /// Another code of both nonces with the token.
        proof: String,
        /// What it says of itself.
        agent: Box<AgentFacts>,
    },
    /// The agent takes part.
    Welcome {
        /// Whether it is to dial in again at once: other runs of the command need it meanwhile.
        again: bool,
    },
    /// The command is over: nobody need dial in any more.
    Over,
    /// It does not.
    Refused {
        /// Why, and what to do.
        reason: String,
        /// Whether it may dial in again at once: a run has not begun, or another is about to.
        again: bool,
    },
}

/// What a coordinator says to an agent that takes part.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToAgent {
    /// Make ready for a run.
    Prepare {
        /// What is to be run.
        task: Box<RawValue>,
    },
    /// What does your clock say?
    Ping {
        /// Comes back.
        number: u32,
    },
    /// Begin at that time.
    Arm {
        /// Nanoseconds of the agent's monotonic clock.
        start_ns: u64,
    },
    /// The coordinator is there.
    Tick,
    /// End the run before its time, and report.
    Stop,
    /// A command of the run's own kind, such as a lap.
    Command {
        /// What is to be done.
        command: Box<RawValue>,
    },
    /// There is nothing more to do: hang up.
    End,
}

/// What an agent says to its coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FromAgent {
    /// It is ready: its connections are made, and one call was verified.
    Prepared {
        /// What the coordinator needs to know of it.
        facts: Box<RawValue>,
    },
    /// It cannot run, or cannot go on.
    Failed {
        /// Why, in one sentence.
        reason: String,
        /// The exit status that the same has on one machine.
        status: u8,
    },
    /// What its monotonic clock says, nanoseconds.
    Pong {
        /// Of the ping.
        number: u32,
        /// Nanoseconds.
        clock_ns: u64,
    },
    /// It will begin at the time that it was given.
    Armed,
    /// It is there.
    Tick,
    /// What it did in a second since the start of its window.
    Second {
        /// From 0. None is left out.
        index: u32,
        /// What it did.
        content: Box<RawValue>,
    },
    /// An answer to a command.
    Answer {
        /// What was done.
        answer: Box<RawValue>,
    },
    /// Its run is over.
    Reported {
        /// All that it measured.
        result: Box<RawValue>,
    },
}
