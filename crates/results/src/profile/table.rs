//! A profile as text: the split table, the second estimate below it, and the limits of both.

use super::estimate::SHARED_SAMPLES_MIN;
use super::kept::{Profile, ProfileOutcome, Profiled, Samples};
use super::layer::Layer;
use super::split::Split;
use crate::layout::{Layout, column};
use crate::suite::Case;
use crate::text::significant_text;

/// Percentages of the samples by layer, one line for each cell.
pub fn split_table(profile: &Profile) -> String {
    let mut layout = Layout::new(&[
        column("name", 18),
        column("samples", 7),
        column("network in", 10),
        column("network out", 11),
        column("HTTP/2 and gRPC", 15),
        column("messages", 8),
        column("handler", 7),
        column("runtime", 7),
        column("rest", 6),
    ]);
    for case in cases(profile) {
        layout.heading(case.to_string());
        for cell in profile.cells.iter().filter(|cell| cell.case == case) {
            match &cell.outcome {
                ProfileOutcome::Recorded(samples) => {
                    layout.fields(fields(name(profile, cell), &samples.split));
                }
                ProfileOutcome::NotRecorded { reason } => {
                    layout.across(name(profile, cell), reason.clone());
                }
            }
        }
    }
    layout.to_string()
}

/// The second estimate of the cost ratio, one line for each comparison with the baseline.
pub fn estimates(profile: &Profile) -> Vec<String> {
    let baselines = profile.cells.iter().filter(|cell| cell.is_baseline);
    let mut lines = Vec::new();
    for baseline in baselines {
        let others = profile.cells.iter().filter(|cell| {
            let same = cell.case == baseline.case && cell.instrument == baseline.instrument;
            same && !cell.is_baseline && cell.language == baseline.language
        });
        for cell in others {
            if let (Some(own), Some(base)) = (cell.samples(), baseline.samples()) {
                let case = cell.case;
                let (cell, baseline) = (name(profile, cell), name(profile, baseline));
                lines.push(format!(
                    "{case}: {cell} over {baseline} {}; shared work is {} and {}",
                    ratio_text(own),
                    part_text(&own.split),
                    part_text(&base.split),
                ));
            }
        }
    }
    lines
}

/// The limits of what the samples show: each sentence once, with the subjects that it applies to.
pub fn notes(profile: &Profile) -> Vec<String> {
    let mut notes: Vec<(String, Vec<String>)> = Vec::new();
    for cell in &profile.cells {
        let said = cell.samples().map_or(&[][..], |samples| &samples.notes);
        for note in said {
            let whom = name(profile, cell);
            match notes.iter_mut().find(|(known, _)| known == note) {
                Some((_, names)) if names.contains(&whom) => {}
                Some((_, names)) => names.push(whom),
                None => notes.push((note.clone(), vec![whom])),
            }
        }
    }
    let line = |(note, names): (String, Vec<String>)| format!("{}: {note}", names.join(", "));
    notes.into_iter().map(line).collect()
}

fn cases(profile: &Profile) -> Vec<Case> {
    let mut cases = Vec::new();
    for cell in &profile.cells {
        if !cases.contains(&cell.case) {
            cases.push(cell.case);
        }
    }
    cases
}

fn name(profile: &Profile, cell: &Profiled) -> String {
    let mut instruments = profile.cells.iter().map(|cell| &cell.instrument);
    if instruments.all(|instrument| *instrument == cell.instrument) {
        cell.subject.clone()
    } else {
        format!("{} via {}", cell.subject, cell.instrument)
    }
}

fn fields(name: String, split: &Split) -> Vec<String> {
    let mut fields = vec![name, split.samples.to_string()];
    fields.extend(Layer::ALL.map(|layer| percent_text(split.share(layer))));
    fields.push(percent_text(split.rest()));
    fields
}

fn ratio_text(samples: &Samples) -> String {
    match samples.cost_ratio {
        None => format!("cannot tell, with fewer than {SHARED_SAMPLES_MIN} samples"),
        Some(cost) => format!(
            "^{} [{}, {}]",
            significant_text(cost.ratio),
            significant_text(cost.interval.low),
            significant_text(cost.interval.high)
        ),
    }
}

fn part_text(split: &Split) -> String {
    let part = percent_text(split.shared_work_share());
    format!("{part} of {} samples", split.samples)
}

fn percent_text(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
