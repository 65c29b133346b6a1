//! Why a check does not go on.

use crate::cell_error::CellError;
use thiserror::Error;

/// Why a check does not go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckStop {
    /// The user wants it to end.
    #[error("interrupted")]
    Interrupted,
    /// An end of it cannot be started or called, for this reason.
    #[error("{0}")]
    Failed(String),
}

impl CheckStop {
    /// Something cannot be done, for this reason.
    pub fn because(error: impl ToString) -> CheckStop {
        CheckStop::Failed(error.to_string())
    }

    /// There is no `whose`, for this reason.
    pub fn of(whose: &str, error: CellError) -> CheckStop {
        match error {
            CellError::Interrupted => CheckStop::Interrupted,
            error => CheckStop::Failed(format!("{whose}: {error}")),
        }
    }
}
