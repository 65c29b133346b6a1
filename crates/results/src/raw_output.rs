//! What a foreign instrument printed.

use crate::measurement::CellId;

/// What the instrument of a cell printed in the first round that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawOutput {
    /// The cell.
    pub cell: CellId,
    /// The round, counted from 0.
    pub round: u32,
    /// What it printed, without a list of every call; or [that it is left out](left_out).
    pub text: String,
}

/// What is kept of an output of which more would be kept than `most_bytes`: it is whole or not
/// there.
pub fn left_out(bytes: usize, most_bytes: usize) -> String {
    format!("left out: it has {bytes} bytes, and at most {most_bytes} are kept\n")
}

impl RawOutput {
    /// The name of its file: `rust-tonic.C=1_S=50.ghz.json`.
    pub fn file_name(&self) -> String {
        let CellId { subject, case, instrument } = &self.cell;
        let name = format!("{subject}.{case}.{instrument}").replace('/', "-").replace(' ', "_");
        let is_json = self.text.starts_with('{');
        format!("{name}.{}", if is_json { "json" } else { "txt" })
    }
}
