//! A release run: every suite at one revision, on one machine, in sittings. What is recorded of it
//! says what is left.

use bookend_contract::printable;
use bookend_results::newest_record::newest;
use bookend_results::record::{Facts, Record, file_in};
use bookend_results::suite::{Extent, Overrides, Selection, Suite};
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Longest release run. More than that nobody repeats.
pub const LONGEST: Duration = Duration::from_secs(300 * 60);

/// What all records of a release run have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The last commit that changed anything but generated files.
    pub revision: String,
    /// The kernel, as records name it: `Linux 6.1.0`.
    pub kernel: String,
    /// The model of the CPU as the CPU reports it.
    pub cpu_model: String,
}

/// What a release run has to do.
#[derive(Clone, Debug)]
pub struct ReleaseRun {
    origin: Origin,
    suites: Vec<ReleaseSuite>,
}

#[derive(Clone, Debug)]
struct ReleaseSuite {
    name: String,
    /// How long it took, or is expected to take.
    time: Duration,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Recorded,
    /// In that sitting, from 1.
    Open(usize),
}

impl Origin {
    fn of(facts: &Facts) -> Origin {
        Origin {
            revision: facts.revision.clone().unwrap_or_else(|| "not recorded".to_owned()),
            kernel: facts.machine.kernel.clone(),
            cpu_model: facts.machine.cpu_model.clone(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{} on {}, {}", self.revision, self.cpu_model, self.kernel);
        f.write_str(&printable::line(&line))
    }
}

impl ReleaseRun {
    /// The run whose records are in the folder `into` of `records`. A suite takes what its newest
    /// record says, or its windows where it has none, and `besides` of its name; it is in the first
    /// sitting that has room for it.
    ///
    /// # Errors
    /// A suite cannot be planned, is longer than a sitting, or was recorded with another origin.
    pub fn plan(
        origin: Origin,
        suites: &[Suite],
        (records, into): (&Path, &Path),
        besides: &[(String, Duration)],
        sitting: Duration,
    ) -> Result<ReleaseRun, String> {
        let mut sittings: Vec<Duration> = Vec::new();
        let mut planned = Vec::new();
        for suite in suites {
            let name = suite.name.clone();
            let besides = besides.iter().filter(|(other, _)| *other == name);
            let besides: Duration = besides.map(|(_, time)| *time).sum();
            planned.push(match recorded(into, &name, &origin)? {
                Some(took) => ReleaseSuite {
                    name,
                    time: took.saturating_add(besides),
                    state: State::Recorded,
                },
                None => {
                    let time = expected(suite, records)?.saturating_add(besides);
                    let number = in_a_sitting(&mut sittings, time, sitting).ok_or_else(|| {
                        format!("{name} takes {}, and a sitting is shorter", minutes(time))
                    })?;
                    ReleaseSuite { name, time, state: State::Open(number) }
                }
            });
        }
        Ok(ReleaseRun { origin, suites: planned })
    }

    /// The suites of the next sitting, in their order; empty when all are recorded.
    pub fn next(&self) -> Vec<&str> {
        let is_next = |suite: &&ReleaseSuite| suite.state == State::Open(1);
        self.suites.iter().filter(is_next).map(|suite| suite.name.as_str()).collect()
    }

    /// How long all suites take.
    pub fn total(&self) -> Duration {
        self.suites.iter().map(|suite| suite.time).sum()
    }
}

impl fmt::Display for ReleaseRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Release run of {}", self.origin)?;
        let mut suites: Vec<&ReleaseSuite> = self.suites.iter().collect();
        suites.sort_by_key(|suite| match suite.state {
            State::Recorded => 0,
            State::Open(sitting) => sitting,
        });
        for ReleaseSuite { name, time, state } in suites {
            let state = match state {
                State::Recorded => "recorded".to_owned(),
                State::Open(sitting) => format!("sitting {sitting}"),
            };
            writeln!(f, "  {state:<10}  {:>7}  {}", minutes(*time), printable::line(name))?;
        }
        writeln!(f, "  {:<10}  {:>7}", "in all", minutes(self.total()))
    }
}

/// How long the suite took in this run. `None`: it is not recorded.
fn recorded(into: &Path, suite: &str, origin: &Origin) -> Result<Option<Duration>, String> {
    let Some(file) = file_in(&into.join(suite), Extent::Full) else { return Ok(None) };
    let place = file.display().to_string();
    let facts = Record::read_facts(&file).map_err(|error| format!("{place}: {error}"))?;
    let own = Origin::of(&facts);
    if own != *origin {
        return Err(format!(
            "{place} is of {own}, and this would be {origin}: a release run has one revision, one CPU \
             model and one kernel; move the older records to records/history"
        ));
    }
    Ok(facts.took())
}

fn expected(suite: &Suite, records: &Path) -> Result<Duration, String> {
    let name = &suite.name;
    let plan = suite
        .plan(&Selection::default(), &Overrides::default(), u32::MAX)
        .map_err(|error| format!("{name}: {error}"))?;
    let facts = newest(records, name, Extent::Full);
    let told = facts.and_then(|facts| Some(plan.expected_duration(&facts.plan, facts.took()?)));
    Ok(told.unwrap_or_else(|| plan.least_duration()))
}

/// The number of the first sitting that has room, from 1.
fn in_a_sitting(sittings: &mut Vec<Duration>, time: Duration, longest: Duration) -> Option<usize> {
    if time > longest {
        return None;
    }
    let room = sittings.iter_mut().position(|taken| *taken + time <= longest);
    let index = room.unwrap_or_else(|| {
        sittings.push(Duration::ZERO);
        sittings.len() - 1
    });
    sittings[index] += time;
    Some(index + 1)
}

fn minutes(time: Duration) -> String {
    format!("{} min", time.as_secs().div_ceil(60))
}
