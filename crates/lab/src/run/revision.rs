//! The commit on which a run is made.

use std::path::Path;
use std::process::Command;

/// The commit that is checked out in the repository around `folder`, shortened, with `-dirty`
/// behind it where its files were changed. `None`: there is no repository, no commit or no git.
pub fn checked_out(folder: &Path) -> Option<String> {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["--no-optional-locks", "describe", "--always", "--dirty"]);
    // Without tags: a commit is called the same before and after somebody tags it.
    let output = git.args(["--abbrev=12", "--exclude=*"]).output().ok()?;
    let name = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, words: &[&str]) {
        let identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"];
        let output = Command::new("git").current_dir(folder).args(identity).args(words).output();
        let output = output.expect("git");
        assert!(output.status.success(), "{output:?}");
    }

    #[test]
    fn a_commit_is_named_and_a_change_of_its_files_is_told() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path();
        git(folder, &["init", "--quiet"]);
        assert_eq!(checked_out(folder), None, "there is no commit");
        let file = folder.join("server.c");
        std::fs::write(&file, "one").expect("written");
        git(folder, &["add", "."]);
        git(folder, &["commit", "--quiet", "--message", "first"]);
        let commit = checked_out(folder).expect("a commit");
        assert!(commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()));
        git(folder, &["tag", "v1"]);
        assert_eq!(checked_out(folder).as_ref(), Some(&commit));
        std::fs::write(&file, "another").expect("written");
        assert_eq!(checked_out(folder), Some(format!("{commit}-dirty")));
    }
}
