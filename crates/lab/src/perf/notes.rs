//! What limits what the samples of one recording tell, a sentence each.

use super::pass::RecordedSamples;
use super::tool::FREQUENCY_HZ;
use crate::subject::Subject;
use bookend_results::measurement::Measurement;
use bookend_results::profile::{Rules, Split};

/// More samples without a name than this, and the split is a guess.
const NAMELESS_LIMIT: f64 = 0.10;

/// With a smaller part of the samples that its CPU time should give, a process was not seen evenly.
const SEEN_MIN: f64 = 0.7;

/// What limits what the samples of one recording tell.
pub(super) fn sample_notes(
    subject: &Subject,
    recorded: &RecordedSamples,
    split: &Split,
) -> Vec<String> {
    let mut notes = Vec::new();
    if recorded.event.ends_with(":u") {
        notes.push(
            "the kernel's part is missing, so both network columns are too small: run as root or \
             set kernel.perf_event_paranoid to 1"
                .to_owned(),
        );
    }
    if !Rules::know(&subject.language) {
        notes.push(format!(
            "there are no rules for {}, so only the network columns say something",
            subject.language
        ));
    }
    if subject.language.eq_ignore_ascii_case("python") && !names_python(recorded) {
        notes.push(
            "Python before 3.12 names no Python function: frames are the interpreter's".to_owned(),
        );
    }
    notes.extend(nameless_note(split));
    notes.extend(missing_note(split.samples, &recorded.measurement));
    notes
}

fn nameless_note(split: &Split) -> Option<String> {
    let share = split.nameless_share();
    (share > NAMELESS_LIMIT).then(|| {
        let percent = percent_text(share);
        format!("{percent} of the samples are known by their library alone: it has no symbols")
    })
}

/// The clock of a process is wound anew whenever a thread is scheduled: one that never runs for a
/// whole period is seen too seldom.
fn missing_note(samples: u64, measurement: &Measurement) -> Option<String> {
    let expected = measurement.tested_cpu_seconds() * f64::from(FREQUENCY_HZ);
    let share = samples as f64 / expected;
    (share < SEEN_MIN).then(|| {
        let percent = percent_text(share);
        format!(
            "only {percent} of the samples that its CPU time should give: it runs for less than a \
             sampling period at a time, and what it does before it waits is seen too seldom"
        )
    })
}

/// With its support for perf on, the interpreter names functions `py::name:file`.
fn names_python(recorded: &RecordedSamples) -> bool {
    let mut stacks = recorded.folded.stacks();
    stacks.any(|stack| stack.frames.iter().any(|frame| frame.starts_with("py::")))
}

fn percent_text(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
