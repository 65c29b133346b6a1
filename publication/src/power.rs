//! What difference a comparison sees, from comparisons of servers whose difference is known.
//!
//! A [`PowerComparison`] is a race that was run for this: of equal servers, or of one that burns a
//! known time in each call. Its starts are kept with all rounds, so that shorter starts and fewer
//! or more of them can be asked about as well. A [`PowerStudy`] answers for two intervals: that of
//! races, and that of suites, for which a start is a round.

mod page;
mod resampling;

use bookend_results::csv;
use bookend_results::race::{BLOCK_LAPS, Race, RaceError, RaceRound, STARTS_MIN, Standing};
use bookend_results::statistics::{ConfidenceSequence, Interval, StartMeans, paired_ratio};
use std::num::ParseFloatError;

/// What a record of such comparisons begins with.
pub const POWER_HEADING: &str = "slowed_percent,burnt_ns,call_ns,lap_ms,machine,ratios";

/// A comparison of two servers whose difference is known.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerComparison {
    /// By how much the second server was to be slower, percent; 0: they are equal.
    pub slowed_percent: f64,
    /// What it burns in each call, nanoseconds.
    pub burnt_ns: f64,
    /// CPU time of a call of the first server in this comparison, nanoseconds.
    pub call_ns: f64,
    /// Length of a lap, milliseconds.
    pub lap_ms: u64,
    /// Where it was run. It has no comma.
    pub machine: String,
    /// Calls a CPU-second of the second server over those of the first: a ratio a round, the
    /// rounds of a start together.
    pub starts: Vec<Vec<f64>>,
}

/// Comparisons that were kept.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerStudy {
    comparisons: Vec<PowerComparison>,
}

/// Why a text keeps no comparisons.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PowerStudyError {
    /// It begins otherwise.
    #[error("it does not begin with {POWER_HEADING}")]
    Heading,
    /// The line of this number, counted from 1, is no comparison.
    #[error("line {0} is no comparison of two servers: {1}")]
    Line(usize, String),
    /// Not all comparisons had laps of one length, so their rounds are not alike.
    #[error("its comparisons had laps of different lengths")]
    Laps,
    /// It has no comparison.
    #[error("no comparison is kept in it")]
    Empty,
}

/// Whose interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// That of the mean of starts, which may be looked at at any time.
    Race,
    /// That of the median of rounds, which are starts here.
    Suite,
}

impl PowerComparison {
    /// What a race of two servers came to. The second one `burnt_ns` more a call, by which it was
    /// to be slower by `slowed_percent`.
    ///
    /// # Errors
    /// A round yields no ratio.
    pub fn of_race(
        race: &Race,
        (slowed_percent, burnt_ns): (f64, f64),
        machine: &str,
    ) -> Result<PowerComparison, RaceError> {
        let ratio = |round: &RaceRound| {
            let mut standing = Standing::default();
            standing.push(round)?;
            Ok(standing.cost_ratio())
        };
        let start = |rounds: &Vec<_>| rounds.iter().map(ratio).collect::<Result<Vec<_>, _>>();
        let starts = race.starts.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        Ok(PowerComparison {
            slowed_percent,
            burnt_ns,
            call_ns: 1e9 / race.total(0, None).calls_per_cpu_second(),
            lap_ms: race.lap_ms,
            machine: machine.replace(',', ";"),
            starts: starts.into_iter().filter(|rounds| !rounds.is_empty()).collect(),
        })
    }

    /// The line that a record has of it, without its end.
    pub fn line(&self) -> String {
        let rounds = |start: &Vec<f64>| {
            start.iter().map(|ratio| format!("{ratio:.5}")).collect::<Vec<_>>().join(" ")
        };
        let starts: Vec<String> = self.starts.iter().map(rounds).collect();
        csv::line([
            self.slowed_percent.to_string(),
            format!("{:.1}", self.burnt_ns),
            format!("{:.1}", self.call_ns),
            self.lap_ms.to_string(),
            self.machine.clone(),
            starts.join(";"),
        ])
    }

    fn parse(line: &str) -> Result<PowerComparison, String> {
        let fields: Vec<&str> = line.split(',').collect();
        let [slowed, burnt, call, lap_ms, machine, ratios] = fields[..] else {
            return Err(format!("{} fields", fields.len()));
        };
        let number = |text: &str| {
            let number = text.parse().map_err(|error: ParseFloatError| error.to_string())?;
            let is_known = f64::is_finite(number) && number >= 0.0;
            is_known.then_some(number).ok_or_else(|| format!("{text} is not possible"))
        };
        let ratio = |text: &str| {
            let ratio = number(text)?;
            if ratio > 0.0 { Ok(ratio) } else { Err("a ratio of 0".to_owned()) }
        };
        let start = |rounds: &str| rounds.split(' ').map(ratio).collect::<Result<Vec<_>, _>>();
        Ok(PowerComparison {
            slowed_percent: number(slowed)?,
            burnt_ns: number(burnt)?,
            call_ns: number(call)?,
            lap_ms: lap_ms.parse().map_err(|_| format!("{lap_ms} milliseconds"))?,
            machine: machine.to_owned(),
            starts: ratios.split(';').map(start).collect::<Result<Vec<_>, _>>()?,
        })
    }

    /// By how much the second server is slower, as a share of what a call of the first costs.
    fn known_share(&self) -> f64 {
        self.burnt_ns / self.call_ns
    }

    /// For how long calls are made in `rounds` rounds of a start, both servers together, seconds.
    fn call_seconds(&self, rounds: usize) -> f64 {
        (rounds * BLOCK_LAPS) as f64 * self.lap_ms as f64 / 1e3
    }

    /// The logarithms of the ratios of all starts that have at least `rounds` rounds, over their
    /// first `rounds`.
    fn start_means(&self, rounds: usize) -> Vec<f64> {
        let mut means = StartMeans::default();
        let whole = self.starts.iter().filter_map(|start| start.get(..rounds));
        let logarithms = |start: &[f64]| start.iter().map(|ratio| ratio.ln()).collect::<Vec<_>>();
        whole.filter_map(|start| means.of_start(&logarithms(start))).collect()
    }
}

impl PowerStudy {
    /// Reads a record: [`POWER_HEADING`], then a comparison a line.
    ///
    /// # Errors
    /// See [`PowerStudyError`].
    pub fn parse(record: &str) -> Result<PowerStudy, PowerStudyError> {
        let mut lines = record.lines().zip(1..);
        if lines.next().is_none_or(|(heading, _)| heading != POWER_HEADING) {
            return Err(PowerStudyError::Heading);
        }
        let comparison = |(line, number): (&str, usize)| {
            PowerComparison::parse(line).map_err(|error| PowerStudyError::Line(number, error))
        };
        let comparisons = lines.map(comparison).collect::<Result<Vec<_>, _>>()?;
        let first = comparisons.first().ok_or(PowerStudyError::Empty)?;
        if comparisons.iter().any(|one| one.lap_ms != first.lap_ms) {
            return Err(PowerStudyError::Laps);
        }
        Ok(PowerStudy { comparisons })
    }

    /// By how much servers were slowed, percent, each once and in ascending order.
    fn slowdowns(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.comparisons.iter().map(|one| one.slowed_percent).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    fn slowed_by(&self, percent: f64) -> Vec<&PowerComparison> {
        self.comparisons.iter().filter(|one| one.slowed_percent == percent).collect()
    }
}

impl Method {
    /// The interval of the ratio from the logarithms of starts. `None`: there are too few.
    fn interval(self, starts: &[f64]) -> Option<Interval> {
        match self {
            Method::Race => {
                let mut sequence = ConfidenceSequence::of_starts();
                starts.iter().for_each(|mean| sequence.push(*mean));
                let interval = sequence.interval().filter(|_| sequence.count() >= STARTS_MIN)?;
                Some(Interval { low: interval.low.exp(), high: interval.high.exp() })
            }
            Method::Suite => {
                let pairs: Vec<(f64, f64)> = starts.iter().map(|mean| (mean.exp(), 1.0)).collect();
                paired_ratio(&pairs).ok()?.interval
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_results::race::{Block, RaceCell, RaceLap, RaceServerName};
    use bookend_results::suite::TestedEnd;

    /// A race whose second server costs `more` times as much, with some noise.
    fn race(more: f64, starts: usize) -> Race {
        let noise = |start: usize, round: usize| 1.0 + ((start * 7 + round * 3) % 5) as f64 / 200.0;
        let block = |cpu_share: f64| -> Block {
            let lap = |server: usize| {
                let cpu_ns = if server == 0 { 5e7 } else { 5e7 * cpu_share } as u64;
                RaceLap { server, ok: 10_000, failed: 0, length_ns: 100, cpu_ns, rated: None }
            };
            [0, 1, 1, 0].map(lap)
        };
        let start = |start: usize| {
            (0..4).map(|round| vec![block(more * noise(start, round))]).collect::<Vec<_>>()
        };
        let server = |name: &str| RaceServerName { name: name.to_owned(), command: String::new() };
        Race {
            tested: TestedEnd::Server,
            servers: ["one", "other"].map(server).to_vec(),
            cells: vec![RaceCell { connections: 1, concurrency: 100 }],
            rps: None,
            lap_ms: 100,
            margin: 0.01,
            seed: 1,
            doubts: Vec::new(),
            functions: None,
            machine: None,
            build: None,
            command: None,
            started: None,
            starts: (0..starts).map(start).collect(),
            dropped: Vec::new(),
        }
    }

    #[test]
    fn the_interval_of_a_comparison_is_that_which_its_race_prints() {
        let race = race(1.03, 12);
        let comparison = PowerComparison::of_race(&race, (3.0, 150.0), "two CPUs, Linux").unwrap();
        let printed = race.standing().unwrap().cost_interval().unwrap();
        let known = Method::Race.interval(&comparison.start_means(4)).unwrap();
        assert!((known.low - printed.low).abs() < 1e-9, "{known:?} {printed:?}");
        assert!((known.high - printed.high).abs() < 1e-9, "{known:?} {printed:?}");
        assert_eq!((comparison.call_ns, comparison.known_share()), (5000.0, 0.03));
    }

    #[test]
    fn too_few_starts_have_no_interval() {
        let starts = [0.01, 0.02, 0.0, 0.01, 0.02, 0.0, 0.01];
        assert_eq!(Method::Race.interval(&starts), None);
        assert_eq!(Method::Suite.interval(&starts[..5]), None);
        assert!(Method::Suite.interval(&starts).unwrap().contains(1.01));
    }

    #[test]
    fn a_comparison_comes_back_from_its_line() {
        let comparison = PowerComparison {
            slowed_percent: 3.0,
            burnt_ns: 150.5,
            call_ns: 5000.0,
            lap_ms: 100,
            machine: "EPYC; 2 CPUs; Linux 6.1".to_owned(),
            starts: vec![vec![0.97, 0.96512], vec![0.98]],
        };
        let line = comparison.line();
        let expected =
            "3,150.5,5000.0,100,EPYC; 2 CPUs; Linux 6.1,0.97000 0.96512;0.98000".to_owned();
        assert_eq!(line, expected);
        let study = PowerStudy::parse(&format!("{POWER_HEADING}\n{line}\n")).unwrap();
        assert_eq!(study.comparisons, [comparison]);
    }

    #[test]
    fn what_keeps_no_comparison_is_refused_with_its_line() {
        let refused = |line: &str| {
            let error = PowerStudy::parse(&format!("{POWER_HEADING}\n{line}\n")).unwrap_err();
            error.to_string()
        };
        for line in ["", "3,1,2", "x,1,2,100,m,0.9", "3,1,2,100,m,0.9 nan", "3,1,2,100,m,0"] {
            assert!(refused(line).starts_with("line 2 is no comparison"), "{line}");
        }
        let laps = format!("{POWER_HEADING}\n0,0,2,100,m,0.9\n0,0,2,200,m,0.9\n");
        assert_eq!(PowerStudy::parse(&laps), Err(PowerStudyError::Laps));
        assert_eq!(PowerStudy::parse("a,b\n"), Err(PowerStudyError::Heading));
        let none = PowerStudy::parse(&format!("{POWER_HEADING}\n"));
        assert_eq!(none, Err(PowerStudyError::Empty));
    }
}
