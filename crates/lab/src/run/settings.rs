//! What a run is asked to do, and why it can fail.

use crate::certificates::CertificateError;
use crate::context::{FleetSettings, ProcessTimeouts};
use crate::spawner::Spawner;
use crate::subject::CommandTemplate;
use bookend_contract::build_facts::BuildFacts;
use bookend_results::store::{RunId, StoreError};
use bookend_results::suite::{Plan, Suite};
use std::path::PathBuf;
use thiserror::Error;

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The question.
    pub suite: Suite,
    /// What is done of it. When a run is resumed, its own plan is followed.
    pub plan: Plan,
    /// Goes on with the last run of this suite that was not finished.
    pub resume: bool,
    /// The folder with a folder for every subject and instrument.
    pub subjects: PathBuf,
    /// The request message's bytes, where the suite gives it as JSON and the caller can encode it.
    pub message: Option<Vec<u8>>,
    /// How processes are started.
    pub spawner: Spawner,
    /// Verifies one call to every server at each start, such as [`crate::probe::CALL`].
    pub probe: Option<CommandTemplate>,
    /// Checks a server's semantics once a version, and prints JSON.
    pub semantics: Option<CommandTemplate>,
    /// The command that is kept with the result.
    pub command: String,
    /// The seed of all orders; by default a random one.
    pub seed: Option<u64>,
    /// How long the lab waits for processes.
    pub timeouts: ProcessTimeouts,
    /// Whether control groups and affinity are used. Without them, figures say so.
    pub isolation: bool,
    /// The machines that make the calls of the lab's own generator, where that is not this one.
    pub fleet: Option<FleetSettings>,
    /// The build of the program that measures.
    pub build: BuildFacts,
    /// What that program was built of, as git's patterns from the root of its repository.
    pub build_sources: Vec<String>,
}

/// Why there is no result. What is wrong with a single subject is in its rows instead.
#[derive(Debug, Error)]
pub enum SuiteRunError {
    /// The results cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the suite cannot be read, or the temporary folder not be written.
    #[error("the request of the suite: {0}")]
    Request(std::io::Error),
    /// A case is over TLS, and no certificates can be made for it.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// No run of this suite is unfinished.
    #[error("no run of {0} is unfinished: start one without --resume")]
    NothingToResume(String),
    /// The unfinished run began on another machine, or under another kernel.
    #[error(
        "run {run} did not begin on this machine: {}: resume it there, or start one without \
         --resume",
        differences.join(", ")
    )]
    OtherMachine {
        /// The run.
        run: RunId,
        /// What differs, a clause each.
        differences: Vec<String>,
    },
    /// The kernel does not let daemons come back to the lab.
    #[error("the kernel does not let this process adopt daemons: {0}")]
    Subreaper(std::io::Error),
}
