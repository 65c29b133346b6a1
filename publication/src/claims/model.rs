//! A deterministic model of a server that waits: the result of a run in which only the waiting
//! takes time.
//!
//! Callers, each with one call at a time, share a fixed number of calls. The server has workers and
//! a queue; a call that finds neither free is rejected. A silent rejection sends no answer, and the
//! caller waits until its time-out. A prompt one fails the call at once. The server does not learn
//! that a caller gave up, so a worker serves every call in the queue. Of the events at one moment,
//! workers come first: they take from the queue before new calls look for a place in it.

use super::subject_name::SubjectName;
use crate::from_text;
use bookend_results::suite::Case;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU64;
use toml::Spanned;

/// Most calls of a model: ten times the largest published run. The time of a prediction grows with
/// them.
const CALLS_MAX: u64 = 1_000_000;

/// A server and its callers in a published run: a table `[[models]]` of `claims.toml`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name.
    pub id: Spanned<String>,
    /// What is modelled, for a reader.
    pub about: String,
    /// Calls that are served at the same time. `None`: every call at once.
    pub workers: Option<NonZeroU64>,
    /// Calls that may wait for a worker. `None`: any number.
    pub queue: Option<u64>,
    /// How a rejected call ends for its caller.
    pub rejection: Rejection,
    /// The time to serve a call, microseconds.
    #[serde(rename = "service", deserialize_with = "from_text::micros")]
    pub service_us: u64,
    /// Callers, each with one call in flight.
    pub concurrency: u64,
    /// Calls in all.
    #[serde(deserialize_with = "calls")]
    pub calls: u64,
    /// When a caller gives up, microseconds.
    #[serde(rename = "time_out", deserialize_with = "from_text::micros")]
    pub time_out_us: u64,
    /// What differs in our run.
    #[serde(default)]
    pub ours: ModelChange,
    /// The subject of the run.
    #[serde(rename = "of")]
    pub subject: SubjectName,
    /// The case of the run.
    pub case: Case,
}

/// What differs when a model predicts our run; the rest is as published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChange {
    /// See [`Model::workers`].
    pub workers: Option<NonZeroU64>,
    /// See [`Model::service_us`].
    #[serde(default, rename = "service", deserialize_with = "from_text::some_micros")]
    pub service_us: Option<u64>,
    /// See [`Model::time_out_us`].
    #[serde(default, rename = "time_out", deserialize_with = "from_text::some_micros")]
    pub time_out_us: Option<u64>,
}

/// What happens to a call that finds no worker and no place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rejection {
    /// It gets no answer.
    Silent,
    /// It fails at once.
    Prompt,
}

fn calls<'de, D: Deserializer<'de>>(number: D) -> Result<u64, D::Error> {
    let calls = u64::deserialize(number)?;
    if (1..=CALLS_MAX).contains(&calls) {
        Ok(calls)
    } else {
        Err(D::Error::custom(format!("a model makes 1 to {CALLS_MAX} calls")))
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Calls that were answered in time.
    pub ok: u64,
    /// Calls that were rejected or that their caller gave up.
    pub failures: u64,
    /// From the first call to the end of the last, seconds.
    pub total_seconds: f64,
    /// Mean over all calls, each as long as its caller waited, seconds.
    pub mean_of_all_seconds: f64,
    /// Mean over the answered calls, seconds; 0 without any.
    pub mean_of_ok_seconds: f64,
}

impl Model {
    /// The model of our run.
    pub fn of_ours(&self) -> Self {
        Self {
            workers: self.ours.workers.or(self.workers),
            service_us: self.ours.service_us.unwrap_or(self.service_us),
            time_out_us: self.ours.time_out_us.unwrap_or(self.time_out_us),
            ..self.clone()
        }
    }

    /// Runs it. The time of this grows with the number of calls.
    pub fn predict(&self) -> Prediction {
        let (model, begins_us) = (self, VecDeque::new());
        let mut server = Server { model, free_at_us: BinaryHeap::new(), begins_us };
        let callers = self.concurrency.min(self.calls);
        let mut free_at_us: BinaryHeap<Reverse<u64>> = (0..callers).map(|_| Reverse(0)).collect();
        let (mut ok, mut failures) = (0, 0);
        let (mut waited_us, mut waited_ok_us, mut last_us) = (0, 0, 0);
        for _ in 0..self.calls {
            let Some(Reverse(now_us)) = free_at_us.pop() else {
                break;
            };
            let Ended { is_ok, wait_us } = server.call(now_us);
            if is_ok {
                ok += 1;
                waited_ok_us += wait_us;
            } else {
                failures += 1;
            }
            waited_us += wait_us;
            last_us = last_us.max(now_us + wait_us);
            free_at_us.push(Reverse(now_us + wait_us));
        }
        let mean_seconds = |sum_us: u64, count: u64| sum_us as f64 / 1e6 / count.max(1) as f64;
        Prediction {
            ok,
            failures,
            total_seconds: last_us as f64 / 1e6,
            mean_of_all_seconds: mean_seconds(waited_us, ok + failures),
            mean_of_ok_seconds: mean_seconds(waited_ok_us, ok),
        }
    }
}

/// How a call ended for its caller, and how long that waited.
struct Ended {
    is_ok: bool,
    wait_us: u64,
}

/// The server's schedule: when its workers are free, and when the calls in its queue begin.
struct Server<'a> {
    model: &'a Model,
    free_at_us: BinaryHeap<Reverse<u64>>,
    begins_us: VecDeque<u64>,
}

impl Server<'_> {
    /// A call that comes now. The queue is first in, first out and the time of service is fixed, so
    /// the end of a call is known when it comes.
    fn call(&mut self, now_us: u64) -> Ended {
        let Model { workers, queue, rejection, service_us, time_out_us, .. } = *self.model;
        while self.begins_us.front().is_some_and(|&begin| begin <= now_us) {
            self.begins_us.pop_front();
        }
        let busy = self.free_at_us.len() as u64;
        let all_busy = workers.is_some_and(|workers| busy >= workers.get());
        let next_free = self.free_at_us.peek().filter(|_| all_busy);
        let begin_us = next_free.map_or(now_us, |next| next.0.max(now_us));
        if begin_us > now_us {
            if self.begins_us.len() as u64 >= queue.unwrap_or(u64::MAX) {
                let is_silent = rejection == Rejection::Silent;
                return Ended { is_ok: false, wait_us: if is_silent { time_out_us } else { 0 } };
            }
            self.begins_us.push_back(begin_us);
        }
        if all_busy {
            self.free_at_us.pop();
        }
        self.free_at_us.push(Reverse(begin_us + service_us));
        let needed_us = begin_us - now_us + service_us;
        Ended { is_ok: needed_us <= time_out_us, wait_us: needed_us.min(time_out_us) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_US: u64 = 1_000_000;

    fn published() -> Model {
        Model {
            id: Spanned::new(0..0, String::new()),
            about: String::new(),
            workers: None,
            queue: Some(0),
            rejection: Rejection::Silent,
            service_us: SECOND_US,
            concurrency: 5_000,
            calls: 10_000,
            time_out_us: 20 * SECOND_US,
            ours: ModelChange::default(),
            subject: "java-grpc/cached".to_owned().try_into().expect("a subject"),
            case: "C=1 S=5000".parse().expect("a case"),
        }
    }

    #[test]
    fn where_every_call_is_served_at_once_two_waves_take_twice_the_time_of_service() {
        let prediction = published().predict();
        assert_eq!((prediction.ok, prediction.failures), (10_000, 0));
        assert_eq!(prediction.total_seconds, 2.0);
        assert_eq!(prediction.mean_of_all_seconds, 1.0);
    }

    #[test]
    fn a_fixed_pool_that_drops_what_does_not_fit_ends_with_the_second_time_out() {
        let prediction =
            Model { workers: NonZeroU64::new(200), queue: Some(200), ..published() }.predict();
        assert_eq!(prediction.total_seconds, 40.0);
        assert!((4_000..=4_400).contains(&prediction.ok), "{prediction:?}");
        let mean = prediction.mean_of_all_seconds;
        assert!((11.9..12.5).contains(&mean), "{prediction:?}");
    }

    #[test]
    fn a_few_threads_too_few_cost_one_time_out() {
        let prediction = Model { workers: NonZeroU64::new(5_000 - 944), ..published() }.predict();
        assert_eq!((prediction.ok, prediction.failures), (9_056, 944));
        assert_eq!(prediction.total_seconds, 20.0);
    }

    #[test]
    fn a_prompt_rejection_uses_up_the_calls_at_once() {
        let prediction = Model {
            workers: NonZeroU64::new(200),
            queue: Some(200),
            rejection: Rejection::Prompt,
            ..published()
        }
        .predict();
        assert_eq!((prediction.ok, prediction.failures), (400, 9_600));
        assert_eq!(prediction.total_seconds, 2.0);
    }

    #[test]
    fn a_queue_without_end_is_left_by_those_who_wait_too_long() {
        let prediction = Model {
            workers: NonZeroU64::new(1),
            queue: None,
            rejection: Rejection::Silent,
            service_us: SECOND_US,
            concurrency: 4,
            calls: 4,
            time_out_us: 2 * SECOND_US,
            ..published()
        }
        .predict();
        assert_eq!((prediction.ok, prediction.failures), (2, 2));
        assert_eq!(prediction.mean_of_ok_seconds, 1.5);
        assert_eq!(prediction.total_seconds, 2.0);
    }

    #[test]
    fn all_times_shrink_together() {
        let pool = Model { workers: NonZeroU64::new(200), queue: Some(200), ..published() };
        let scaled = Model {
            service_us: pool.service_us / 10,
            time_out_us: pool.time_out_us / 10,
            ..pool.clone()
        };
        let (full, tenth) = (pool.predict(), scaled.predict());
        assert_eq!((full.ok, full.failures), (tenth.ok, tenth.failures));
        assert_eq!(tenth.total_seconds * 10.0, full.total_seconds);
    }
}
