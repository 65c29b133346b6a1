//! Verdicts: situations that are made, and the word for each.

use super::bench::Bench;
use super::clockwork::Clockwork;
use super::observe::Calls;
use super::relay;
use super::stop::CheckStop;
use crate::control_group::Capability;
use bookend_contract::verdict::{Verdict, verdict};
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance};
use bookend_results::text::percent_text;
use serde_json::{Value, json};
use std::time::Duration;

/// The slow path's delay of each packet.
const RELAY_DELAY: Duration = Duration::from_millis(1);

/// What the generator gets where it is held back, in CPUs.
const HELD_BACK: f64 = 0.1;

/// A situation whose limit is known.
struct Situation {
    name: &'static str,
    order: Value,
    flags: &'static str,
    handler_waits: bool,
    path_waits: bool,
    cpu_time: Option<f64>,
    verdict: Verdict,
}

/// Asks for the verdict of each situation, as often as the bench says.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let mut all = Vec::new();
    for situation in situations() {
        let has_quota = bench.groups.capabilities().of(Capability::CpuQuota).is_some();
        let refused = (situation.cpu_time.is_some() && !has_quota)
            .then(|| "no control group here limits CPU time".to_owned());
        let (mut right, mut disturbances) = (0, Vec::new());
        for _ in 0..if refused.is_some() { 0 } else { bench.repeat } {
            let (word, why) = situation.ask(bench)?;
            right += u32::from(word == situation.verdict);
            if word != situation.verdict {
                disturbances = why;
            }
        }
        let what = ("verdicts", format!("{}: {}", situation.name, situation.verdict));
        let figures = (f64::from(bench.repeat), f64::from(right));
        let row = Calibration::new(what, CalibratedUnit::Count, figures, Tolerance::NONE);
        all.push(row.unless(refused).disturbed_by(&disturbances));
    }
    Ok(all)
}

fn situations() -> [Situation; 4] {
    let waiting = Situation {
        name: "10 ms of waiting",
        order: json!({ "delayUs": 10_000 }),
        flags: "-c 10 -z 400ms",
        handler_waits: true,
        path_waits: false,
        cpu_time: None,
        verdict: Verdict::Waiting,
    };
    [
        Situation {
            name: "50 µs of work",
            order: json!({ "burnUs": 50 }),
            // All are answered by one write, and the server waits for the generator's: with fifty
            // calls, for a fiftieth of the time, where it takes 50 µs to wake up.
            flags: "-c 50 -z 400ms",
            handler_waits: false,
            verdict: Verdict::ServerBound,
            ..waiting.again()
        },
        Situation {
            name: "a tenth of a CPU for the generator",
            order: json!({}),
            // Ten of the periods in which CPU time is rationed.
            flags: "-c 50 -z 1s",
            handler_waits: false,
            cpu_time: Some(HELD_BACK),
            verdict: Verdict::ClientBound,
            ..waiting.again()
        },
        Situation {
            name: "a path that holds packets for 1 ms",
            order: json!({}),
            flags: "-c 1 -z 400ms",
            handler_waits: false,
            path_waits: true,
            verdict: Verdict::PathBound,
            ..waiting.again()
        },
        waiting,
    ]
}

impl Situation {
    fn again(&self) -> Situation {
        Situation { order: self.order.clone(), ..*self }
    }

    /// The verdict on one run, and why: what both ends did, and what else was on their CPUs.
    fn ask(&self, bench: &Bench) -> Result<(Verdict, Vec<String>), CheckStop> {
        let mut server = Clockwork::start(bench, "sleep")?;
        let port = if self.path_waits {
            Some(relay::start(server.port(), RELAY_DELAY).map_err(CheckStop::because)?)
        } else {
            None
        };
        let calls = Calls {
            order: self.order.clone(),
            flags: self.flags,
            cpu_time: self.cpu_time,
            port,
            ..Calls::default()
        };
        let run = bench.load(&mut server, &calls)?;
        server.end()?;
        let server_share = run.server_cpu_ns as f64 / 1e9 / run.seconds();
        let busy_share = run.report.bookend.busy_share();
        let word = verdict(server_share, busy_share, self.handler_waits);
        let [server, generator] = [server_share, busy_share].map(percent_text);
        let why = format!("said {word}, server at {server}, generator busy for {generator}");
        Ok((word, [why].into_iter().chain(run.disturbances).collect()))
    }
}
