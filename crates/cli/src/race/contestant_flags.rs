//! The flags of `bookend race` about what is raced, as typed.

use super::flag_values::variable;
use crate::terminal::Failure;
use bookend_lab::race::ContestantSpecs;
use bookend_load::flags::whole;
use clap::Args;

/// What is raced. Commands are positional, as the targets of `bookend load` are.
#[derive(Debug, Args)]
pub struct ContestantFlags {
    /// Git revision to race; repeatable. The one COMMAND, without a name, is started in a checkout
    /// of each
    #[arg(long, value_name = "REVISION", help_heading = "Servers")]
    pub rev: Vec<String>,
    /// Command that builds a revision, run in its folder
    #[arg(long, value_name = "COMMAND", requires = "rev", help_heading = "Servers")]
    pub build: Option<String>,
    /// Set an environment variable of every command; repeatable
    #[arg(
        long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Servers",
        hide_short_help = true
    )]
    pub env: Vec<(String, String)>,
    /// Command to run before every start, in the same folder; the start fails if it does
    #[arg(long, value_name = "COMMAND", help_heading = "Servers", hide_short_help = true)]
    pub prepare: Option<String>,
    /// Server that already runs on this machine
    #[arg(long, value_name = "NAME=HOST:PORT", help_heading = "Servers")]
    pub at: Vec<String>,
    /// Race clients instead of servers: commands that speak the contract of measured clients, each
    /// started for every lap, calling Bookend's own server
    #[arg(long, help_heading = "Servers", hide_short_help = true)]
    pub client: bool,
    /// Number of CPUs for each server, the same ones for both
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 1,
        allow_negative_numbers = true, help_heading = "Servers", hide_short_help = true
    )]
    pub server_cpus: u32,
    /// Number of CPUs for each client of --client, the same ones for both
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 1,
        allow_negative_numbers = true, requires = "client", help_heading = "Servers",
        hide_short_help = true
    )]
    pub client_cpus: u32,
    /// Server that the other is compared with [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "Servers", hide_short_help = true)]
    pub baseline: Option<String>,
}

impl ContestantFlags {
    /// Reads them, the baseline first.
    ///
    /// # Errors
    /// [`Failure`] naming the word that is wrong.
    pub fn read(&self, commands: &[String]) -> Result<ContestantSpecs, Failure> {
        self.specs(commands)
            .and_then(|specs| specs.begun_with(&self.env, self.prepare.as_deref()))
            .and_then(|specs| specs.in_order(self.baseline.as_deref()))
            .map_err(Failure::usage)
    }

    fn specs(&self, commands: &[String]) -> Result<ContestantSpecs, String> {
        if self.client {
            return ContestantSpecs::clients(commands);
        }
        if self.rev.is_empty() {
            return ContestantSpecs::servers(commands, &self.at);
        }
        match (commands, self.at.as_slice()) {
            ([command], []) => ContestantSpecs::of_revisions(command, &self.rev),
            _ => Err("--rev: one command is started in each revision, and nothing else".to_owned()),
        }
    }
}
