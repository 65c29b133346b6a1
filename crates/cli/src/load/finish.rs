//! What becomes of a run's result: its report, its gates, its status.

use super::audience::Audience;
use super::delivery::{deliver, deliver_beside};
use super::observer::Observer;
use super::origin::origin;
use crate::terminal::{Failure, gate_status};
use bookend_contract::exit;
use bookend_contract::fleet::FleetReport;
use bookend_contract::gate::{GateKind, JudgedGate};
use bookend_contract::limit::limit;
use bookend_load::flags::LoadFlags;
use bookend_load::objective::Objective;
use bookend_load::output::OutputFormat;
use bookend_load::plan::ReportedPlan;
use bookend_load::record::LatencyTimeline;
use bookend_load::report;
use bookend_load::run::LoadOutcome;
use std::time::SystemTime;

/// What a run has measured.
pub struct Measured {
    /// What is reported of its plan.
    pub plan: ReportedPlan,
    /// When it began.
    pub started: SystemTime,
    /// What was counted.
    pub outcome: LoadOutcome,
    /// Calls of the window that are not counted.
    pub skipped: u64,
    /// The machines, where there are several.
    pub fleet: Option<Box<FleetReport>>,
}

/// What watches a run that is to be delivered in that format.
pub fn watching(
    flags: &LoadFlags,
    format: OutputFormat,
    audience: Audience,
    window_ns: Option<u64>,
) -> Observer {
    let keeps_latencies = audience == Audience::People && has_latencies_over_time(format);
    Observer::new(audience, flags.live, window_ns, flags.hdr.is_some(), keeps_latencies)
}

/// Prints or writes the result. The number is the exit status.
///
/// # Errors
/// [`Failure`] when it cannot be written, or no call was made.
pub fn finish(
    flags: &LoadFlags,
    format: OutputFormat,
    audience: Audience,
    observer: &Observer,
    measured: Measured,
) -> Result<u8, Failure> {
    let Measured { plan, started, outcome, skipped, fleet } = measured;
    let mut report = report::report_of(&plan, started, &outcome);
    if fleet.is_some() {
        report.bookend.fleet = fleet;
        report.bookend.limit = limit(&report);
    }
    if audience == Audience::People {
        report.bookend.origin = Some(origin());
        let latencies = observer.latencies.as_ref();
        report.bookend.latency_intervals = latencies.and_then(LatencyTimeline::intervals);
    }
    let gates = judged(flags, &outcome);
    report.bookend.gates.clone_from(&gates);
    // The result is printed even if another file cannot be written.
    let beside = deliver_beside(flags, observer.log.as_ref(), outcome.calls.as_ref());
    deliver(flags.output.as_deref(), format, report, outcome.calls.as_ref(), audience)?;
    beside.map_err(Failure::not_delivered)?;
    if let Some(why) = &outcome.template_failure {
        return Err(Failure::usage(format!("{why}: the run ended there")));
    }
    status(&gates, &outcome, skipped)
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
