//! Suites and subjects by name: each is a folder with a declaration in it.

use crate::failure::Failure;
use bookend_load::nearest::Suggestion;
use bookend_load::system::reason;
use std::fs;
use std::path::Path;

/// The file that makes a folder a suite.
pub const SUITE_FILE: &str = "suite.toml";

/// The file that makes a folder a subject.
pub const SUBJECT_FILE: &str = "subject.toml";

/// The names in `folder`, sorted: its folders that have a `declaration`.
///
/// # Errors
/// [`Failure`] when the folder cannot be read.
pub fn in_folder(folder: &Path, declaration: &str) -> Result<Vec<String>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!(
            "cannot read the folder {}: {}",
            folder.display(),
            reason(&error)
        ))
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.path().join(declaration).is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Checks that a name is one of those in `folder`. `what` is "suite" or "subject".
///
/// # Errors
/// [`Failure`] with the nearest right name.
pub fn require(name: &str, what: &str, folder: &Path, declaration: &str) -> Result<(), Failure> {
    let known = in_folder(folder, declaration)?;
    if known.iter().any(|one| one == name) {
        return Ok(());
    }
    let suggestion = Suggestion::among(name, known);
    Err(Failure::usage(format!(
        "there is no {what} {name} in {}{suggestion}",
        folder.display()
    )))
}
