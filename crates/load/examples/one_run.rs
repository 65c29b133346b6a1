//! Measures a server for two seconds and prints what its users have.
//!
//! ```text
//! cargo run --release -p bookend-load --example one_run -- 127.0.0.1:50051
//! ```
use bookend_load::flags::LoadFlags;
use bookend_load::plan::LoadPlan;
use bookend_load::run::run;
use std::error::Error;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:50051".to_owned());
    let flags = LoadFlags::of_words([
        "--insecure",
        "--proto=proto/helloworld.proto",
        "--call=helloworld.Greeter/SayHello",
        r#"--data={"name": "caller {{.RequestNumber}}"}"#,
        "--concurrency=50",
        "--warmup=200ms",
        "--duration=2s",
        &target,
    ])?;
    let plan = LoadPlan::from_flags(&flags, &mut std::io::empty(), 1)?;
    let outcome = run(plan, &AtomicBool::new(false), |edge| eprintln!("window: {edge:?}"))?;
    let rate = outcome.ok as f64 * 1e9 / outcome.window_ns as f64;
    println!("{rate:.0} calls a second, {} failed", outcome.errors.total());
    println!(
        "median {} us, 99 % {} us",
        outcome.latencies.at(50.0) / 1_000,
        outcome.latencies.at(99.0) / 1_000
    );
    Ok(())
}
