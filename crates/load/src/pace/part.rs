//! Runs whose calls several generators make together.

/// Which of the generators of a run this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 0.
    pub number: u32,
    /// How many generators there are.
    pub of: u32,
}

impl Default for Part {
    /// The only generator of a run.
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}
