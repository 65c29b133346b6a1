//! Memory: a known allocation, held and released.

use super::bench::Bench;
use super::clockwork::Clockwork;
use super::observe::Calls;
use super::stop::CheckStop;
use bookend_lab::sampler::{SAMPLE_INTERVAL, Sampler};
use bookend_results::calibration::{CalibratedUnit, Calibration, Tolerance};
use serde_json::json;
use std::thread;

/// What is held, bytes: far more than the rest of the process.
const HELD_BYTES: u64 = 256 << 20;

/// What releases it.
const RELEASE: u64 = 1;

/// Readings while it is held.
const SAMPLES: u32 = 5;

/// How far mean and peak may be from it.
const ALLOWED: Tolerance = Tolerance::share(0.05);

/// All calibrations of memory.
///
/// # Errors
/// See [`CheckStop`].
pub fn calibrate(bench: &Bench) -> Result<Vec<Calibration>, CheckStop> {
    let mut server = Clockwork::start(bench, "sleep")?;
    hold(bench, &mut server, RELEASE)?;
    let before_bytes = server.memory_bytes() as f64;
    let whole = Sampler::begin(&server.process);
    hold(bench, &mut server, HELD_BYTES)?;
    let mut sampler = Sampler::begin(&server.process);
    for _ in 0..SAMPLES {
        thread::sleep(SAMPLE_INTERVAL);
        sampler.sample();
    }
    let held = sampler.end();
    hold(bench, &mut server, RELEASE)?;
    let around = whole.end();
    let after_bytes = server.memory_bytes() as f64;
    server.end()?;
    // Between its two readings it has none, so its peak is the kernel's, where that keeps one.
    let kernel_peak = around.end.memory_peak_bytes as f64 - before_bytes;
    let is_kept = kernel_peak > HELD_BYTES as f64 / 2.0;
    let refused = (!is_kept).then(|| "this kernel keeps no peak for a group".to_owned());
    let known = HELD_BYTES as f64;
    Ok(vec![
        row("256 MiB held: mean", known, held.end.memory_mean_bytes as f64 - before_bytes),
        row("256 MiB held: peak", known, held.end.memory_peak_bytes as f64 - before_bytes),
        row("held between two readings: peak", known, kernel_peak).unless(refused),
        row("released again", known, known + after_bytes - before_bytes),
    ])
}

fn hold(bench: &Bench, server: &mut Clockwork, bytes: u64) -> Result<(), CheckStop> {
    let order = json!({ "holdBytes": bytes });
    bench.load(server, &Calls { order, flags: "-c 1 -n 1", ..Calls::default() })?;
    Ok(())
}

fn row(what: &str, known: f64, measured: f64) -> Calibration {
    Calibration::new(("memory", what), CalibratedUnit::Bytes, (known, measured), ALLOWED)
}
