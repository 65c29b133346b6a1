//! Where a load comes from.

use crate::own_build;
use crate::shell::this_command;
use bookend_contract::report::LoadOrigin;
use bookend_lab::machine::this_machine;

/// This command on this machine.
pub fn origin() -> LoadOrigin {
    LoadOrigin { command: this_command(), machine: this_machine(), build: Some(own_build::facts()) }
}
