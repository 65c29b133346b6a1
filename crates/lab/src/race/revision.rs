//! Revisions of a git repository, each checked out into a folder of its own and built there.

use super::error::RaceRunError;
use crate::control_group::ControlGroup;
use crate::held_folder::{HeldFolder, PREFIX};
use crate::invocation::Invocation;
use crate::process::command_output::{CommandOutput, KillReason};
use crate::process::interrupt::Interrupt;
use crate::spawner::Spawner;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A build may take as long as this.
const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// What is kept of what git and a build print on standard output; of standard error only the end is
/// reported.
const OUTPUT_LIMIT_BYTES: usize = 64 << 20;

/// Revisions that are checked out until this is dropped. They lie where a later lab finds and
/// removes those of one that was killed.
#[derive(Debug)]
pub struct Revisions {
    spawner: Spawner,
    home: HeldFolder,
    checked_out: Vec<PathBuf>,
    /// The working folder within its repository: empty, or with a slash at its end.
    prefix: String,
}

impl Revisions {
    /// None yet, of the repository that the working folder is in.
    ///
    /// # Errors
    /// It is in none, or there can be no temporary folder.
    pub fn new(spawner: Spawner) -> Result<Revisions, RaceRunError> {
        let git = ["git", "rev-parse", "--show-prefix"];
        let prefix = run(&spawner, &git, Path::new("."), "git")?;
        let name = format!("{PREFIX}{}.revisions", std::process::id());
        let home = HeldFolder::create(&std::env::temp_dir().join(name))
            .map_err(|error| RaceRunError::Machine("git".to_owned(), error))?;
        Ok(Revisions { spawner, home, checked_out: Vec::new(), prefix: prefix.trim().to_owned() })
    }

    /// Checks `revision` out, runs `build` in it if there is one, and returns its folder that is
    /// the working folder's counterpart.
    ///
    /// # Errors
    /// There is no such revision, or its build failed; the last line of standard error says why.
    pub fn check_out(
        &mut self,
        revision: &str,
        build: Option<&str>,
    ) -> Result<PathBuf, RaceRunError> {
        let here = Path::new(".");
        let named = format!("{revision}^{{commit}}");
        let git = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", &named];
        let commit = run(&self.spawner, &git, here, revision).map_err(|error| match error {
            RaceRunError::NotBuilt(..) => RaceRunError::NoRevision(revision.to_owned()),
            error => error,
        })?;
        let worktree = self.home.path().join(self.checked_out.len().to_string());
        let place = worktree.display().to_string();
        let git = ["git", "worktree", "add", "--detach", "--quiet", &place, commit.trim()];
        run(&self.spawner, &git, here, revision)?;
        self.checked_out.push(worktree.clone());
        let folder = worktree.join(&self.prefix);
        if let Some(build) = build {
            let whose = format!("the build of {revision}");
            run(&self.spawner, &["/bin/sh", "-c", build], &folder, &whose)?;
        }
        Ok(folder)
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        // Whatever ended the race has to leave time for this.
        self.spawner.interrupt = Interrupt::new();
        for folder in &self.checked_out {
            let place = folder.display().to_string();
            let git = ["git", "worktree", "remove", "--force", &place];
            let _ = finish(&self.spawner, &git, Path::new("."));
        }
        let _ = std::fs::remove_dir_all(self.home.path());
    }
}

/// What a command prints.
fn run(
    spawner: &Spawner,
    words: &[&str],
    folder: &Path,
    whose: &str,
) -> Result<String, RaceRunError> {
    let output = finish(spawner, words, folder)
        .map_err(|error| RaceRunError::NotBuilt(whose.to_owned(), error))?;
    if output.killed == Some(KillReason::Interrupted) {
        return Err(RaceRunError::Interrupted);
    }
    if !output.succeeded() {
        return Err(RaceRunError::NotBuilt(whose.to_owned(), why(&output)));
    }
    Ok(output.text)
}

/// How it failed. Some compilers say it on standard output, and most say first what is wrong.
fn why(output: &CommandOutput) -> String {
    let how = output.describe();
    let first = output.exit.first_error.as_deref().filter(|first| !how.contains(first));
    let printed = || output.text.lines().rev().find(|line| !line.trim().is_empty());
    let said = match &output.exit.last_error {
        Some(_) => first,
        None => printed(),
    };
    said.map_or(how.clone(), |said| format!("{}: {how}", said.trim()))
}

fn finish(spawner: &Spawner, words: &[&str], folder: &Path) -> Result<CommandOutput, String> {
    let command = words.iter().copied();
    let invocation = Invocation::of_tool(&[], folder);
    let process = spawner.spawn_as_is(command, &invocation, ControlGroup::default());
    let process = process.map_err(|error| error.to_string())?;
    let deadline = Instant::now() + BUILD_TIMEOUT;
    Ok(process.collect(deadline, OUTPUT_LIMIT_BYTES, &spawner.interrupt))
}
