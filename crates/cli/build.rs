//! What the command knows of its own build, as variables of its compiler: the commit, the profile.

#[path = "../contract/src/build_profile.rs"]
mod build_profile;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the command is built of, as git's patterns from the root. Tests are not of it, so a build
/// is of the same commit whatever they are.
const SOURCES: [&str; 6] = [
    "crates/*/src/**",
    "crates/*/build.rs",
    "crates/*/Cargo.toml",
    "proto/**",
    "Cargo.toml",
    "Cargo.lock",
];

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = own.join("../..");
    let revision = revision(&root);
    for source in SOURCES.iter().flat_map(|source| matching(&root, source)) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    // A commit changes no source. Whoever commits what was built gets its name by the next build; a
    // clean build stays of the commit that it names, and is not made again for every other one.
    if revision.ends_with("-dirty") {
        let log = git(&root, &["rev-parse", "--git-path", "logs/HEAD"]).unwrap_or_default();
        println!("cargo::rerun-if-changed={}", root.join(log).display());
    }
    println!("cargo::rustc-env=BOOKEND_REVISION={revision}");
    println!("cargo::rustc-env=BOOKEND_PROFILE={}", profile(&root));
    println!("cargo::rustc-env=BOOKEND_SOURCES={}", SOURCES.join(" "));
}

/// The last commit that changed a source; empty without git, as in an archive. An archive within
/// somebody's own repository is not of that one.
fn revision(root: &Path) -> String {
    let is_tracked = git(root, &["ls-files", "--error-unmatch", "crates/cli/build.rs"]);
    let patterns = SOURCES.map(|source| format!(":(top,glob){source}"));
    let with_sources = |words: &[&str]| {
        let sources = ["--"].into_iter().chain(patterns.iter().map(String::as_str));
        git(root, &words.iter().copied().chain(sources).collect::<Vec<_>>())
    };
    let commit = with_sources(&["log", "-1", "--abbrev=12", "--format=%h"]);
    let changes = with_sources(&["status", "--porcelain", "--untracked-files=all"]);
    match (is_tracked, commit, changes) {
        (Some(_), Some(commit), Some(changes)) if !commit.is_empty() => {
            commit + if changes.is_empty() { "" } else { "-dirty" }
        }
        _ => String::new(),
    }
}

fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output =
        Command::new("git").current_dir(root).arg("--no-optional-locks").args(words).output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// The files and folders that are there: one that is not would be a reason to build every time.
fn matching(root: &Path, source: &str) -> Vec<PathBuf> {
    let source = source.trim_end_matches("/**");
    let Some((folder, rest)) = source.split_once("/*/") else {
        return vec![root.join(source)];
    };
    let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().join(rest)).filter(|path| path.exists()).collect()
}

/// Of the profile whose folder this is built in: Cargo tells a script of no other.
fn profile(root: &Path) -> String {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let folders: Vec<_> = out.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let build = folders.iter().rposition(|part| part == "build").unwrap_or_default();
    let folder = build.checked_sub(1).map_or("unknown", |at| folders[at].as_str());
    let name = if folder == "debug" { "dev" } else { folder };
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    let setting = |profile: &str, key: &str| {
        let mut lines = manifest.lines().map(str::trim);
        lines.find(|line| *line == format!("[profile.{profile}]"))?;
        let own = lines.take_while(|line| !line.starts_with('['));
        let mut pairs = own.filter_map(|line| line.split_once('='));
        let (_, value) = pairs.find(|(name, _)| name.trim() == key)?;
        Some(value.trim().trim_matches('"').to_owned())
    };
    build_profile::profile_words(name, setting, |name| {
        println!("cargo::rerun-if-env-changed={name}");
        env::var(name).ok()
    })
}
