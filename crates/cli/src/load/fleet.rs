//! `bookend load --agents`: other machines make the calls, or other processes of this one.

use super::audience::Audience;
use super::capacity::{check_format, find_by_agents};
use super::finish::{Measured, finish, watching};
use super::interrupt;
use crate::contract;
use crate::fleet::flags::{Agents, FleetFlags, OnLoss, without_fleet_flags};
use crate::fleet::{FleetOrder, Gathered, MergedRun, laps, measure};
use crate::terminal::Failure;
use bookend_contract::exit;
use bookend_load::flags::LoadFlags;
use bookend_load::flags::sent::SentFlags;
use bookend_load::output::OutputFormat;
use bookend_load::plan::LoadPlan;
use bookend_load::plan::pacing::Loop;
use bookend_payload::data;
use std::ffi::OsString;
use std::time::SystemTime;

/// Measures with agents, then prints or writes the result. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the flags make no sense, an agent is missing, or nothing could be measured.
pub fn load(
    flags: &LoadFlags,
    fleet: &FleetFlags,
    agents: Agents,
    format: OutputFormat,
    audience: Audience,
    words: &[OsString],
) -> Result<u8, Failure> {
    check(flags, fleet, agents, format)?;
    let sent = sent(flags, words)?;
    let order = FleetOrder::run(flags, fleet, &sent);
    if audience == Audience::Lab && contract::makes_laps() {
        return laps::run(order, agents);
    }
    let is_under_the_lab = audience == Audience::Lab;
    let interrupt = interrupt::watch(is_under_the_lab).map_err(Failure::nothing_measured)?;
    let Some(mut gathered) = Gathered::gather(fleet, agents, &interrupt)? else {
        return Ok(exit::INTERRUPTED);
    };
    if sent.has_private_key() && !gathered.is_private() {
        return Err(Failure::usage(
            "--key would go to the agents in the clear: give --fleet-cert and --fleet-key, and \
             --fleet-cacert to the agents",
        ));
    }
    if let Some(objective) = &flags.find_capacity {
        return find_by_agents(&mut gathered, order, format, objective, &interrupt);
    }
    let mut observer = watching(flags, format, audience, order.window_ns());
    let started = SystemTime::now();
    let merged = measure(&mut gathered, order, &interrupt, &mut observer);
    observer.clear();
    drop(gathered);
    let MergedRun { plan, mut outcome, fleet, calls_skipped, lost } = merged?;
    if is_under_the_lab {
        // The lab counts every call that its server has answered.
        outcome.warmup += fleet.preparing_calls;
    }
    let skipped = calls_skipped;
    let measured = Measured { plan, started, outcome, skipped, fleet: Some(Box::new(fleet)) };
    let status = finish(flags, format, audience, &observer, measured);
    match lost {
        // The result was printed; the status says that it is not the whole of it.
        Some(lost) => {
            status?;
            Err(lost)
        }
        None => status,
    }
}

/// What can be known before an agent has joined.
fn check(
    flags: &LoadFlags,
    fleet: &FleetFlags,
    agents: Agents,
    format: OutputFormat,
) -> Result<(), Failure> {
    LoadPlan::check(flags, agents.count()).map_err(Failure::usage)?;
    if flags.find_capacity.is_some() {
        check_format(format)?;
        if fleet.has_server() || fleet.probe_rate.is_some() {
            return Err(Failure::usage(
                "--find-capacity searches with agents that make calls: leave --server-agent, \
                 --start-server and --probe-rate out",
            ));
        }
    }
    let is_open = Loop::from_flags(&flags.pacing).map_err(Failure::usage)?.open().is_some();
    if fleet.on_loss == OnLoss::Continue && !is_open {
        return Err(Failure::usage(
            "--on-loss continue needs a rate: in a closed loop those that are left would load the \
             server with another number of calls in flight; add --rps",
        ));
    }
    Ok(())
}

/// The flags as they go to agents.
fn sent(flags: &LoadFlags, words: &[OsString]) -> Result<SentFlags, Failure> {
    let words = without_fleet_flags(words);
    let words = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let input = match flags.call.reads_standard_input() {
        true => data::standard_input(&mut std::io::stdin().lock()).map_err(Failure::usage)?,
        false => Vec::new(),
    };
    SentFlags::read(flags, words, &input).map_err(Failure::unprepared)
}
