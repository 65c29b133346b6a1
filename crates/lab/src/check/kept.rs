//! Where the last check of this machine is kept: a file in the user's state folder.

use crate::machine::this_machine;
use bookend_contract::timestamp::Timestamp;
use bookend_results::calibration::{CheckOrigin, InstrumentCheck};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a check is not kept.
#[derive(Debug, Error)]
pub enum KeepError {
    /// The user has no folder for it.
    #[error("neither XDG_STATE_HOME nor HOME is set: the check is not kept")]
    NoFolder,
    /// The file cannot be written.
    #[error("cannot keep the check in {}: {}", .0.display(), .1)]
    Unwritable(PathBuf, io::Error),
}

/// Keeps the JSON of a check, in place of the one before.
///
/// # Errors
/// See [`KeepError`].
pub fn keep(json: &str) -> Result<(), KeepError> {
    let file = file(|name| std::env::var_os(name)).ok_or(KeepError::NoFolder)?;
    let failed = |error| KeepError::Unwritable(file.clone(), error);
    file.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    // A reader must never find half of it.
    let new = file.with_extension("new");
    fs::write(&new, json).and_then(|()| fs::rename(&new, &file)).map_err(failed)
}

/// What the last check says of the instrument that runs now, in one line. `program` is how its user
/// calls it.
pub fn line(program: &str) -> String {
    let known = file(|name| std::env::var_os(name))
        .and_then(|file| fs::read(file).ok())
        .and_then(|json| serde_json::from_slice::<InstrumentCheck>(&json).ok());
    let what = match known {
        None => "the load generator was never checked on this machine".to_owned(),
        Some(check) => match check.is_outdated_for(&origin(&check.origin.witness)) {
            None => return check.quote(),
            Some(why) => format!("the last check says nothing of today: {why}"),
        },
    };
    format!(
        "instrument: {what}. {program} check holds its figures against known ones, in about a minute"
    )
}

/// What runs here and now.
pub fn origin(witness: &str) -> CheckOrigin {
    let binary = std::env::current_exe().and_then(fs::metadata);
    let changed = binary.and_then(|binary| binary.modified());
    CheckOrigin {
        // All crates of the workspace have one version.
        version: env!("CARGO_PKG_VERSION").to_owned(),
        binary_unix_ms: changed.map_or(0, |time| Timestamp::from(time).unix_ms()),
        witness: witness.to_owned(),
        machine: this_machine(),
    }
}

fn file(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let states = set("XDG_STATE_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| Some(set("HOME")?.join(".local/state")));
    Some(states?.join("bookend/check.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_in_the_users_state_folder() {
        let file = |states: &str, home: &str| {
            file(|name| Some(if name == "HOME" { home } else { states }.into()))
        };
        assert_eq!(file("/state", "/a").unwrap(), PathBuf::from("/state/bookend/check.json"));
        let usual = PathBuf::from("/a/.local/state/bookend/check.json");
        assert_eq!(file("", "/a").unwrap(), usual);
        assert_eq!(file("relative", "/a").unwrap(), usual);
        assert_eq!(file("", ""), None);
    }
}
