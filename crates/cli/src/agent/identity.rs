//! What an agent says of itself.

use crate::fleet::token::{hex, nonce};
use crate::terminal::Failure;
use crate::{lab, own_build};
use bookend_fleet::message::{AgentFacts, AgentRole};
use bookend_lab::machine::this_machine;
use ring::digest::{Context, SHA256};
use std::fs;
use std::fs::File;
use std::io::Read as _;

/// Which clock the kernel uses.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// This process as an agent.
///
/// # Errors
/// [`Failure`] when its program cannot be read.
pub fn of_this_process(role: AgentRole, name: Option<String>) -> Result<AgentFacts, Failure> {
    let clock_source = fs::read_to_string(CLOCK_SOURCE).ok().map(|name| name.trim().to_owned());
    Ok(AgentFacts {
        id: nonce(),
        name: name.unwrap_or_else(host_name),
        role,
        build: own_build::facts(),
        program: program()?,
        machine: this_machine(),
        clock_source,
        cpus: lab::cpus(),
    })
}

fn host_name() -> String {
    let uname = rustix::system::uname();
    uname.nodename().to_string_lossy().into_owned()
}

/// A digest of this program's file: two builds of one version differ in it.
///
/// # Errors
/// [`Failure`] when the file cannot be read.
pub fn program() -> Result<String, Failure> {
    let cannot = |error| Failure::nothing_measured(format!("cannot read this program: {error}"));
    let mut file = File::open("/proc/self/exe").map_err(cannot)?;
    let (mut context, mut buffer) = (Context::new(&SHA256), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).map_err(cannot)? {
            0 => return Ok(hex(context.finish().as_ref())),
            bytes => context.update(&buffer[..bytes]),
        }
    }
}
