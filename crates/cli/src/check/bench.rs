//! Where calibrations are made: the witness on one CPU, our generator on another.

use super::stop::CheckStop;
use crate::lab;
use crate::terminal::print_error;
use bookend_lab::build::{self, PreparedSubject};
use bookend_lab::cell_error::CellError;
use bookend_lab::control_group::ControlGroups;
use bookend_lab::cpu::Placement;
use bookend_lab::launch;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::{become_subreaper, tree};
use bookend_lab::run::remove_leftovers;
use bookend_lab::spawner::Spawner;
use std::path::{Path, PathBuf};

/// The subject that is the witness.
const WITNESS: &str = "rust-clockwork";

/// Both ends of every calibration.
pub struct Bench {
    /// How processes are started.
    pub spawner: Spawner,
    /// Limits and accounting.
    pub groups: ControlGroups,
    /// The CPUs of each end.
    pub placement: Placement,
    /// The witness.
    pub witness: PreparedSubject,
    /// What it says of itself.
    pub version: String,
    /// The service definition of its requests.
    pub proto: PathBuf,
}

impl Bench {
    /// Builds the witness, and decides who runs where.
    ///
    /// # Errors
    /// It cannot be built, with the reason.
    pub fn prepare(
        subjects: &Path,
        protos: &Path,
        interrupt: Interrupt,
    ) -> Result<Bench, CheckStop> {
        become_subreaper().map_err(CheckStop::because)?;
        remove_leftovers().iter().for_each(|sentence| print_error(sentence));
        let spawner = lab::spawner(interrupt)?;
        let witness = build::prepare(&spawner, subjects, WITNESS, &mut |line| print_error(line))
            .map_err(|error| match error {
                CellError::Interrupted => CheckStop::Interrupted,
                error => CheckStop::because(format!(
                    "the witness cannot be built; it is part of a checkout of Bookend: {error}"
                )),
            })?;
        let placement = Placement::on_this_machine(1.0, Some(1));
        // What the check itself does is done on the generator's side.
        launch::pin(&placement.generator).map_err(CheckStop::because)?;
        Ok(Bench {
            spawner,
            groups: ControlGroups::prepare(tree::kill_group),
            placement,
            version: witness.version.clone(),
            witness,
            proto: protos.join("clockwork.proto"),
        })
    }
}
