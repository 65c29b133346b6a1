//! What a program knows of its own build.

use crate::printable;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The build of the `bookend` that measured. `Display`: in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildFacts {
    /// Its version: `0.1.0`.
    pub version: String,
    /// The last commit that changed anything it is built of, shortened, with `-dirty` behind it
    /// where it was built of changed files. `None`: it was built outside of a git repository.
    pub revision: Option<String>,
    /// How it was optimized ([`crate::build_profile::profile_words`]).
    pub profile: String,
}

impl fmt::Display for BuildFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.revision.as_deref().unwrap_or("an unknown revision");
        let line = format!("bookend {} of {from}, {}", self.version, self.profile);
        // The facts of another build come out of a file.
        write!(f, "{}", printable::line(&line))
    }
}

/// Whether `revision` names a commit alone: what was measured can be checked out again.
pub fn is_clean_revision(revision: &str) -> bool {
    /// The digits of git's shortest names, and of whole ones, of SHA-256 repositories too.
    const DIGITS: std::ops::RangeInclusive<usize> = 7..=64;
    DIGITS.contains(&revision.len()) && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_clean_and_whatever_else_is_said_of_it_is_not() {
        assert!(is_clean_revision("743873410525"));
        for other in ["", "main", "743873410525-dirty", "743873410525 ", "a1b2"] {
            assert!(!is_clean_revision(other), "{other}");
        }
    }

    #[test]
    fn a_build_without_a_revision_says_that_it_is_unknown() {
        let build =
            BuildFacts { version: "0.1.0".into(), revision: None, profile: "dev: ...".into() };
        assert_eq!(build.to_string(), "bookend 0.1.0 of an unknown revision, dev: ...");
    }
}
