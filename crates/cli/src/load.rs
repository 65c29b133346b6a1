//! `bookend load`: from flags to a result on standard output.

mod arguments;
mod interrupt;
mod not_built;

pub use arguments::LoadArguments;

use crate::failure::{Failure, complain};
use bookend_load::contract::environment::CONTRACT;
use bookend_load::contract::exit;
use bookend_load::contract::lines::Line;
use bookend_load::contract::report::{LoadReport, Split};
use bookend_load::descriptors;
use bookend_load::options::{Flags, Options};
use bookend_load::output;
use bookend_load::plan::LoadPlan;
use bookend_load::prepare::Prepared;
use bookend_load::run::{self, WindowEdge};
use bookend_load::schema::Method;
use bookend_load::summary::{self, Ended};
use bookend_load::targets::TargetNames;
use std::env;
use std::time::SystemTime;

/// Measures, then prints or writes the result. The number is the exit status.
///
/// # Errors
/// [`Failure`] when the flags make no sense or nothing could be measured.
pub fn start(arguments: LoadArguments) -> Result<u8, Failure> {
    let audience = Audience::from_environment();
    let flags = arguments.into_flags(Flags::default())?;
    let mut options = Options::from_flags(flags).map_err(Failure::usage)?;
    if let Some(file) = &options.output {
        output::check(file).map_err(Failure::usage)?;
    }
    let mut input = std::io::stdin().lock();
    let prepared = Prepared::read(&options, &mut input).map_err(Failure::unprepared)?;
    drop(input);
    let method = unary(prepared.method)?;
    let targets = options.find_targets().map_err(Failure::usage)?;
    let mut plan = options
        .to_plan(&method, prepared.payload, targets, cpus())
        .map_err(Failure::usage)?;
    if let Some(refusal) = plan.fall_back() {
        eprintln!("bookend load: {refusal}; epoll is used instead");
    }
    descriptors::provide(plan.connections, plan.threads).map_err(Failure::nothing_measured)?;
    let ended = measure(plan, &options.targets, audience)?;
    let report = summary::build_report(&options, &ended);
    deliver(&options, report, audience)?;
    status(&ended)
}

fn unary(method: Method) -> Result<Method, Failure> {
    match method.client_streaming || method.server_streaming {
        false => Ok(method),
        true => Err(Failure::usage(format!(
            "{} is a streaming method, which is not built yet: calls are unary so far",
            method.path
        ))),
    }
}

/// Who reads standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    People,
    /// The lab, which reads the contract's lines.
    Lab,
}

impl Audience {
    fn from_environment() -> Audience {
        match env::var_os(CONTRACT) {
            Some(value) if value == "1" => Audience::Lab,
            _ => Audience::People,
        }
    }
}

/// The processors of this process; where the system does not say, one.
fn cpus() -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cpus).unwrap_or(u32::MAX)
}

fn measure(plan: LoadPlan, targets: &TargetNames, audience: Audience) -> Result<Ended, Failure> {
    let interrupt =
        interrupt::watch(audience == Audience::Lab).map_err(Failure::nothing_measured)?;
    let (threads, driver) = (plan.threads, plan.driver);
    let started = SystemTime::now();
    let outcome = run::run(plan, &interrupt, |progress| {
        if audience == Audience::Lab {
            announce(progress);
        }
    });
    let outcome = outcome
        .map_err(|error| Failure::nothing_measured(format!("no call to {targets}: {error}")))?;
    Ok(Ended {
        started,
        threads,
        driver,
        outcome,
    })
}

fn announce(progress: WindowEdge) {
    let line = match progress {
        WindowEdge::Start => Line::WindowStart,
        WindowEdge::End => Line::WindowEnd,
    };
    // If the lab is gone, the closed standard input ends the run.
    let _ = output::write(&format!("{line}\n"), None);
}

fn deliver(options: &Options, report: LoadReport, audience: Audience) -> Result<(), Failure> {
    let (text, file) = match audience {
        Audience::People => (
            output::render(&report, options.format),
            options.output.as_deref(),
        ),
        Audience::Lab => (lines(report), None),
    };
    let Err(error) = output::write(&text, file) else {
        return Ok(());
    };
    // What was measured must not be lost: it goes to standard output, or else to standard error.
    let line = match file {
        Some(_) if output::write(&text, None).is_ok() => {
            format!("{error}: the result is on standard output")
        }
        _ => {
            complain(text.trim_end());
            error.to_string()
        }
    };
    Err(Failure::not_delivered(line))
}

/// The contract's lines of a result: the parts of calls with connections of their own, then all.
fn lines(report: LoadReport) -> String {
    let parts = report.bookend.split.iter().flat_map(Split::parts);
    let notes = parts.flat_map(|(name, part)| {
        let note = |figure: &str, value_ns: u64| Line::Note {
            name: format!("{name}_{figure}_ns"),
            value: value_ns as f64,
        };
        [
            note("mean", part.mean_ns),
            note("p50", part.p50_ns),
            note("p99", part.p99_ns),
        ]
    });
    let notes: String = notes.map(|note| format!("{note}\n")).collect();
    format!("{notes}{}\n", Line::Report(Box::new(report)))
}

/// Failed calls are results, as in ghz; no call at all is none.
fn status(ended: &Ended) -> Result<u8, Failure> {
    let outcome = &ended.outcome;
    if outcome.cancelled {
        return Ok(exit::INTERRUPTED);
    }
    if outcome.ok + outcome.errors.total() > 0 {
        return Ok(exit::MEASURED);
    }
    Err(Failure::nothing_measured(match &outcome.first_failure {
        Some(reason) => format!("no call ended in the window: {reason}"),
        None => "no call ended in the window".to_owned(),
    }))
}
