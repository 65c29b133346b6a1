//! Raises the rate of an open loop step by step until the 99th percentile is above five
//! milliseconds, and shows each run while it goes on.
//!
//! ```text
//! cargo run --release -p bookend-load --example steps -- 127.0.0.1:50051
//! ```
use bookend_load::flags::LoadFlags;
use bookend_load::live;
use bookend_load::objective::Objective;
use bookend_load::pace::{ArrivalProcess, RateSchedule};
use bookend_load::plan::LoadPlan;
use bookend_load::plan::pacing::{Loop, OpenLoop};
use bookend_load::record::RunInterval;
use bookend_load::run::{RunObserver, WindowEdge, observe};
use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Prints a line a second.
struct Lines;

impl RunObserver for Lines {
    fn edge(&mut self, _: WindowEdge) {}

    fn interval_length(&self) -> Option<Duration> {
        Some(live::INTERVAL)
    }

    fn interval(&mut self, interval: &RunInterval) {
        eprintln!("{}", live::text_line(interval));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:50051".to_owned());
    let objective: Objective = "p99<5ms,errors<0.1%".parse()?;
    let flags = LoadFlags::of_words([
        "--insecure",
        "--proto=proto/helloworld.proto",
        "--call=helloworld.Greeter/SayHello",
        "--concurrency=10000",
        "--duration=2s",
        &target,
    ])?;
    let base = LoadPlan::from_flags(&flags, &mut std::io::empty(), 1)?;
    for rate in (1..).map(|step| f64::from(step) * 10_000.0) {
        let open_loop = OpenLoop {
            schedule: RateSchedule::constant(rate),
            arrivals: ArrivalProcess::Poisson,
            seed: 1,
        };
        let plan = LoadPlan { pacing: Loop::Open(open_loop), ..base.clone() };
        let outcome = observe(plan, &AtomicBool::new(false), &mut Lines)?;
        if let Some(missed) = objective.first_unmet(&outcome) {
            println!("{rate:.0} calls a second are too many: {missed}");
            return Ok(());
        }
    }
    Ok(())
}
