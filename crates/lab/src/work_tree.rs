//! What git says of the folder in which a run is made: which revision is measured, and what speaks
//! against it.

use bookend_contract::build_facts::{BuildFacts, is_clean_revision};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The attribute by which a repository says which of its files are made of others, as GitHub reads
/// it. No revision depends on them, so a result can be committed where it was measured.
const GENERATED: &str = "linguist-generated";

/// Most files that are named; the others are counted.
const NAMED_MAX: usize = 10;

/// A file that only Bookend's own repository has.
const OWN_FILE: &str = "crates/cli/src/own_build.rs";

/// The work tree of a git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTree {
    /// Its root.
    root: PathBuf,
    /// The last commit that changed anything but what is generated, shortened. `None`: no commit
    /// did.
    commit: Option<String>,
    /// Files that are not as that commit has them, or are in none and not ignored.
    changed: Vec<String>,
}

impl WorkTree {
    /// The work tree around `folder`. `None`: the folder is in none, or git is missing or refuses.
    pub fn around(folder: &Path) -> Option<WorkTree> {
        let root = PathBuf::from(git(folder, &["rev-parse", "--show-toplevel"])?);
        let attributes = std::fs::read_to_string(root.join(".gitattributes")).unwrap_or_default();
        let others: Vec<String> = [":(top)".to_owned()]
            .into_iter()
            .chain(generated(&attributes).map(|path| format!(":(top,exclude,glob){path}")))
            .collect();
        let with_others = |words: &[&str]| {
            let others = ["--"].into_iter().chain(others.iter().map(String::as_str));
            git(&root, &words.iter().copied().chain(others).collect::<Vec<_>>())
        };
        // Before the first commit git has no log.
        let commit = with_others(&["log", "-1", "--abbrev=12", "--format=%h"]);
        let listed = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"];
        let changed = with_others(&listed)?;
        // Two letters and a blank stand before each name.
        let names = changed.split('\0').filter_map(|line| line.get(3..));
        Some(WorkTree {
            changed: names.map(str::to_owned).collect(),
            commit: commit.filter(|commit| !commit.is_empty()),
            root,
        })
    }

    /// The commit, with `-dirty` behind it where files are not as it has them.
    pub fn revision(&self) -> Option<String> {
        let dirty = if self.changed.is_empty() { "" } else { "-dirty" };
        self.commit.as_ref().map(|commit| format!("{commit}{dirty}"))
    }

    /// Why the revision does not say what is measured, a clause each. `sources` are git's patterns
    /// of what the measuring program, whose `build` that is, was built of.
    pub fn doubts(&self, build: &BuildFacts, sources: &[String]) -> Vec<String> {
        self.changes().into_iter().chain(self.of_build(build, sources)).collect()
    }

    fn changes(&self) -> Option<String> {
        let names = self.changed.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>();
        let and_more = match self.changed.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let has = if self.changed.len() == 1 { "has" } else { "have" };
        (!names.is_empty())
            .then(|| format!("{}{and_more} {has} changes that are in no commit", names.join(", ")))
    }

    /// Another repository has another history, and says nothing of the program that measures.
    fn of_build(&self, build: &BuildFacts, sources: &[String]) -> Option<String> {
        if !self.root.join(OWN_FILE).is_file() {
            return None;
        }
        let Some(revision) = &build.revision else {
            return Some("bookend does not know which revision it was built from".to_owned());
        };
        if !is_clean_revision(revision) {
            return Some(format!("bookend was built from {revision}, with changes of its own"));
        }
        let commit = format!("{revision}^{{commit}}");
        if git(&self.root, &["cat-file", "-e", &commit]).is_none() {
            return Some(format!(
                "bookend was built from {revision}, which is not in this repository"
            ));
        }
        let sources = sources.iter().map(String::as_str);
        let words: Vec<&str> =
            ["diff", "--quiet", revision, "--"].into_iter().chain(sources).collect();
        git(&self.root, &words).is_none().then(|| {
            format!("bookend was built from {revision}, and its sources have changed since")
        })
    }
}

/// The patterns of generated files in the text of `.gitattributes`, from the root. Where a pattern
/// has no folder, it is meant in every one.
fn generated(attributes: &str) -> impl Iterator<Item = String> {
    let is_generated = |word: &str| {
        word.strip_prefix(GENERATED).is_some_and(|value| value.is_empty() || value == "=true")
    };
    attributes.lines().filter_map(move |line| {
        let mut words = line.split_whitespace();
        let pattern = words.next().filter(|pattern| !pattern.starts_with(['#', '"']))?;
        words.any(is_generated).then(|| match pattern.split_once('/') {
            Some(("", inside)) => inside.to_owned(),
            Some(_) => pattern.to_owned(),
            None => format!("**/{pattern}"),
        })
    })
}

/// What git prints, if it succeeds. It takes no lock, and so disturbs no other git.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    let output = git.current_dir(folder).arg("--no-optional-locks").args(words).output().ok()?;
    let text =
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())?;
    Some(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const ATTRIBUTES: &str = "# pages\nrecords/** linguist-generated\n\
                              suites/*/RESULTS.md linguist-generated=true\n\
                              *.svg linguist-generated\n/top.md text linguist-generated\n\
                              notes.md linguist-generated=false\n";

    /// A repository with a source, a record and a page in its first commit.
    struct Repository {
        home: TempDir,
    }

    impl Repository {
        fn new() -> Repository {
            let repository = Repository { home: tempfile::tempdir().expect("a temporary folder") };
            repository.git(&["init", "--quiet"]);
            repository.write(".gitattributes", ATTRIBUTES);
            repository.write(".gitignore", "/target\n");
            for file in ["server.c", "records/a/full.jsonl", "suites/a/RESULTS.md"] {
                repository.write(file, "one");
            }
            repository.commit();
            repository
        }

        fn write(&self, name: &str, text: &str) {
            let file = self.home.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            std::fs::write(file, text).expect("written");
        }

        fn git(&self, words: &[&str]) -> String {
            let identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"];
            let mut git = Command::new("git");
            let output = git.current_dir(self.home.path()).args(identity).args(words).output();
            let output = output.expect("git");
            assert!(output.status.success(), "{output:?}");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }

        fn commit(&self) -> String {
            self.git(&["add", "."]);
            self.git(&["commit", "--quiet", "--message", "next"]);
            self.git(&["rev-parse", "--short=12", "HEAD"])
        }

        fn tree(&self) -> WorkTree {
            WorkTree::around(self.home.path()).expect("a work tree")
        }

        fn revision(&self) -> String {
            self.tree().revision().expect("a commit")
        }

        fn doubts(&self, build: &str, sources: &[&str]) -> Vec<String> {
            let revision = (!build.is_empty()).then(|| build.to_owned());
            let (version, profile) = ("0.1.0".to_owned(), "dev".to_owned());
            let build = BuildFacts { version, revision, profile };
            let sources: Vec<String> = sources.iter().map(|source| (*source).to_owned()).collect();
            self.tree().doubts(&build, &sources)
        }
    }

    #[test]
    fn without_a_repository_nothing_is_known_and_before_a_commit_no_revision_is() {
        let home = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(WorkTree::around(home.path()), None);
        let repository = Repository { home };
        repository.git(&["init", "--quiet"]);
        repository.write("server.c", "one");
        assert_eq!(repository.tree().revision(), None);
        assert_eq!(repository.doubts("", &[]), ["server.c has changes that are in no commit"]);
    }

    #[test]
    fn the_revision_is_the_last_commit_that_changed_more_than_what_is_generated() {
        let repository = Repository::new();
        let first = repository.revision();
        assert!(is_clean_revision(&first) && first.len() == 12, "{first}");
        repository.git(&["tag", "v1"]);
        assert_eq!(repository.revision(), first, "a tag renames no commit");
        for generated in ["records/a/raw/new.txt", "suites/a/RESULTS.md", "x/p.svg", "top.md"] {
            repository.write(generated, "two");
            assert_eq!(repository.revision(), first, "{generated} is changed");
            repository.commit();
            assert_eq!(repository.revision(), first, "{generated} is committed");
        }
        repository.git(&["checkout", "--quiet", "--detach"]);
        assert_eq!(repository.revision(), first);
        for source in ["server.c", "notes.md", "x/top.md"] {
            repository.write(source, "two");
            let last = repository.commit();
            assert_eq!(repository.revision(), last, "{source}");
        }
    }

    #[test]
    fn a_merge_is_the_revision_only_where_it_is_like_neither_side() {
        let repository = Repository::new();
        let first = repository.revision();
        repository.git(&["checkout", "--quiet", "-b", "pages"]);
        repository.write("suites/a/RESULTS.md", "two");
        repository.commit();
        repository.git(&["checkout", "--quiet", "-"]);
        repository.git(&["merge", "--quiet", "--no-ff", "-m", "pages", "pages"]);
        assert_eq!(repository.revision(), first);
    }

    #[test]
    fn a_change_is_dirty_and_its_file_is_named_wherever_the_lab_runs() {
        let repository = Repository::new();
        let first = repository.revision();
        repository.write("target/debug/server", "ignored");
        assert_eq!(repository.revision(), first);
        repository.write("server.c", "two");
        repository.write("new/a b.c", "new");
        assert_eq!(repository.revision(), format!("{first}-dirty"));
        let said = ["new/a b.c, server.c have changes that are in no commit"];
        let mut doubts = repository.doubts("", &[]);
        doubts
            .iter_mut()
            .for_each(|doubt| *doubt = doubt.replace("server.c, new/a b.c", "new/a b.c, server.c"));
        assert_eq!(doubts, said);
        let deeper = WorkTree::around(&repository.home.path().join("suites/a"));
        assert_eq!(deeper, Some(repository.tree()));
        for number in 0..12 {
            repository.write(&format!("new/{number}.c"), "new");
        }
        let said = repository.doubts("", &[]).concat();
        assert!(said.ends_with(" and 4 more have changes that are in no commit"), "{said}");
        repository.git(&["add", "."]);
        assert_eq!(repository.revision(), format!("{first}-dirty"), "staged is not committed");
        let last = repository.commit();
        assert_eq!(repository.revision(), last);
        repository.git(&["rm", "--quiet", "server.c"]);
        assert_eq!(repository.doubts("", &[]), ["server.c has changes that are in no commit"]);
    }

    #[test]
    fn in_our_own_repository_the_command_must_be_built_from_what_is_checked_out() {
        let repository = Repository::new();
        let of_others = repository.doubts("", &["server.c"]);
        assert_eq!(of_others, [""; 0], "another repository says nothing of bookend");
        repository.write(OWN_FILE, "");
        let first = repository.commit();
        let doubts = |build: &str| repository.doubts(build, &[":(top,glob)server.c"]);
        assert_eq!(doubts(&first), [""; 0]);
        assert_eq!(doubts(""), ["bookend does not know which revision it was built from"]);
        let dirty = format!("{first}-dirty");
        let said = format!("bookend was built from {dirty}, with changes of its own");
        assert_eq!(doubts(&dirty), [said]);
        let said = "bookend was built from 0123456789ab, which is not in this repository";
        assert_eq!(doubts("0123456789ab"), [said]);
        repository.write("notes.md", "not a source");
        repository.commit();
        assert_eq!(doubts(&first), [""; 0]);
        repository.write("server.c", "two");
        repository.commit();
        let said = format!("bookend was built from {first}, and its sources have changed since");
        assert_eq!(doubts(&first), [said]);
    }
}
