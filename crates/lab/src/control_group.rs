//! Limits and accounting of a process tree by the kernel's control groups, capability by
//! capability: whichever version has it below the group that this process is in, else neither.
//!
//! `discover` finds where this process stands in each hierarchy, `prepare` finds out what may
//! be done below that place, `abandoned` clears away what dead labs left there, and the two
//! versions (`version_one`, `version_two`) set limits in files of their own names. A machine may
//! mount both at once, each with some of the controllers.

mod abandoned;
mod account;
mod capability;
mod discover;
mod group;
mod prepare;
mod version_one;
mod version_two;

pub use account::{Account, PeakCounter};
pub use capability::{Capabilities, Capability, CgroupVersion};
pub use group::{ControlGroup, LimitError, ResourceLimits};
pub use prepare::ControlGroups;
