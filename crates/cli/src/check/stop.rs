//! Why a check does not go on.

use crate::terminal::Failure;

/// Why a check does not go on.
#[derive(Debug)]
pub enum CheckStop {
    /// The user wants it to end.
    Interrupted,
    /// An end of it cannot be started or called.
    Failed(Failure),
}

impl From<Failure> for CheckStop {
    fn from(failure: Failure) -> CheckStop {
        CheckStop::Failed(failure)
    }
}

impl CheckStop {
    /// Something cannot be done, for this reason.
    pub fn because(error: impl ToString) -> CheckStop {
        CheckStop::Failed(Failure::nothing_measured(error))
    }
}
