//! The identity of a call.

/// Stands for a call; stale once the call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallKey {
    pub index: u32,
    pub generation: u32,
}
