//! `bookend agent`: one of the machines of a load test. It dials in, and opens no port.

mod arguments;
mod dial;
pub mod identity;
mod joined;
mod kept;
mod lap_run;
mod load_run;
mod run;
mod run_link;
mod server_run;
mod share;

pub use arguments::AgentArguments;

use crate::fleet::token::FleetToken;
use crate::load::interrupt;
use crate::terminal::Failure;
use bookend_contract::exit;
use bookend_lab::held_folder::remove_abandoned;
use dial::{Dialler, take_part};
use joined::Ending;
use std::env;
use std::sync::Arc;

/// Joins a coordinator and does what it says. The number is the exit status.
///
/// # Errors
/// [`Failure`] when it cannot be reached, takes no more agents, or is gone.
pub fn start(arguments: AgentArguments) -> Result<u8, Failure> {
    // Files of a coordinator, which an agent that was killed has left.
    remove_abandoned(&env::temp_dir());
    let dialler = Dialler {
        token: FleetToken::read(arguments.token_file.as_deref())?,
        tls: arguments.tls()?,
        facts: identity::of_this_process(arguments.role, arguments.name.clone())?,
        interrupt: interrupt::watch(false).map_err(Failure::nothing_measured)?,
        arguments,
    };
    Ok(match take_part(&Arc::new(dialler))? {
        Ending::Over => exit::MEASURED,
        Ending::Interrupted => exit::INTERRUPTED,
    })
}
