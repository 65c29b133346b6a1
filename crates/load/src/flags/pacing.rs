//! The flags that say when calls are made, as they are typed.

use super::number::whole;
use crate::pace::ArrivalProcess;
use bookend_contract::duration;
use bookend_payload::error_text::choice;
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
    /// By that amount each second.
    Line,
}

/// When calls are made: by default as soon as others end.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct PacingFlags {
    /// Calls per second over all connections; 0 sets no rate
    #[arg(
        short, long, value_name = "RATE", value_parser = rate, default_value = "0",
        allow_negative_numbers = true, help_heading = "Rate and duration"
    )]
    pub rps: f64,
    /// Keep the rate however many calls are in flight, beyond --concurrency
    #[arg(long = "async", help_heading = "Rate and duration", hide_short_help = true)]
    pub is_async: bool,
    /// How the rate changes: const, step or line
    #[arg(
        long, value_name = "SHAPE", value_parser = choice::<Shape>, default_value = "const",
        help_heading = "Schedule", hide_short_help = true
    )]
    pub load_schedule: Shape,
    /// First rate of step and line
    #[arg(
        long, value_name = "RATE", value_parser = rate, default_value = "0",
        allow_negative_numbers = true, help_heading = "Schedule", hide_short_help = true
    )]
    pub load_start: f64,
    /// Signed change per step, or second of a line
    #[arg(
        long, value_name = "RATE", value_parser = finite, default_value = "0",
        allow_negative_numbers = true, help_heading = "Schedule", hide_short_help = true
    )]
    pub load_step: f64,
    /// Last rate of step and line
    #[arg(
        long, value_name = "RATE", value_parser = rate, default_value = "0",
        allow_negative_numbers = true, help_heading = "Schedule", hide_short_help = true
    )]
    pub load_end: f64,
    /// Length of each step
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Schedule", hide_short_help = true
    )]
    pub load_step_duration: Duration,
    /// Stop changing after this time; 0 never stops
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Schedule", hide_short_help = true
    )]
    pub load_max_duration: Duration,
    /// Rates from a file of lines SECONDS,RATE; linear in between
    #[arg(
        long, value_name = "FILE", conflicts_with_all = ["rps", "load_schedule"],
        help_heading = "Schedule", hide_short_help = true
    )]
    pub rate_file: Option<PathBuf>,
    /// Spacing of calls: even or poisson
    #[arg(
        long, value_name = "HOW", value_parser = choice::<ArrivalProcess>, default_value = "even",
        help_heading = "Schedule", hide_short_help = true
    )]
    pub arrivals: ArrivalProcess,
    /// Seed of random arrivals and data [default: a new one]
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, help_heading = "Schedule",
        hide_short_help = true
    )]
    pub seed: Option<u64>,

    /// How -c changes: const, step or line
    #[arg(
        long, value_name = "SHAPE", value_parser = choice::<Shape>, default_value = "const",
        help_heading = "Schedule", hide_short_help = true
    )]
    pub concurrency_schedule: Shape,
    /// First -c of step and line
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 0,
        allow_negative_numbers = true, help_heading = "Schedule", hide_short_help = true
    )]
    pub concurrency_start: u32,
    /// Last -c of step and line
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 0,
        allow_negative_numbers = true, help_heading = "Schedule", hide_short_help = true
    )]
    pub concurrency_end: u32,
    /// Signed change per step, or second of a line
    #[arg(
        long, value_name = "N", value_parser = whole::<i32>, default_value_t = 1,
        allow_negative_numbers = true, help_heading = "Schedule", hide_short_help = true
    )]
    pub concurrency_step: i32,
    /// Length of each step
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Schedule", hide_short_help = true
    )]
    pub concurrency_step_duration: Duration,
    /// Stop changing after this time; 0 never stops
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Schedule", hide_short_help = true
    )]
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
