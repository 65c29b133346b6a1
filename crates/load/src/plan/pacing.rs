//! What the flags of pacing mean: a schedule of rates, and one of calls in flight.

use crate::flags::pacing::{PacingFlags, Shape};
use crate::pace::{ArrivalProcess, RateSchedule};
use bookend_contract::duration::{nanoseconds, unless_zero};
use bookend_contract::input::MAX_BYTES;
use bookend_payload::error_text::Unreadable;
use bookend_payload::given_file;
use std::path::Path;
use std::time::Duration;

/// Calls in flight that an open loop may have, unless told otherwise: each is a few dozen bytes.
pub const ASYNC_IN_FLIGHT_MAX: u32 = 1 << 20;

/// Steps of a schedule beyond this have no effect that anybody would see.
const STEPS_MAX: u32 = 100_000;

/// When calls are made.
#[derive(Clone, Debug, PartialEq)]
pub enum Loop {
    /// As others end: the calls in flight stay the same.
    Closed,
    /// By a schedule.
    Open(OpenLoop),
}

/// Calls by a schedule of rates, whether or not others have ended.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenLoop {
    /// The rates from the beginning of the window on.
    pub schedule: RateSchedule,
    /// How calls are spread over the time.
    pub arrivals: ArrivalProcess,
    /// From which random arrivals follow.
    pub seed: u64,
}

/// The number of calls in flight from a time on; in an open loop the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConcurrencyStep {
    /// Since the beginning of the window, nanoseconds.
    pub at_ns: u64,
    /// Calls in flight over all connections.
    pub calls: u32,
}

/// Why the flags of pacing mean nothing. Always the user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacingError {
    /// There is no rate by which calls could be made.
    #[error("{0} needs a rate: add --rps, --load-schedule or --rate-file")]
    RateMissing(&'static str),
    /// A schedule without what it takes.
    #[error("{schedule} {shape} needs {flag}: it would never change")]
    StepMissing {
        /// `--load-schedule` or `--concurrency-schedule`.
        schedule: &'static str,
        /// `step` or `line`.
        shape: &'static str,
        /// The flag that is missing.
        flag: &'static str,
    },
    /// A rate that leaves its end behind.
    #[error("{schedule} goes from {start} away from {end}: turn {step} round")]
    WrongWay {
        /// `--load-schedule` or `--concurrency-schedule`.
        schedule: &'static str,
        /// Where it starts.
        start: String,
        /// Where it should end.
        end: String,
        /// The flag of the step.
        step: &'static str,
    },
    /// A schedule that makes no calls.
    #[error("the rate is 0 all the time: no call would ever be made")]
    NoCalls,
    /// A line of the file that is no time and rate.
    #[error("{file}:{line}: {text:?} is not SECONDS,RATE with times that grow")]
    RateLine {
        /// The file as given.
        file: String,
        /// From 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
}

impl Loop {
    /// What the flags mean.
    ///
    /// # Errors
    /// [`PacingError`].
    pub fn from_flags(flags: &PacingFlags) -> Result<Self, PacingError> {
        let Some(schedule) = schedule(flags)? else {
            return match flags {
                flags if flags.is_async => Err(PacingError::RateMissing("--async")),
                flags if flags.arrivals == ArrivalProcess::Poisson => {
                    Err(PacingError::RateMissing("--arrivals poisson"))
                }
                _ => Ok(Self::Closed),
            };
        };
        if schedule.rate_max() == 0.0 {
            return Err(PacingError::NoCalls);
        }
        let seed = flags.seed.unwrap_or_else(|| fastrand::u64(..));
        Ok(Self::Open(OpenLoop { schedule, arrivals: flags.arrivals, seed }))
    }

    /// The schedule, if there is one.
    pub fn open(&self) -> Option<&OpenLoop> {
        match self {
            Self::Closed => None,
            Self::Open(open_loop) => Some(open_loop),
        }
    }
}

fn schedule(flags: &PacingFlags) -> Result<Option<RateSchedule>, PacingError> {
    if let Some(file) = &flags.rate_file {
        return schedule_of_file(file).map(Some);
    }
    let ramp = Ramp {
        schedule: "--load-schedule",
        start: flags.load_start,
        end: Some(flags.load_end).filter(|end| *end > 0.0),
        step: flags.load_step,
        step_flag: "--load-step",
        length: flags.load_step_duration,
        length_flag: "--load-step-duration",
        length_max: unless_zero(flags.load_max_duration),
    };
    match flags.load_schedule {
        Shape::Const => Ok(Some(flags.rps).filter(|rps| *rps > 0.0).map(RateSchedule::constant)),
        Shape::Step => Ok(Some(stairs(&ramp.steps(Shape::Step)?))),
        Shape::Line => line(&ramp).map(Some),
    }
}

/// Each rate until the next one's time.
fn stairs(steps: &[(Duration, f64)]) -> RateSchedule {
    let parts = steps.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[0].1, pair[0].1));
    RateSchedule::new(parts, steps.last().map_or(0.0, |(_, rate)| *rate))
}

/// One slope to its end, and then level. ghz takes a step a second instead.
fn line(ramp: &Ramp) -> Result<RateSchedule, PacingError> {
    ramp.check(Shape::Line)?;
    let (length, last) = ramp.whole_slope();
    Ok(RateSchedule::new([(length, ramp.start, last)], last))
}

/// The rates between two lines of the file change evenly; behind the last line it stays.
fn schedule_of_file(file: &Path) -> Result<RateSchedule, PacingError> {
    let place = file.display().to_string();
    let text = given_file::text(file, MAX_BYTES)?;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let is_heading = number == 1 && line.starts_with(|letter: char| letter.is_alphabetic());
        if line.is_empty() || line.starts_with('#') || is_heading {
            continue;
        }
        let after = points.last().map_or(0.0, |(time_s, _)| *time_s);
        let wrong =
            || PacingError::RateLine { file: place.clone(), line: number, text: line.to_owned() };
        points.push(point(line).filter(|(time_s, _)| *time_s >= after).ok_or_else(wrong)?);
    }
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Err(PacingError::NoCalls);
    };
    let before = (Duration::from_secs_f64(first.0), first.1, first.1);
    let between = points
        .windows(2)
        .map(|pair| (Duration::from_secs_f64(pair[1].0 - pair[0].0), pair[0].1, pair[1].1));
    Ok(RateSchedule::new(std::iter::once(before).chain(between), last.1))
}

/// A moment and the rate there.
fn point(line: &str) -> Option<(f64, f64)> {
    /// Longer than any run, and short enough for a `Duration`.
    const TIME_MAX_S: f64 = 1e9;
    let (time, rate) = line.split_once(',')?;
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| *number >= 0.0);
    let (time_s, rate) = (number(time)?, number(rate)?);
    (time_s <= TIME_MAX_S && rate.is_finite()).then_some((time_s, rate))
}

/// The steps of `--concurrency-schedule`; none where it does not change.
///
/// # Errors
/// [`PacingError`].
pub fn concurrency_steps(flags: &PacingFlags) -> Result<Vec<ConcurrencyStep>, PacingError> {
    let shape = flags.concurrency_schedule;
    if shape == Shape::Const {
        return Ok(Vec::new());
    }
    let ramp = Ramp {
        schedule: "--concurrency-schedule",
        start: f64::from(flags.concurrency_start),
        end: Some(f64::from(flags.concurrency_end)).filter(|end| *end > 0.0),
        step: f64::from(flags.concurrency_step),
        step_flag: "--concurrency-step",
        length: flags.concurrency_step_duration,
        length_flag: "--concurrency-step-duration",
        length_max: unless_zero(flags.concurrency_max_duration),
    };
    Ok(ramp
        .steps(shape)?
        .into_iter()
        .map(|(at, calls)| ConcurrencyStep { at_ns: nanoseconds(at), calls: calls as u32 })
        .collect())
}

/// Something that changes by steps: its flags as numbers.
struct Ramp {
    schedule: &'static str,
    start: f64,
    end: Option<f64>,
    step: f64,
    step_flag: &'static str,
    length: Duration,
    length_flag: &'static str,
    length_max: Option<Duration>,
}

impl Ramp {
    /// The length of one step: of a line, a second.
    fn step_length(&self, shape: Shape) -> Duration {
        if shape == Shape::Line { Duration::from_secs(1) } else { self.length }
    }

    fn check(&self, shape: Shape) -> Result<(), PacingError> {
        let shape_name = if shape == Shape::Line { "line" } else { "step" };
        let missing =
            |flag| PacingError::StepMissing { schedule: self.schedule, shape: shape_name, flag };
        if self.step == 0.0 {
            return Err(missing(self.step_flag));
        }
        if self.step_length(shape).is_zero() {
            return Err(missing(self.length_flag));
        }
        match self.end {
            Some(end) if (end - self.start) * self.step < 0.0 => Err(PacingError::WrongWay {
                schedule: self.schedule,
                start: self.start.to_string(),
                end: end.to_string(),
                step: self.step_flag,
            }),
            _ => Ok(()),
        }
    }

    /// When each value begins. The last one is the end, or what it has come to when the longest
    /// time is over.
    fn steps(&self, shape: Shape) -> Result<Vec<(Duration, f64)>, PacingError> {
        self.check(shape)?;
        let length = self.step_length(shape);
        let mut steps = vec![(Duration::ZERO, self.start)];
        for number in 1..STEPS_MAX {
            let at = length.saturating_mul(number);
            let value = (self.start + self.step * f64::from(number)).max(0.0);
            if self.length_max.is_some_and(|length_max| at >= length_max) {
                let last = self.end.map(|end| (at, end));
                steps.extend(last.or(Some((at, value))));
                break;
            }
            let is_past = self.end.is_some_and(|end| (value - end) * self.step >= 0.0);
            steps.push((at, if is_past { self.end.unwrap_or(value) } else { value }));
            if is_past || value == 0.0 {
                break;
            }
        }
        Ok(steps)
    }

    /// How long one slope lasts, and the value at its end.
    fn whole_slope(&self) -> (Duration, f64) {
        /// Longer than any run.
        const FOR_EVER: Duration = Duration::from_secs(1_000_000_000);
        let until = |value: f64| {
            let seconds = (value - self.start) / self.step;
            Duration::try_from_secs_f64(seconds).map_or(FOR_EVER, |time| time.min(FOR_EVER))
        };
        let to_its_end = match self.end {
            Some(end) => until(end),
            None if self.step < 0.0 => until(0.0),
            None => FOR_EVER,
        };
        match self.length_max {
            Some(length_max) if length_max < to_its_end => {
                let last = self.start + self.step * length_max.as_secs_f64();
                (length_max, last)
            }
            _ => (to_its_end, self.start + self.step * to_its_end.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        flags: PacingFlags,
    }

    fn flags(line: &str) -> PacingFlags {
        let words = std::iter::once("load").chain(line.split_whitespace());
        Alone::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).flags
    }

    fn rates(line: &str, times_s: &[f64]) -> Vec<f64> {
        let Loop::Open(open_loop) = Loop::from_flags(&flags(line)).unwrap() else {
            panic!("{line} is a schedule");
        };
        times_s.iter().map(|time_s| open_loop.schedule.rate_at(*time_s)).collect()
    }

    fn error(line: &str) -> String {
        Loop::from_flags(&flags(line)).unwrap_err().to_string()
    }

    #[test]
    fn without_a_rate_the_loop_is_closed() {
        for line in ["", "--rps 0", "--load-schedule=const"] {
            assert_eq!(Loop::from_flags(&flags(line)), Ok(Loop::Closed), "{line}");
        }
        assert_eq!(rates("-r 2000", &[0.0, 99.0]), [2_000.0, 2_000.0]);
    }

    #[test]
    fn steps_go_to_their_end_and_stay_there() {
        let up = "--load-schedule=step --load-start=50 --load-step=10 --load-step-duration=5s";
        let times_s = [0.0, 4.9, 5.0, 24.9, 25.0, 999.0];
        assert_eq!(
            rates(&format!("{up} --load-end=100"), &times_s),
            [50.0, 50.0, 60.0, 90.0, 100.0, 100.0]
        );
        let limited = format!("{up} --load-max-duration=12s");
        assert_eq!(rates(&limited, &times_s), [50.0, 50.0, 60.0, 80.0, 80.0, 80.0]);
        let to_its_end = format!("{limited} --load-end=150");
        assert_eq!(rates(&to_its_end, &times_s), [50.0, 50.0, 60.0, 150.0, 150.0, 150.0]);
    }

    #[test]
    fn a_line_is_one_slope_up_or_down() {
        let up = "--load-schedule=line --load-start=200 --load-step=2 --load-end=300";
        assert_eq!(rates(up, &[0.0, 10.0, 50.0, 99.0]), [200.0, 220.0, 300.0, 300.0]);
        let down = "--load-schedule=line --load-start=200 --load-step=-2";
        assert_eq!(rates(down, &[25.0, 99.0, 200.0]), [150.0, 2.0, 0.0]);
        let limited = format!("{down} --load-max-duration=10s");
        assert_eq!(rates(&limited, &[5.0, 99.0]), [190.0, 180.0]);
    }

    #[test]
    fn calls_in_flight_change_by_steps() {
        let line = "--concurrency-schedule=step --concurrency-start=5 --concurrency-step=5 \
                    --concurrency-end=12 --concurrency-step-duration=5s";
        let steps: Vec<_> = concurrency_steps(&flags(line))
            .unwrap()
            .iter()
            .map(|step| (step.at_ns / 1_000_000_000, step.calls))
            .collect();
        assert_eq!(steps, [(0, 5), (5, 10), (10, 12)]);
        assert_eq!(concurrency_steps(&flags("")), Ok(Vec::new()));
    }

    #[test]
    fn what_makes_no_sense_is_said_with_its_flag() {
        assert!(error("--async").contains("--rps"));
        assert!(error("--arrivals poisson").contains("--arrivals poisson needs a rate"));
        assert!(error("--load-schedule step --load-start 5").contains("--load-step"));
        let no_length = "--load-schedule step --load-start 5 --load-step 1";
        assert!(error(no_length).contains("--load-step-duration"));
        let away = "--load-schedule line --load-start 5 --load-step -1 --load-end 9";
        assert!(error(away).contains("turn --load-step round"), "{}", error(away));
        let none = "--load-schedule line --load-start 0 --load-step -1";
        assert!(error(none).contains("no call"), "{}", error(none));
    }

    fn of_file(text: &str) -> Result<RateSchedule, PacingError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        schedule_of_file(file.path())
    }

    #[test]
    fn a_file_says_the_rate_at_moments_and_between_them_it_changes_evenly() {
        let schedule = of_file("time_s,rate\n# warm\n0,100\n10,100\n10,500\n20, 0\n").unwrap();
        let times_s = [0.0, 9.9, 10.0, 15.0, 25.0];
        assert_eq!(
            times_s.map(|time_s| schedule.rate_at(time_s)),
            [100.0, 100.0, 500.0, 250.0, 0.0]
        );
    }

    #[test]
    fn a_file_that_an_editor_has_marked_is_read_like_others() {
        let schedule = of_file("\u{feff}0,100\r\n10,200\r\n").unwrap();
        assert_eq!(schedule.rate_at(5.0), 150.0);
    }

    #[test]
    fn a_line_of_the_file_that_says_no_rate_is_named() {
        for text in ["0,1\n5", "0,1\n-1,5", "9,1\n3,1", "0,1\n1,-1", "0,1\n1,x"] {
            let error = of_file(text).unwrap_err().to_string();
            assert!(error.contains(":2: "), "{error}");
        }
        assert_eq!(of_file("\n"), Err(PacingError::NoCalls));
    }
}
