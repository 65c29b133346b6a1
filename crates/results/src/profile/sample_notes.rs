//! The notes of one recording: the limits of what its samples show, a sentence each.

use super::rules::{Rules, Stack};
use super::split::Split;
use crate::measurement::Measurement;
use crate::text::percent_text;

/// With a larger share of samples without a name than this, the split is a guess.
const NAMELESS_LIMIT: f64 = 0.10;

/// With a smaller share of the samples that its CPU time should give, a process was not sampled
/// evenly.
const SEEN_MIN: f64 = 0.7;

/// The parts of one recording that its notes depend on.
#[derive(Clone, Copy, Debug)]
pub struct RecordedWindow<'a> {
    /// The language of the subject.
    pub language: &'a str,
    /// The event that was sampled, as `perf` names it.
    pub event: &'a str,
    /// Samples a second of CPU time.
    pub frequency_hz: u32,
    /// The window that was recorded.
    pub measurement: &'a Measurement,
    /// Its samples by layer.
    pub split: &'a Split,
}

/// Lists the limits of what the samples of one recording show.
pub fn sample_notes<'a>(
    recorded: RecordedWindow<'_>,
    stacks: impl IntoIterator<Item = Stack<'a>>,
) -> Vec<String> {
    let language = recorded.language;
    let kernel = recorded.event.ends_with(":u").then(|| {
        "the kernel's part is missing, so both network columns are too small: run as root or set \
         kernel.perf_event_paranoid to 1"
            .to_owned()
    });
    let rules = (!Rules::know(language)).then(|| {
        format!("there are no rules for {language}, so only the network columns say something")
    });
    let is_nameless = language.eq_ignore_ascii_case("python") && !names_python(stacks);
    let python = is_nameless.then(|| {
        "Python before 3.12 names no Python function: frames are the interpreter's".to_owned()
    });
    let counts = [nameless_note(recorded.split), missing_note(recorded), functions_note(recorded)];
    [kernel, rules, python].into_iter().chain(counts).flatten().collect()
}

/// Not a limit: the frames that the rules look for by name.
fn functions_note(recorded: RecordedWindow<'_>) -> Option<String> {
    let split = recorded.split;
    let part = |name: &String| {
        let share = split.named_share(name)?;
        Some(format!("`{name}` {}", percent_text(share)))
    };
    let parts: Vec<String> = split.functions.keys().filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("frames with all that they call: {}", parts.join(", ")))
}

fn nameless_note(split: &Split) -> Option<String> {
    let share = split.nameless_share();
    (share > NAMELESS_LIMIT).then(|| {
        let percent = percent_text(share);
        format!("{percent} of the samples are known by their library alone: it has no symbols")
    })
}

/// The clock of a process restarts whenever a thread is scheduled, so a thread that never runs for
/// a whole period is sampled too seldom.
fn missing_note(recorded: RecordedWindow<'_>) -> Option<String> {
    let cpu_seconds = recorded.measurement.tested_cpu_seconds();
    let expected = cpu_seconds * f64::from(recorded.frequency_hz);
    let share = recorded.split.samples as f64 / expected;
    (share < SEEN_MIN).then(|| {
        let percent = percent_text(share);
        format!(
            "only {percent} of the samples that its CPU time should give: it runs for less than a \
             sampling period at a time, and what it does before it waits is seen too seldom"
        )
    })
}

/// With its perf support turned on, the interpreter names functions `py::name:file`.
fn names_python<'a>(stacks: impl IntoIterator<Item = Stack<'a>>) -> bool {
    stacks.into_iter().any(|stack| stack.frames.iter().any(|frame| frame.starts_with("py::")))
}
