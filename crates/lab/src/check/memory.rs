//! Memory: a known allocation, held and released.

use super::bench::Bench;
use super::clockwork::Clockwork;
use super::observe::Calls;
use super::stop::CheckStop;
use crate::sampler::{SAMPLE_INTERVAL, Sampler};
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
    let whole = Sampler::begin(server.process());
    hold(bench, &mut server, HELD_BYTES)?;
    let mut sampler = Sampler::begin(server.process());
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
    let above = |bytes: Option<u64>| bytes.unwrap_or_default() as f64 - before_bytes;
    let peak = above(around.end.memory_peak_bytes);
    let known = HELD_BYTES as f64;
    let refused = (peak <= known / 2.0).then(|| "this kernel keeps no peak for a group".to_owned());
    Ok(vec![
        row("256 MiB held: mean", known, above(held.end.memory_mean_bytes)),
        row("256 MiB held: peak", known, above(held.end.memory_peak_bytes)),
        row("held between two readings: peak", known, peak).unless(refused),
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
