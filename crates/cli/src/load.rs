//! `bookend load`: from flags to a result on standard output.

mod audience;
mod capacity;
mod delivery;
mod interrupt;
pub mod laps;
mod no_call;
mod observer;
mod origin;
mod report_lines;

use crate::slow_schema::read_schema;
use crate::terminal::{Failure, gate_status, print_error};
use crate::{contract, lab};
use audience::Audience;
use bookend_contract::exit;
use bookend_contract::gate::{GateKind, JudgedGate};
use bookend_load::descriptors;
use bookend_load::flags::switches::SwitchedWords;
use bookend_load::flags::{LoadFlags, config_file, files};
use bookend_load::objective::Objective;
use bookend_load::output::{self, OutputFormat};
use bookend_load::plan::LoadPlan;
use bookend_load::record::LatencyTimeline;
use bookend_load::report;
use bookend_load::run::{self, LoadOutcome, RunObserver};
use capacity::find_capacity;
use clap::{Args, Command};
use delivery::{deliver, deliver_beside};
use no_call::no_call;
use observer::Observer;
use origin::origin;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

const EXAMPLES: &str = r#"Examples:
  bookend load --insecure --call helloworld.Greeter/SayHello -d '{"name":"x"}' \
      -c 100 -z 10s localhost:50051
  bookend load --insecure --proto greeter.proto --call pkg.Greeter/SayHello \
      --rps 500 --duration 30s --slo 'p99<20ms,errors<0.1%' localhost:50051"#;

/// Arguments of `bookend load`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LoadArguments {
    #[command(flatten)]
    flags: LoadFlags,
}

/// The words of the command line with every switch as clap reads it (Go's users write
/// `--insecure=true`), and with those of the file of `--config` behind them.
///
/// # Errors
/// [`Failure`] when a switch is on and off, or the file gives no flags.
pub fn whole_line(words: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let command = LoadArguments::augment_args(Command::new("load"));
    let typed = SwitchedWords::of(words, &command);
    // What is wrong with the words is said when all of them are read.
    let Ok(given) = command.clone().try_get_matches_from(typed.words.iter().skip(1)) else {
        return Ok(typed.words);
    };
    typed.check(&given, &command).map_err(Failure::usage)?;
    let mut words = typed.words.clone();
    if let Some(file) = given.get_one::<PathBuf>("config") {
        words.extend(config_file::words(file, &given, &typed, &command).map_err(Failure::usage)?);
    }
    Ok(words)
}

/// Measures, then prints or writes the result. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the flags make no sense or nothing could be measured.
pub fn start(arguments: LoadArguments) -> Result<u8, Failure> {
    let audience = if contract::is_under_the_lab() { Audience::Lab } else { Audience::People };
    let flags = arguments.flags;
    for file in flags.output.iter().chain(&flags.debug).chain(&flags.hdr) {
        output::check(file).map_err(Failure::usage)?;
    }
    files::check_apart(&flags.files_written(), &flags.files_read()).map_err(Failure::usage)?;
    let format = flags.output_format().map_err(Failure::usage)?;
    let read = || LoadPlan::from_flags(&flags, &mut std::io::stdin().lock(), lab::cpus());
    let plan = match &flags.thrift.file {
        Some(_) => read(),
        None => read_schema("load", &flags.call, read),
    };
    let mut plan = plan.map_err(Failure::unprepared)?;
    if let Some(refusal) = plan.fall_back() {
        print_error(&format!("bookend load: {refusal}; epoll is used instead"));
    }
    descriptors::provide(plan.connections, plan.threads).map_err(Failure::nothing_measured)?;
    if let Some(objective) = &flags.find_capacity {
        return find_capacity(&flags, format, &plan, objective);
    }
    if audience == Audience::Lab && contract::makes_laps() {
        return laps::run(plan, std::io::stdin().lock(), no_call);
    }
    let plan = Arc::new(plan);
    let started = SystemTime::now();
    let keeps_log = flags.hdr.is_some();
    let keeps_latencies = audience == Audience::People && has_latencies_over_time(format);
    let mut observer =
        Observer::new(audience, flags.live, plan.window_ns, keeps_log, keeps_latencies);
    let outcome = measure(&plan, audience, &mut observer);
    observer.clear();
    let outcome = outcome?;
    let mut report = report::build_report(&plan, started, &outcome);
    if audience == Audience::People {
        report.bookend.origin = Some(origin());
        let latencies = observer.latencies.as_ref();
        report.bookend.latency_intervals = latencies.and_then(LatencyTimeline::intervals);
    }
    let gates = judged(&flags, &outcome);
    report.bookend.gates.clone_from(&gates);
    // The result is printed even if another file cannot be written.
    let beside = deliver_beside(&flags, observer.log.as_ref(), outcome.calls.as_ref());
    deliver(flags.output.as_deref(), format, report, outcome.calls.as_ref(), audience)?;
    beside.map_err(Failure::not_delivered)?;
    if let Some(why) = &outcome.template_failure {
        return Err(Failure::usage(format!("{why}: the run ended there")));
    }
    status(&gates, &outcome, plan.calls_skipped)
}

/// Whether a result in that format says how latencies went over the window.
fn has_latencies_over_time(format: OutputFormat) -> bool {
    matches!(format, OutputFormat::Json | OutputFormat::Pretty | OutputFormat::Html)
}

/// The gates of the flags by what was measured.
fn judged(flags: &LoadFlags, outcome: &LoadOutcome) -> Vec<JudgedGate> {
    let of_kind = |kind, objectives: &[Objective]| -> Vec<JudgedGate> {
        objectives.iter().flat_map(|objective| objective.judge(kind, outcome)).collect()
    };
    [of_kind(GateKind::Slo, &flags.slo), of_kind(GateKind::FailIf, &flags.fail_if)].concat()
}

fn measure(
    plan: &Arc<LoadPlan>,
    audience: Audience,
    observer: &mut impl RunObserver,
) -> Result<LoadOutcome, Failure> {
    let interrupt =
        interrupt::watch(audience == Audience::Lab).map_err(Failure::nothing_measured)?;
    run::observe(Arc::clone(plan), &interrupt, observer).map_err(|error| no_call(plan, &error))
}

/// Failed calls are results, as in ghz; a run without any call has no result.
fn status(gates: &[JudgedGate], outcome: &LoadOutcome, skipped: u64) -> Result<u8, Failure> {
    if outcome.cancelled {
        return Ok(exit::INTERRUPTED);
    }
    let messages = outcome.streams.as_ref().map_or(0, |streams| streams.sent + streams.received);
    if outcome.ok + outcome.errors.total() + messages > 0 {
        return Ok(gate_status("load", gates));
    }
    Err(Failure::nothing_measured(match &outcome.first_failure {
        Some(reason) => format!("no call ended in the window: {reason}"),
        None if skipped > 0 => {
            format!("no call is left: --skipFirst {skipped} is more than ended in the window")
        }
        None => "no call ended in the window".to_owned(),
    }))
}
