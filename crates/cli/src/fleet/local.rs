//! Agents that are started on this machine.

use super::token::VARIABLE;
use crate::terminal::Failure;
use std::env;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long an agent may take to end by itself.
const END_TIMEOUT: Duration = Duration::from_secs(3);

/// Agents on this machine. They are killed where this is dropped and they have not ended.
#[derive(Default)]
pub struct LocalAgents(Vec<Child>);

impl LocalAgents {
    /// Starts `count` agents that join the coordinator at that address, with its token.
    ///
    /// # Errors
    /// [`Failure`] when one cannot be started.
    pub fn start(
        count: u32,
        coordinator: SocketAddr,
        token: Option<&str>,
    ) -> Result<LocalAgents, Failure> {
        let program = env::current_exe().map_err(Failure::nothing_measured)?;
        let mut agents = LocalAgents::default();
        for number in 0..count {
            let mut agent = Command::new(&program);
            agent.args(["agent", "--join", &coordinator.to_string()]);
            agent.args(["--name", &format!("local-{number}")]);
            agent.envs(token.map(|token| (VARIABLE, token)));
            agent.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            agents.0.push(agent.spawn().map_err(Failure::nothing_measured)?);
        }
        Ok(agents)
    }

    /// Whether no agent was started here.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.0.iter_mut().any(|agent| !matches!(agent.try_wait(), Ok(None)))
    }
}

impl Drop for LocalAgents {
    fn drop(&mut self) {
        let deadline = Instant::now() + END_TIMEOUT;
        for agent in &mut self.0 {
            while matches!(agent.try_wait(), Ok(None)) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(5));
            }
            // One that has ended cannot be killed, and need not.
            let _ = agent.kill();
            let _ = agent.wait();
        }
    }
}
