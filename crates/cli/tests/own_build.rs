//! The build script of the command in repositories of its own: what a build says that it is of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const OWN: &str = env!("CARGO_MANIFEST_DIR");

/// A tree with a crate of each kind of file, and the build script as a program.
struct Tree {
    home: TempDir,
}

impl Tree {
    fn new() -> Tree {
        let tree = Tree { home: tempfile::tempdir().expect("a temporary folder") };
        let script = fs::read_to_string(Path::new(OWN).join("build.rs")).expect("readable");
        let profile = Path::new(OWN).join("../contract/src/build_profile.rs");
        tree.write("tree/crates/cli/build.rs", &script);
        let text = fs::read_to_string(profile).expect("readable");
        tree.write("tree/crates/contract/src/build_profile.rs", &text);
        for file in ["crates/cli/Cargo.toml", "Cargo.lock", "crates/io/src/epoll.rs"] {
            tree.write(&format!("tree/{file}"), "");
        }
        let settings = "[profile.release]\nlto = \"fat\"\ncodegen-units = 1\n\n\
                        [profile.quick]\ninherits = \"release\"\nlto = \"off\"\n";
        tree.write("tree/Cargo.toml", settings);
        tree.write("tree/.gitignore", "/target\n");
        let mut compiler = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
        compiler.args(["--edition", "2024", "-o"]).arg(tree.path("script"));
        let done =
            compiler.arg(tree.path("tree/crates/cli/build.rs")).output().expect("a compiler");
        assert!(done.status.success(), "{done:?}");
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        fs::write(file, text).expect("written");
    }

    fn git(&self, words: &[&str]) -> String {
        let identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"];
        let mut git = Command::new("git");
        let output = git.current_dir(self.path("tree")).args(identity).args(words).output();
        let output = output.expect("git");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self) -> String {
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message", "next"]);
        self.git(&["rev-parse", "--short=12", "HEAD"])
    }

    /// What the script tells Cargo when it is built in the folder of that profile.
    fn told(&self, folder: &str) -> Vec<String> {
        let mut script = Command::new(self.path("script"));
        script.env("CARGO_MANIFEST_DIR", self.path("tree/crates/cli"));
        script.env("OUT_DIR", self.path(&format!("tree/target/{folder}/build/bookend-1/out")));
        script.env("GIT_CEILING_DIRECTORIES", self.home.path());
        let output = script.output().expect("the script");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    fn variable(&self, folder: &str, name: &str) -> String {
        let begin = format!("cargo::rustc-env={name}=");
        let told = self.told(folder);
        let value = told.iter().find_map(|line| line.strip_prefix(&begin));
        value.unwrap_or_else(|| panic!("{told:?}")).to_owned()
    }

    fn revision(&self) -> String {
        self.variable("release", "BOOKEND_REVISION")
    }
}

#[test]
fn a_build_is_of_the_last_commit_that_changed_what_it_is_built_of() {
    let tree = Tree::new();
    assert_eq!(tree.revision(), "", "there is no repository");
    tree.git(&["init", "--quiet"]);
    assert_eq!(tree.revision(), "", "there is no commit");
    let first = tree.commit();
    assert_eq!(tree.revision(), first);
    // Tests, records and pages are in no program.
    for file in ["crates/io/tests/epoll.rs", "records/a/full.jsonl", "README.md"] {
        tree.write(&format!("tree/{file}"), "new");
        assert_eq!(tree.revision(), first, "{file}");
    }
    tree.commit();
    assert_eq!(tree.revision(), first);
    tree.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(tree.revision(), first);
    for file in ["crates/io/src/epoll.rs", "crates/io/src/new.rs", "Cargo.lock"] {
        tree.write(&format!("tree/{file}"), "other");
        assert_eq!(tree.revision(), format!("{}-dirty", first), "{file}");
        tree.git(&["stash", "--quiet", "--include-untracked"]);
        assert_eq!(tree.revision(), first, "{file}");
    }
}

#[test]
fn a_build_of_changed_files_is_made_again_when_they_are_committed_and_a_clean_one_is_not() {
    let tree = Tree::new();
    tree.git(&["init", "--quiet"]);
    tree.commit();
    let waits_for_a_commit =
        || tree.told("release").iter().any(|line| line.ends_with(".git/logs/HEAD"));
    assert!(!waits_for_a_commit());
    tree.write("tree/crates/io/src/epoll.rs", "other");
    assert!(waits_for_a_commit());
    let commit = tree.commit();
    assert_eq!(tree.revision(), commit);
    let watched = tree.told("release");
    for source in ["crates/cli/../../crates/io/src", "crates/cli/../../Cargo.toml"] {
        let is_watched =
            |line: &String| line.starts_with("cargo::rerun-if-changed=") && line.ends_with(source);
        assert!(watched.iter().any(is_watched), "{source}: {watched:?}");
    }
}

/// The sources may lie in somebody's repository without being of it.
#[test]
fn an_archive_in_another_repository_is_of_no_commit() {
    let tree = Tree::new();
    tree.git(&["init", "--quiet"]);
    tree.git(&["add", "Cargo.toml"]);
    tree.git(&["commit", "--quiet", "--message", "theirs"]);
    assert_eq!(tree.revision(), "");
}

#[test]
fn a_build_says_how_it_was_optimized() {
    let tree = Tree::new();
    let profile = |folder| tree.variable(folder, "BOOKEND_PROFILE");
    assert_eq!(profile("release"), "release: opt-level 3, lto fat, codegen-units 1");
    assert_eq!(profile("quick"), "quick: opt-level 3, lto off, codegen-units 1");
    let dev = "dev: opt-level 0, lto of each crate alone, codegen-units 256";
    assert_eq!(profile("debug"), dev);
    assert_eq!(profile("x86_64-unknown-linux-gnu/debug"), dev);
}
