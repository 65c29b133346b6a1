//! The flags that say when calls are made, as they are typed.

use super::number::whole;
use crate::error_text::choice;
use crate::pace::ArrivalProcess;
use bookend_contract::duration;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// How a rate, or the number of calls in flight, changes in the course of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// It does not.
    #[default]
    Const,
    /// In steps of a length each.
    Step,
    /// By so much a second.
    Line,
}

/// When calls are made: by default as soon as others end.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct PacingFlags {
    /// Calls a second over all connections, 0 is as many as there is room for
    #[arg(
        short, long, value_name = "RATE", value_parser = rate, default_value = "0",
        allow_negative_numbers = true
    )]
    pub rps: f64,
    /// Make calls by the rate alone, however many are in flight: --concurrency is no limit
    #[arg(long = "async")]
    pub is_async: bool,
    /// How the rate changes: const, step, line
    #[arg(long, value_name = "SHAPE", value_parser = choice::<Shape>, default_value = "const")]
    pub load_schedule: Shape,
    /// The first rate of step and line
    #[arg(
        long, value_name = "RATE", value_parser = rate, default_value = "0",
        allow_negative_numbers = true
    )]
    pub load_start: f64,
    /// How much the rate changes with each step, or each second of a line; may be below zero
    #[arg(
        long, value_name = "RATE", value_parser = finite, default_value = "0",
        allow_negative_numbers = true
    )]
    pub load_step: f64,
    /// The last rate of step and line
    #[arg(
        long, value_name = "RATE", value_parser = rate, default_value = "0",
        allow_negative_numbers = true
    )]
    pub load_end: f64,
    /// The length of each step
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub load_step_duration: Duration,
    /// How long the rate changes at most
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub load_max_duration: Duration,
    /// Rates from a file, whose lines are SECONDS,RATE: the rate changes evenly between two of them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rps", "load_schedule"])]
    pub rate_file: Option<PathBuf>,
    /// How calls are spread over the time: even, or poisson, which is at random
    #[arg(
        long, value_name = "HOW", value_parser = choice::<ArrivalProcess>, default_value = "even"
    )]
    pub arrivals: ArrivalProcess,
    /// Number from which random arrivals and random data follow [default: a new one]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub seed: Option<u64>,

    /// How the number of calls in flight changes (with a rate, how many there may be): const,
    /// step, line
    #[arg(long, value_name = "SHAPE", value_parser = choice::<Shape>, default_value = "const")]
    pub concurrency_schedule: Shape,
    /// Calls in flight at first, of step and line
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub concurrency_start: u32,
    /// Calls in flight at last, of step and line
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub concurrency_end: u32,
    /// Calls in flight that each step adds, or each second of a line; may be below zero
    #[arg(
        long, value_name = "N", value_parser = whole::<i32>, default_value_t = 1,
        allow_negative_numbers = true
    )]
    pub concurrency_step: i32,
    /// The length of each step
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub concurrency_step_duration: Duration,
    /// How long the number of calls in flight changes at most
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub concurrency_max_duration: Duration,
}

/// Reads a rate, which is not below zero.
///
/// # Errors
/// It is no number, or below zero.
pub fn rate(text: &str) -> Result<f64, String> {
    match finite(text)? {
        rate if rate < 0.0 => Err("a rate is not below zero".to_owned()),
        rate => Ok(rate),
    }
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "not a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_numbers_that_are_not_below_zero() {
        assert_eq!([rate("20000"), rate("0.5"), rate("0")], [Ok(20_000.0), Ok(0.5), Ok(0.0)]);
        for text in ["-1", "inf", "NaN", "1e999", "", "ten"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
