//! The folder in which a profile is kept.

use super::estimate::CostRatio;
use super::kept::{Profile, ProfileOutcome, Profiled, SCHEMA_VERSION};
use super::layer::Layer;
use crate::csv;
use bookend_contract::input;
use std::fs;
use std::io;
use std::path::Path;

/// The split table, one line for each cell.
pub const SPLIT_FILE: &str = "split.csv";

/// Everything except the stacks and the flame graphs.
pub const JSON_FILE: &str = "profile.json";

/// Reads a kept profile.
///
/// # Errors
/// When `folder` has no profile, or the profile has another version.
pub fn read(folder: &Path) -> io::Result<Profile> {
    let text = input::text(fs::File::open(folder.join(JSON_FILE))?, input::MAX_BYTES)?;
    let profile: Profile = serde_json::from_str(&text)?;
    if profile.schema_version == SCHEMA_VERSION {
        return Ok(profile);
    }
    let version = profile.schema_version;
    Err(io::Error::other(format!(
        "{JSON_FILE} has version {version}, this program reads {SCHEMA_VERSION}: record it again"
    )))
}

/// Writes `profile` to the folder.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write(folder: &Path, profile: &Profile) -> io::Result<()> {
    let json = serde_json::to_string_pretty(profile)?;
    fs::write(folder.join(JSON_FILE), json + "\n")?;
    fs::write(folder.join(SPLIT_FILE), sheet(profile))
}

fn sheet(profile: &Profile) -> String {
    let layers = Layer::ALL.map(Layer::name);
    let mut text = format!(
        "suite,case,subject,instrument,result,event,samples,{},rest,shared_work,cost_ratio,\
         cost_ratio_low,cost_ratio_high\n",
        layers.join(",")
    );
    for cell in &profile.cells {
        let Profiled { case, subject, instrument, .. } = cell;
        let fields = [profile.suite.clone(), case.to_string(), subject.clone(), instrument.clone()];
        text += &csv::line(fields.into_iter().chain(figures(cell)));
        text.push('\n');
    }
    text
}

fn figures(cell: &Profiled) -> Vec<String> {
    let samples = match &cell.outcome {
        ProfileOutcome::Recorded(samples) => samples,
        ProfileOutcome::NotRecorded { reason } => {
            return [vec![reason.clone()], vec![String::new(); 13]].concat();
        }
    };
    let split = &samples.split;
    let share = |share: f64| format!("{share:.6}");
    let mut fields = vec!["recorded".to_owned(), samples.event.clone(), split.samples.to_string()];
    fields.extend(Layer::ALL.map(|layer| share(split.share(layer))));
    fields.extend([share(split.rest()), share(split.shared_work_share())]);
    let ratio = samples.cost_ratio.map(|CostRatio { ratio, interval }| {
        [ratio, interval.low, interval.high].map(|figure| figure.to_string())
    });
    fields.extend(ratio.unwrap_or_default());
    fields
}
