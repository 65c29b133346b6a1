//! `bookend doctor`: what can be measured here, and what is missing for the rest.

mod arguments;
mod calls;
mod states_text;

pub use arguments::DoctorArguments;

use crate::check::kept_line;
use crate::lab;
use crate::names::Named;
use crate::terminal::{Failure, print};
use bookend_contract::exit;
use bookend_lab::control_group::ControlGroups;
use bookend_lab::doctor::VariantStates;
use bookend_lab::lock::LockTarget;
use bookend_lab::machine::this_machine;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::tree::kill_group;
use bookend_lab::run::remove_leftovers;
use calls::Doctor;
use states_text::states_text;

/// Looks, calls if asked to, and prints a line a subject.
///
/// # Errors
/// [`Failure`] when a name is wrong or a declaration cannot be read.
pub fn start(arguments: &DoctorArguments) -> Result<u8, Failure> {
    for name in &arguments.subjects {
        Named::SUBJECT.require(name, &arguments.subjects_dir)?;
    }
    let interrupt = Interrupt::on_signals().map_err(Failure::nothing_measured)?;
    let mut lock = None;
    if arguments.call {
        lock = lab::lock(&LockTarget::Machine, arguments.wait_for_lock, &interrupt)?;
        if lock.is_none() {
            return Ok(exit::INTERRUPTED);
        }
    }
    let doctor = Doctor::new(arguments, interrupt)?;
    let leftovers: String =
        remove_leftovers().into_iter().map(|sentence| format!("{sentence}\n")).collect();
    print(&(machine() + &leftovers))?;
    let mut states = VariantStates::default();
    let interrupted =
        doctor.check_dependencies(&mut states) || (arguments.call && doctor.call(&mut states)?);
    drop(lock);
    print(&states_text(&states))?;
    if interrupted {
        return Ok(exit::INTERRUPTED);
    }
    Ok(states.exit_status(arguments.strict))
}

/// What decides how well anything can be measured here.
fn machine() -> String {
    let limits = ControlGroups::prepare(kill_group).capabilities().to_string();
    format!("{}Limits: {limits}\n{}\n\n", this_machine(), kept_line())
}
