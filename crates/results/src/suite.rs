//! Suites: each `suites/NAME/suite.toml` declares one question, parsed here into checked values
//! (docs/extend/suite-format.md).

mod case;
mod checked;
mod declared;
mod grid;
mod laps;
mod overrides;
mod plan;
mod scope;
mod units;

pub use case::{CALLS_MAX, CONCURRENCY_MAX, Case, CaseError};
pub use checked::{
    FULL_ROUNDS_MIN, PlannedSubject, QUICK_ROUNDS_MIN, ROUNDS_MAX, Request, RequestMessage,
    SUITE_FILE, Schedule, ServerLife, ShortWindows, Suite, SuiteLimits, SuiteSubject, TestedEnd,
};
pub use laps::{LAP_MIN, LapSetting};
pub use overrides::{OverrideError, Overrides};
pub use plan::{CELLS_MAX, DRAIN_AFTER_CALLS, Extent, Plan, PlanError, PlannedCell, Selection};
pub use scope::Scope;
pub use units::{UnitError, parse_duration, parse_size};
