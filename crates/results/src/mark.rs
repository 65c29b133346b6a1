//! Marks: reasons to doubt one window, stored with it.

use crate::audit::{CountMismatch, Counter};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Above this share of a cell's calls, a sign stands in front of its name: a report in tenths of a
/// percent shows it.
pub const FAILED_MARKED_ABOVE: f64 = 0.001;

/// Above this share of a cell's calls, the line of a verdict says it: hardly any service has an
/// objective that allows for more.
pub const FAILED_TOLD_ABOVE: f64 = 0.01;

/// A reason to doubt one window. `Display` prints the clause that tables show below them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "kebab-case")]
pub enum Mark {
    /// The hypervisor took the pinned CPUs away.
    Steal {
        /// The share of the window for which it did.
        share: f64,
    },
    /// Processes that belong to neither end ran on the pinned CPUs.
    ForeignProcess {
        /// The CPUs.
        cpus: Vec<usize>,
        /// Their CPU time, as a share of the window.
        share: f64,
    },
    /// More calls failed than [`FAILED_MARKED_ABOVE`]. It follows from the counts of a window, and
    /// is not stored.
    CallsFailed {
        /// Their share of those that ended.
        share: f64,
    },
    /// Both ends counted, and their counts differ.
    CountsDiffer(CountMismatch),
    /// An end did not report how many calls it answered.
    NotCounted {
        /// The end.
        by: Counter,
    },
    /// The server died later in the round, before it could report how many calls it had answered.
    Died {
        /// How it ended, one line.
        error: String,
    },
    /// A reason without a rule of its own.
    Other {
        /// A clause.
        text: String,
    },
}

impl Mark {
    /// The name of the rule, which all marks of a kind share.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Steal { .. } => "steal",
            Self::ForeignProcess { .. } => "foreign-process",
            Self::CallsFailed { .. } => "calls-failed",
            Self::CountsDiffer(_) => "counts-differ",
            Self::NotCounted { .. } | Self::Died { .. } => "not-counted",
            Self::Other { .. } => "other",
        }
    }

    /// The share of the window that it is about, if it is about one.
    pub fn share(&self) -> Option<f64> {
        match self {
            Self::Steal { share } | Self::ForeignProcess { share, .. } => Some(*share),
            _ => None,
        }
    }

    /// The clause for several windows of which this is the worst.
    pub fn as_worst(&self) -> String {
        let clause = self.to_string();
        match self {
            Self::Steal { .. } => clause.replacen("steal ", "steal up to ", 1),
            Self::ForeignProcess { .. } => clause.replacen(" (", " (up to ", 1),
            _ => clause,
        }
    }

    /// A mark without a rule of its own.
    pub fn other(text: impl Into<String>) -> Self {
        Self::Other { text: text.into() }
    }

    /// The output of a program, where a mark quotes it.
    pub(crate) fn quoted_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Died { error: text } | Self::Other { text } => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steal { share } => write!(f, "steal {:.1} %", share * 100.0),
            Self::ForeignProcess { cpus, share } => {
                let named: Vec<String> = cpus.iter().map(usize::to_string).collect();
                write!(f, "foreign process on CPU {} ({:.0} %)", named.join(","), share * 100.0)
            }
            Self::CallsFailed { share } => write!(f, "{:.1} % of the calls failed", share * 100.0),
            Self::CountsDiffer(mismatch) => write!(f, "counts differ: {mismatch}"),
            Self::NotCounted { by } => write!(f, "{by} did not say how many calls it served"),
            Self::Died { error } => {
                write!(f, "calls could not be counted: later in the round {error}")
            }
            Self::Other { text } => f.write_str(text),
        }
    }
}

/// Reads the marks of a window. Older files store marks as their clauses, which are still read.
pub(crate) fn read_marks<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Mark>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Kept {
        Clause(String),
        Mark(Mark),
    }
    Ok(Vec::<Kept>::deserialize(deserializer)?
        .into_iter()
        .map(|kept| match kept {
            Kept::Clause(text) => of_clause(&text).unwrap_or_else(|| Mark::other(text)),
            Kept::Mark(mark) => mark,
        })
        .collect())
}

fn of_clause(text: &str) -> Option<Mark> {
    let after = |prefix| text.strip_prefix(prefix);
    let steal = || Some(Mark::Steal { share: share(after("steal ")?)? });
    let foreign_process = || {
        let rest = after("foreign process on CPU ")?.strip_suffix(')')?;
        let (named, percent) = rest.split_once(" (")?;
        let cpus = named.split(',').map(|cpu| cpu.parse().ok()).collect::<Option<_>>()?;
        Some(Mark::ForeignProcess { cpus, share: share(percent)? })
    };
    let died = || {
        let error = after("calls could not be counted: later in the round ")?.to_owned();
        Some(Mark::Died { error })
    };
    let counts_differ = || mismatch(after("counts differ: ")?).map(Mark::CountsDiffer);
    let not_counted = || {
        [Counter::Server, Counter::Backend]
            .map(|by| Mark::NotCounted { by })
            .into_iter()
            .find(|mark| mark.to_string() == text)
    };
    steal().or_else(foreign_process).or_else(died).or_else(counts_differ).or_else(not_counted)
}

fn share(percent: &str) -> Option<f64> {
    Some(percent.strip_suffix(" %")?.parse::<f64>().ok()? / 100.0)
}

fn mismatch(text: &str) -> Option<CountMismatch> {
    let numbers: Vec<u64> = text.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let (&served, &at_least) = (numbers.first()?, numbers.get(1)?);
    let is_open = text.contains(" at least ");
    Some(CountMismatch {
        counter: if text.starts_with("the backend ") { Counter::Backend } else { Counter::Server },
        served,
        at_least,
        at_most: (!is_open).then(|| numbers.get(2).copied().unwrap_or(at_least)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Window(#[serde(deserialize_with = "read_marks")] Vec<Mark>);

    fn marks() -> Vec<Mark> {
        let mismatch = |counter, at_most| {
            Mark::CountsDiffer(CountMismatch { counter, served: 9, at_least: 10, at_most })
        };
        vec![
            Mark::Steal { share: 0.031 },
            Mark::ForeignProcess { cpus: vec![0, 1], share: 0.29 },
            mismatch(Counter::Server, Some(10)),
            mismatch(Counter::Server, Some(12)),
            mismatch(Counter::Backend, None),
            Mark::NotCounted { by: Counter::Server },
            Mark::NotCounted { by: Counter::Backend },
            Mark::Died { error: "the server ended".to_owned() },
            Mark::other("its output ended in a word that nobody knows"),
        ]
    }

    #[test]
    fn marks_are_kept_by_rule_and_with_figures() {
        let kept = serde_json::to_string(&marks()[..1]).expect("JSON");
        assert_eq!(kept, r#"[{"mark":"steal","share":0.031}]"#);
        let kept = serde_json::to_string(&Window(marks())).expect("JSON");
        let read: Window = serde_json::from_str(&kept).expect("marks");
        assert_eq!(read, Window(marks()));
    }

    #[test]
    fn marks_of_older_records_are_clauses() {
        let clauses: Vec<String> = marks().iter().map(Mark::to_string).collect();
        let kept = serde_json::to_string(&clauses).expect("JSON");
        let read: Window = serde_json::from_str(&kept).expect("marks");
        assert_eq!(read, Window(marks()));
    }

    #[test]
    fn the_worst_of_several_says_up_to() {
        let worst: Vec<String> = marks()[..3].iter().map(Mark::as_worst).collect();
        assert_eq!(worst[..2], ["steal up to 3.1 %", "foreign process on CPU 0,1 (up to 29 %)"]);
        assert_eq!(worst[2], marks()[2].to_string());
    }

    #[test]
    fn each_rule_has_the_name_that_claims_print() {
        let rules: Vec<&str> = marks().iter().map(Mark::rule).collect();
        let [steal, foreign, differ, counted, other] =
            ["steal", "foreign-process", "counts-differ", "not-counted", "other"];
        let expected = [steal, foreign, differ, differ, differ, counted, counted, counted, other];
        assert_eq!(rules, expected);
        let failed = Mark::CallsFailed { share: 0.264 };
        assert_eq!(failed.rule(), "calls-failed");
        assert_eq!(failed.to_string(), "26.4 % of the calls failed");
    }
}
