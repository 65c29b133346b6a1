//! Suites and subjects by name: each is a folder with a declaration in it.

use crate::terminal::Failure;
use bookend_payload::error_text::{reason, suggestion};
use std::fs;
use std::path::Path;

/// What has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    word: &'static str,
    /// The file that makes a folder one.
    declaration: &'static str,
    /// The flag for the folder of all.
    flag: &'static str,
}

impl Named {
    /// A folder of `--suites`.
    pub const SUITE: Named = Named { word: "suite", declaration: "suite.toml", flag: "--suites" };
    /// A folder of `--subjects-dir`.
    pub const SUBJECT: Named =
        Named { word: "subject", declaration: "subject.toml", flag: "--subjects-dir" };

    /// The names in `folder`, sorted.
    ///
    /// # Errors
    /// [`Failure`] when the folder cannot be read.
    pub fn all(self, folder: &Path) -> Result<Vec<String>, Failure> {
        let unreadable = |error: std::io::Error| {
            let reason = reason(&error);
            let (folder, flag) = (folder.display(), self.flag);
            Failure::usage(format!(
                "cannot read {folder}: {reason}; say where with {flag} DIR, or make one with \
                 bookend init"
            ))
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if entry.path().join(self.declaration).is_file() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Checks that a name is one of those in `folder`.
    ///
    /// # Errors
    /// [`Failure`] with the nearest right name.
    pub fn require(self, name: &str, folder: &Path) -> Result<(), Failure> {
        let known = self.all(folder)?;
        if known.iter().any(|one| one == name) {
            return Ok(());
        }
        let suggestion = suggestion(name, known);
        let (word, folder) = (self.word, folder.display());
        Err(Failure::usage(format!("there is no {word} {name} in {folder}{suggestion}")))
    }
}
