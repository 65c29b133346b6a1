//! The readers of what a run prints.

/// The reader of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// People, and programs that read ghz's formats.
    People,
    /// The lab, which reads the contract's lines.
    Lab,
}
