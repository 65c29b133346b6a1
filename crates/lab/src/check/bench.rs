//! Where calibrations are made: the witness on one CPU, our generator on another.

use super::stop::CheckStop;
use crate::build::{self, PreparedSubject};
use crate::control_group::ControlGroups;
use crate::cpu::Placement;
use crate::launch;
use crate::process::{become_subreaper, tree};
use crate::run::remove_leftovers;
use crate::spawner::Spawner;
use std::path::{Path, PathBuf};

/// The subject that is the witness.
const WITNESS: &str = "rust-clockwork";

const NOT_BUILT: &str = "the witness cannot be built; it is part of a checkout of Bookend";

/// Both ends of every calibration.
#[derive(Debug)]
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
    /// How often each verdict is asked for.
    pub repeat: u32,
}

impl Bench {
    /// Builds the witness, which is one of the folder `subjects`, and decides who runs where. The
    /// generator is the spawner's own program, and each verdict is asked for `repeat` times.
    /// `on_line` receives a sentence before what takes long, and on what an earlier lab has left
    /// behind.
    ///
    /// # Errors
    /// It cannot be built, with the reason.
    pub fn prepare(
        spawner: Spawner,
        subjects: &Path,
        protos: &Path,
        repeat: u32,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<Bench, CheckStop> {
        become_subreaper().map_err(CheckStop::because)?;
        remove_leftovers().iter().for_each(|sentence| on_line(sentence));
        let witness = build::prepare(&spawner, subjects, WITNESS, on_line)
            .map_err(|error| CheckStop::of(NOT_BUILT, error))?;
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
            repeat,
        })
    }
}
