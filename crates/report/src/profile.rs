//! A profile as text: the split table, the second estimate below it, and the limits of both.

use crate::text_table::{TextTable, column};
use bookend_results::grouping::{each_once, grouped};
use bookend_results::profile::{
    CostRatio, Layer, Profile, ProfileOutcome, Profiled, SAMPLES_MIN, Samples, Split,
};
use bookend_results::statistics::Interval;
use bookend_results::text::{percent_text, significant_text};

/// Percentages of the samples by layer, one line for each cell.
pub fn split_table(profile: &Profile) -> String {
    let mut layout = TextTable::new(&[
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
    for case in each_once(profile.cells.iter().map(|cell| cell.case)) {
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
    let mut lines = Vec::new();
    for baseline in profile.cells.iter().filter(|cell| cell.is_baseline) {
        for cell in profile.cells.iter().filter(|cell| cell.is_compared_with(baseline)) {
            if let (Some(own), Some(base)) = (cell.samples(), baseline.samples()) {
                lines.push(format!(
                    "{}: {} over {} {}; shared work is {} and {}",
                    cell.case,
                    name(profile, cell),
                    name(profile, baseline),
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
    let of_cell = |cell| {
        let notes = Profiled::samples(cell).map_or(&[][..], |samples| &samples.notes);
        notes.iter().map(|note| (note, name(profile, cell)))
    };
    grouped(profile.cells.iter().flat_map(of_cell))
        .into_iter()
        .map(|(note, names)| format!("{}: {note}", each_once(names).join(", ")))
        .collect()
}

fn name(profile: &Profile, cell: &Profiled) -> String {
    let is_the_only_instrument =
        profile.cells.iter().all(|other| other.instrument == cell.instrument);
    if is_the_only_instrument {
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
        None => format!("cannot tell, with fewer than {SAMPLES_MIN} samples"),
        Some(CostRatio { ratio, interval: Interval { low, high } }) => {
            let [ratio, low, high] = [ratio, low, high].map(significant_text);
            format!("^{ratio} [{low}, {high}]")
        }
    }
}

fn part_text(split: &Split) -> String {
    let part = percent_text(split.shared_work_share());
    format!("{part} of {} samples", split.samples)
}
