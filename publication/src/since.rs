//! How much has changed since a record was made, as git tells it. It is said by a command and on
//! the site, and in no committed page: every commit would make that page another one.

use bookend_contract::build_facts::is_clean_revision;
use bookend_contract::printable;
use bookend_results::record::Facts;
use std::path::Path;
use std::process::Command;

/// What most figures rest on: both ends of ours.
const MEASURED: [&str; 4] = ["server", "wire", "io", "load"];

/// When a record was made, and what came after it, a clause: `recorded on 2026-11-26 at
/// 743873410525, 212 commits ago, 40 of them to server, wire, io or load`. The repository is the
/// one around `folder`.
pub fn since(facts: &Facts, folder: &Path) -> String {
    let started = facts.started.to_string();
    let day = started.split('T').next().unwrap_or_default();
    let Some(revision) = facts.revision.as_deref() else {
        let since = format!("--since=@{}", facts.started.unix_ms() / 1000);
        let younger = counted(folder, &[&since, "HEAD"], "younger than that");
        let younger = younger.map_or_else(String::new, |counted| format!("; {counted}"));
        return format!("recorded on {day} at a revision that was not recorded{younger}");
    };
    let shown = printable::line(revision);
    format!("recorded on {day} at {shown}, {}", commits_since(revision, folder))
}

fn commits_since(revision: &str, folder: &Path) -> String {
    // `-dirty` names no other commit.
    let commit = revision.split('-').next().unwrap_or_default();
    if git(folder, &["rev-parse", "--is-inside-work-tree"]).is_none() {
        return "with no git history next to it".to_owned();
    }
    let is_known = is_clean_revision(commit)
        && git(folder, &["merge-base", "--is-ancestor", commit, "HEAD"]).is_some();
    if !is_known {
        return "which is not in the history of what is checked out".to_owned();
    }
    let counted = counted(folder, &[&format!("{commit}..HEAD")], "ago");
    counted.unwrap_or_else(|| "which git does not count from".to_owned())
}

/// How many commits there are, and how many to both ends of ours: `2 commits ago, 1 of them to`.
fn counted(folder: &Path, which: &[&str], how: &str) -> Option<String> {
    let count = [&["rev-list", "--count"], which, &["--"]].concat();
    let paths = MEASURED.map(|name| format!(":(top)crates/{name}/src"));
    let of_measured: Vec<&str> =
        count.iter().copied().chain(paths.iter().map(String::as_str)).collect();
    let (all, measured) = (git(folder, &count)?, git(folder, &of_measured)?);
    let commits = if all == "1" { "commit" } else { "commits" };
    let (last, others) = MEASURED.split_last()?;
    Some(format!("{all} {commits} {how}, {measured} of them to {} or {last}", others.join(", ")))
}

/// What git prints, if it succeeds.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(folder).args(words).output().ok()?;
    let text = output.status.success().then_some(output.stdout)?;
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn run(home: &TempDir, words: &[&str]) -> String {
        let identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"];
        let mut git = Command::new("git");
        let output = git.current_dir(home.path()).args(identity).args(words).output();
        let output = output.expect("git");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(home: &TempDir, file: &str) -> String {
        let file = home.path().join(file);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        std::fs::write(file, before + "more\n").expect("written");
        run(home, &["add", "."]);
        run(home, &["commit", "--quiet", "--message", "next"]);
        run(home, &["rev-parse", "--short=12", "HEAD"])
    }

    #[test]
    fn commits_since_a_revision_are_counted_and_those_to_both_ends_of_ours() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let since = |revision: &str| commits_since(revision, home.path());
        assert_eq!(since("0123456789ab"), "with no git history next to it");
        run(&home, &["init", "--quiet"]);
        let first = commit(&home, "README.md");
        assert_eq!(since(&first), "0 commits ago, 0 of them to server, wire, io or load");
        commit(&home, "README.md");
        assert_eq!(since(&first), "1 commit ago, 0 of them to server, wire, io or load");
        commit(&home, "crates/wire/src/lib.rs");
        commit(&home, "crates/wire/tests/frames.rs");
        let last = commit(&home, "crates/io/src/lib.rs");
        let told = "4 commits ago, 2 of them to server, wire, io or load";
        assert_eq!(since(&first), told);
        assert_eq!(since(&format!("{first}-dirty")), told);
        let deeper = home.path().join("crates/io");
        assert_eq!(commits_since(&first, &deeper), told);
        let absent = "which is not in the history of what is checked out";
        for other in ["0123456789ab", "HEAD", "--all", ""] {
            assert_eq!(since(other), absent, "{other}");
        }
        // Git's dates have whole seconds; all of these are after 1970.
        let younger = counted(home.path(), &["--since=@1", "HEAD"], "younger than that");
        let said = "5 commits younger than that, 2 of them to server, wire, io or load";
        assert_eq!(younger.as_deref(), Some(said));
        run(&home, &["checkout", "--quiet", "--detach", &first]);
        assert_eq!(since(&last), absent, "it is on another branch");
    }
}
