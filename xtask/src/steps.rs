//! The steps of `make test` in the order in which they start, and those of `make check`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// One thing that is checked, by a command with a log of its own.
#[derive(Clone, Debug)]
pub struct Step {
    /// By which it is asked for.
    pub name: String,
    /// What holds if it passes.
    pub shows: String,
    /// A program and its arguments, run in the root of the repository.
    pub command: Vec<String>,
    /// Steps that have to end first where they run too; asked for alone, it brings them along.
    pub needs: &'static [&'static str],
    /// What no two steps use at the same time.
    pub uses: &'static [Resource],
}

/// What steps take turns at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Cargo's lock on the folder of unoptimized builds.
    DevFolder,
    /// Cargo's lock on the folder of release builds.
    ReleaseFolder,
    /// The lab's own lock, and the ports that published commands name.
    Lab,
}

use Resource::{DevFolder, Lab, ReleaseFolder};

impl Step {
    /// A step that needs nothing and shares everything.
    pub fn running(name: &str, command: &[&str]) -> Self {
        Step {
            name: name.to_owned(),
            shows: String::new(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            needs: &[],
            uses: &[],
        }
    }
}

/// `make check`: what somebody who changes a crate or a page runs again and again.
pub const QUICK: &[&str] = &["rustfmt", "tidy", "lines", "clippy", "tests", "doc-tests"];

const LANGUAGES: &[&str] = &["languages"];
const TESTS: &[&str] = &["build-tests"];
const TESTS_AND_LANGUAGES: &[&str] = &["build-tests", "languages"];
const RELEASE: &[&str] = &["release"];
const RELEASE_AND_LANGUAGES: &[&str] = &["release", "languages"];

/// A line of the table: name, line of shell, what it needs and uses, what it shows.
type Row = (&'static str, &'static str, &'static [&'static str], &'static [Resource], &'static str);

/// In the order in which they start where nothing holds them up. The steps of the lab take turns
/// and wait most of the time, so the first of them starts as soon as there is a release build. It
/// builds what the others call.
#[rustfmt::skip]
const BEFORE_SUBJECTS: &[Row] = &[
    ("rustfmt", "scripts/component rustfmt && cargo fmt --all --check", &[], &[],
        "sources are formatted"),
    ("lines", "\"$XTASK\" lines", &[], &[],
        "no crate has more lines of code than its budget"),
    ("languages", "scripts/languages", &[], &[],
        "what subjects in other languages and networks of tests need is installed"),
    ("release", "cargo build --release --locked -p bookend", &[], &[ReleaseFolder],
        "the command builds as users run it"),
    ("build-tests", "\"$XTASK\" build-tests", &[], &[DevFolder],
        "the workspace's tests build"),
    ("tidy", "cargo test --locked -p xtask", &[], &[DevFolder],
        "the tree keeps the project's rules"),
    ("calls", "scripts/calls", RELEASE_AND_LANGUAGES, &[Lab],
        "every subject and variant answers one verified call"),
    ("originals", "scripts/originals", RELEASE_AND_LANGUAGES, &[Lab],
        "the published command lines run as printed"),
    ("slow-tests", "\"$XTASK\" slow-tests", TESTS_AND_LANGUAGES, &[],
        "the slow test binaries pass"),
    ("tests", "\"$XTASK\" tests", TESTS, &[],
        "all other test binaries pass"),
    ("clippy", "scripts/component clippy && \
        cargo clippy --workspace --all-targets --all-features --locked -- -D warnings && \
        cargo clippy -p bookend-io -p bookend-server -p bookend-load --no-default-features --locked -- -D warnings",
        &[], &[DevFolder],
        "clippy has nothing to say, also where io_uring is left out"),
];

/// What starts after the steps of the subjects.
#[rustfmt::skip]
const AFTER_SUBJECTS: &[Row] = &[
    ("smoke", "scripts/smoke", RELEASE_AND_LANGUAGES, &[Lab],
        "a suite runs from the build to the report"),
    ("artefacts", "scripts/release --here --prove", RELEASE_AND_LANGUAGES, &[ReleaseFolder],
        "a wheel, an archive and a Debian package each make a first call from nothing"),
    ("ray", "scripts/ray", RELEASE_AND_LANGUAGES, &[],
        "a Ray cluster runs a load test of several machines, and its types and tests hold"),
    ("deny", "scripts/deny", &[], &[],
        "what is shipped keeps deny.toml: licences, bans, sources"),
    ("workflows", "scripts/workflows", &["conformance-tools"], &[],
        "actionlint has nothing to say of the action and the workflows that are printed"),
    ("counts", "scripts/counts", RELEASE, &[Lab],
        "the load generator counts what the witness counts"),
    ("recompute", "scripts/recompute", &[], &[],
        "what pages of claims and the README say follows from the raw rounds, by code of its own"),
    ("pages", "scripts/pages", &["release", "build-tests"], &[Lab],
        "the pages that bookend writes work in a browser"),
    ("conformance-tools", "scripts/conformance-tools", LANGUAGES, &[],
        "the programs of the outside suites build"),
    ("conformance", "scripts/conformance", &["release", "conformance-tools"], &[DevFolder],
        "both ends pass the outside suites"),
    ("instructions", "scripts/instructions", RELEASE, &[],
        "a call costs the server as many instructions as are committed"),
    ("doc", "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked", &[], &[DevFolder],
        "every public item is documented, and links lead somewhere"),
    ("doc-tests", "cargo test --workspace --doc --locked", &[], &[DevFolder],
        "the examples in docstrings run"),
    ("packages", "scripts/packages", &[], &[DevFolder],
        "each library builds from its package alone"),
    ("fuzz", "scripts/fuzz", &[], &[],
        "what reads bytes takes 20,000 inputs made of its seeds"),
    ("no-std", "scripts/no-std", &[], &[],
        "wire needs neither I/O nor a clock"),
];

/// All of them.
pub fn all() -> Vec<Step> {
    let step = |&(name, line, needs, uses, shows): &Row| Step {
        needs,
        uses,
        shows: shows.to_owned(),
        ..Step::running(name, &["sh", "-c", line])
    };
    let before = BEFORE_SUBJECTS.iter().map(step);
    let after = AFTER_SUBJECTS.iter().map(step);
    before.chain(subjects(&root())).chain(after).collect()
}

/// A step for each subject whose tools bring rules with them: Rust and Go.
fn subjects(root: &Path) -> Vec<Step> {
    let below = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let folders: BTreeSet<PathBuf> = below(&root.join("subjects"))
        .into_iter()
        .flat_map(|folder| below(&folder).into_iter().chain([folder]))
        .filter(|folder| ["Cargo.toml", "go.mod"].iter().any(|name| folder.join(name).exists()))
        .collect();
    folders.iter().map(|folder| subject(root, folder)).collect()
}

fn subject(root: &Path, folder: &Path) -> Step {
    let inside = folder.strip_prefix(root).expect("it was found below the root");
    let inside = inside.to_string_lossy();
    let name = inside.replace("subjects/", "subject-").replace('/', "-");
    let is_go = folder.join("go.mod").exists();
    Step {
        needs: if is_go { LANGUAGES } else { &[] },
        shows: "it keeps its language's rules, and builds".to_owned(),
        ..Step::running(&name, &["scripts/subject", &inside])
    }
}

/// The steps of these names and those that they need, in the order of all; all where none is named.
///
/// # Errors
///
/// A name that no step has.
pub fn chosen(names: &[&str], all: Vec<Step>) -> Result<Vec<Step>, String> {
    if names.is_empty() {
        return Ok(all);
    }
    let mut open = names.to_vec();
    let mut wanted = BTreeSet::new();
    while let Some(name) = open.pop() {
        let step = all.iter().find(|step| step.name == name);
        let step = step.ok_or_else(|| format!("no step {name}: --list names all"))?;
        if wanted.insert(step.name.clone()) {
            open.extend(step.needs);
        }
    }
    Ok(all.into_iter().filter(|step| wanted.contains(&step.name)).collect())
}

/// Prints the name of each step and what it shows; true.
pub fn list() -> bool {
    for step in all() {
        println!("{:<32} {}", step.name, step.shows);
    }
    true
}

/// The root of the repository.
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("this crate is in a folder of the root").to_owned()
}

/// Where cargo builds.
pub fn target_folder() -> PathBuf {
    let default = || root().join("target");
    env::var_os("CARGO_TARGET_DIR").map_or_else(default, PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(steps: &[Step]) -> Vec<&str> {
        steps.iter().map(|step| step.name.as_str()).collect()
    }

    #[test]
    fn a_step_brings_along_what_it_needs_in_order() {
        let chosen = chosen(&["calls"], all()).expect("a step of that name");
        assert_eq!(names(&chosen), ["languages", "release", "calls"]);
    }

    #[test]
    fn a_name_that_no_step_has_is_refused_by_name() {
        let error = chosen(&["rustfmt", "gone"], all()).expect_err("no such step");
        assert!(error.contains("no step gone"), "{error}");
    }

    #[test]
    fn every_step_has_a_name_of_its_own_and_needs_what_is_there() {
        let all = all();
        let unique: BTreeSet<&str> = names(&all).into_iter().collect();
        assert_eq!(unique.len(), all.len());
        let mut needed = all.iter().flat_map(|step| step.needs).chain(QUICK);
        assert_eq!(needed.find(|name| !unique.contains(**name)), None);
    }

    #[test]
    fn subjects_are_found_on_both_levels() {
        let all = all();
        for name in ["subject-rust-tonic", "subject-rust-tonic-0.11", "subject-go-grpc"] {
            assert!(names(&all).contains(&name), "{name}");
        }
    }

    /// The jobs of the workflow: `make check`, and groups of steps under `steps:` on one line.
    #[test]
    fn the_workflow_runs_every_step_once() {
        let path = root().join(".github/workflows/ci.yml");
        let workflow = fs::read_to_string(path).expect("the workflow is committed");
        let groups = workflow.lines().filter_map(|line| line.trim().strip_prefix("steps: "));
        let quick = chosen(QUICK, all()).expect("steps of these names");
        let mut run: Vec<&str> = groups.flat_map(str::split_whitespace).collect();
        // The one step that both need.
        run.retain(|name| *name != "build-tests");
        run.extend(names(&quick));
        run.sort_unstable();
        let all = all();
        let mut expected = names(&all);
        expected.sort_unstable();
        assert_eq!(run, expected);
    }
}
