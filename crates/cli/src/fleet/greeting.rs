//! How an agent and a coordinator find out who the other is.

use super::link::{Receiving, Sending};
use super::token::{FleetToken, ProvingEnd, nonce};
use bookend_contract::printable;
use bookend_fleet::message::{AgentFacts, Greeting, PROTOCOL_VERSION};
use std::io;
use std::time::Duration;
use tokio::time::timeout;

/// How long either end may take for all that it has to say.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// A message of a greeting is no longer.
const MAX_BYTES: usize = 64 << 10;

/// The token of one machine, where none is given.
fn open() -> FleetToken {
    FleetToken::of(b"no token was given")
}

/// Greets an agent that has connected: who it is, once it has shown that it knows the token.
///
/// # Errors
/// Why it takes no part, as a clause about it.
pub async fn greet(
    receiving: &mut Receiving,
    sending: &mut Sending,
    token: Option<&FleetToken>,
) -> Result<AgentFacts, String> {
    let greeted = timeout(TIMEOUT, greet_patiently(receiving, sending, token)).await;
    greeted.unwrap_or_else(|_| Err("it did not say in time who it is".to_owned()))
}

async fn greet_patiently(
    receiving: &mut Receiving,
    sending: &mut Sending,
    token: Option<&FleetToken>,
) -> Result<AgentFacts, String> {
    let token = token.cloned().unwrap_or_else(open);
    let failed = |error: io::Error| error.to_string();
    let greeting = receiving.receive(MAX_BYTES).await.map_err(failed)?;
    let Some(Greeting::Hello { protocol, nonce: agent_nonce }) = greeting else {
        return Err("it is no agent of Bookend".to_owned());
    };
    if protocol != PROTOCOL_VERSION {
        let reason = format!(
            "the coordinator speaks version {PROTOCOL_VERSION} of the protocol, and this agent \
             version {protocol}: run the same bookend on both machines"
        );
        refuse(sending, reason, false).await;
        return Err(format!("it speaks version {protocol} of the protocol"));
    }
    let own_nonce = nonce();
    let proof = token.proof(ProvingEnd::Coordinator, &agent_nonce, &own_nonce);
    let challenge =
        Greeting::Challenge { protocol: PROTOCOL_VERSION, nonce: own_nonce.clone(), proof };
    sending.send(&challenge).await.map_err(failed)?;
    let greeting = receiving.receive(MAX_BYTES).await.map_err(failed)?;
    match greeting {
        Some(Greeting::Join { proof, agent })
            if token.is_shown(ProvingEnd::Agent, (&agent_nonce, &own_nonce), &proof) =>
        {
            Ok(*agent)
        }
        Some(Greeting::Join { .. }) => {
            refuse(sending, WRONG_TOKEN.to_owned(), false).await;
            Err("it does not know the token".to_owned())
        }
        // It has found the token of this end wrong, and said so to its user.
        None => Err("it hung up: its token is another".to_owned()),
        Some(_) => Err("it is no agent of Bookend".to_owned()),
    }
}

const WRONG_TOKEN: &str =
    "the token of the coordinator is another: give both the same --token-file";

/// Tells an agent that it takes no part.
pub async fn refuse(sending: &mut Sending, reason: String, again: bool) {
    // One that has gone does not need to know.
    let _ = sending.send(&Greeting::Refused { reason, again }).await;
    sending.close().await;
}

/// Why an agent takes no part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not wanted, for this reason.
    Refused(String),
    /// It is not wanted now, and may dial in again.
    Later,
    /// The command is over.
    Over,
    /// The connection broke.
    Broken(String),
}

impl Refusal {
    fn of(reason: impl ToString) -> Refusal {
        Refusal::Refused(reason.to_string())
    }

    fn broken(error: io::Error) -> Refusal {
        Refusal::Broken(error.to_string())
    }
}

/// Joins the coordinator at the other end. Returns when it says that the agent takes part, and
/// whether it is to dial in again at once.
///
/// # Errors
/// [`Refusal`].
pub async fn join(
    receiving: &mut Receiving,
    sending: &mut Sending,
    token: Option<&FleetToken>,
    agent: AgentFacts,
) -> Result<bool, Refusal> {
    let token = token.cloned().unwrap_or_else(open);
    let own_nonce = nonce();
    let hello = Greeting::Hello { protocol: PROTOCOL_VERSION, nonce: own_nonce.clone() };
    sending.send(&hello).await.map_err(Refusal::broken)?;
    let challenge = timeout(TIMEOUT, receiving.receive(MAX_BYTES)).await;
    let silent = || Refusal::of("it is no coordinator of Bookend");
    let silence = || Refusal::Broken("it did not answer".to_owned());
    let challenge = challenge.map_err(|_| silence())?.map_err(Refusal::broken)?;
    let (protocol, nonce, proof) = match challenge {
        Some(Greeting::Challenge { protocol, nonce, proof }) => (protocol, nonce, proof),
        Some(Greeting::Refused { reason, .. }) => {
            return Err(Refusal::of(printable::line(&reason)));
        }
        None => return Err(Refusal::Broken("it hung up".to_owned())),
        Some(_) => return Err(silent()),
    };
    if protocol != PROTOCOL_VERSION {
        return Err(Refusal::of(format!(
            "this agent speaks version {PROTOCOL_VERSION} of the protocol, and the coordinator \
             version {protocol}: run the same bookend on both machines"
        )));
    }
    if !token.is_shown(ProvingEnd::Coordinator, (&own_nonce, &nonce), &proof) {
        return Err(Refusal::of(WRONG_TOKEN));
    }
    let proof = token.proof(ProvingEnd::Agent, &own_nonce, &nonce);
    let join = Greeting::Join { proof, agent: Box::new(agent) };
    sending.send(&join).await.map_err(Refusal::broken)?;
    match receiving.receive(MAX_BYTES).await.map_err(Refusal::broken)? {
        Some(Greeting::Welcome { again }) => Ok(again),
        Some(Greeting::Refused { again: true, .. }) => Err(Refusal::Later),
        Some(Greeting::Refused { reason, .. }) => Err(Refusal::of(printable::line(&reason))),
        Some(Greeting::Over) => Err(Refusal::Over),
        None => Err(Refusal::Broken("the coordinator hung up before the run began".to_owned())),
        Some(_) => Err(silent()),
    }
}
