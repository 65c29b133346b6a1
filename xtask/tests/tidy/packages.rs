//! The libraries are published, each as a package of its own; everything else stays here. What
//! cargo has to be asked for is in `scripts/packages`.

use crate::offence::Offence;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Where the names of the published crates are, in the order in which they are published.
pub const SCRIPT: &str = "scripts/packages";

/// Whether a path is the manifest of something that cargo could publish.
pub fn is_manifest(path: &str) -> bool {
    path.ends_with("/Cargo.toml")
}

/// Whether a manifest is that of a crate on which programs of others depend.
pub fn is_published(text: &str) -> bool {
    let manifest = parsed(text);
    let is_kept = |package: &Value| {
        package.get("publish").is_some_and(|value| value == &Value::Boolean(false))
    };
    manifest.get("package").is_some_and(|package| !is_kept(package))
}

/// Crates that cargo would publish although the script does not name them, and named ones that it
/// would not.
pub fn unlisted(path: &str, text: &str, script: &str) -> Vec<Offence> {
    let manifest = parsed(text);
    let name = manifest.get("package").and_then(|package| package.get("name"));
    let name = name.and_then(Value::as_str).unwrap_or_default();
    let line = script.lines().find_map(|line| line.strip_prefix("packages=\""));
    let listed = line.unwrap_or_default().trim_end_matches('"').split(' ').any(|each| each == name);
    let what = match (is_published(text), listed) {
        (true, false) => format!("{name} is not in {SCRIPT}: name it there, or `publish = false`"),
        (false, true) => format!("{name} is in {SCRIPT}, and is not published"),
        _ => return vec![],
    };
    vec![Offence::of_file(path, what)]
}

/// What a manifest says for its package: what a registry shows, and which files are in it.
const KEYS: [&str; 6] =
    ["description", "keywords", "categories", "license", "rust-version", "include"];

/// What lies next to the manifest and is in the package.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// What a published crate lacks. Once the workspace has an address of the repository, that too.
pub fn lacking(path: &str, text: &str, workspace: &str, paths: &BTreeSet<String>) -> Vec<Offence> {
    let (manifest, workspace) = (parsed(text), parsed(workspace));
    let shared = workspace.get("workspace").and_then(|table| table.get("package"));
    let has_address = shared.is_some_and(|package| package.get("repository").is_some());
    let has = |key: &str| manifest.get("package").is_some_and(|package| package.get(key).is_some());
    let keys = KEYS.into_iter().chain(has_address.then_some("repository"));
    let folder = path.trim_end_matches("Cargo.toml");
    let files = FILES.into_iter().filter(|name| !paths.contains(&format!("{folder}{name}")));
    let lacks = keys.filter(|key| !has(key)).chain(files);
    lacks.map(|what| Offence::of_file(path, format!("lacks {what}"))).collect()
}

/// Dependencies of tests on crates of the workspace that have a version. cargo leaves only those
/// without one out of the package; the tests of the libraries depend on each other in circles,
/// and none could be published first.
pub fn circles_of_tests(path: &str, text: &str) -> Vec<Offence> {
    let manifest = parsed(text);
    let tests = manifest.get("dev-dependencies").and_then(Value::as_table).into_iter().flatten();
    let by_path = |value: &Value| value.get("path").is_some() && value.get("version").is_none();
    let others = tests.filter(|(name, value)| name.starts_with("bookend-") && !by_path(value));
    let what = |name| format!("the tests take {name} by more than its path");
    others.map(|(name, _)| Offence::of_file(path, what(name))).collect()
}

fn parsed(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

#[cfg(test)]
const OURS: &str = "[package]\nname = \"bookend-a\"\n";

#[test]
fn what_cargo_would_publish_and_what_is_listed_are_the_same() {
    let script = "set -eu\npackages=\"bookend-a bookend-b\"\n";
    let kept = format!("{OURS}publish = false\n");
    assert_eq!(unlisted("a/Cargo.toml", OURS, script), []);
    assert_eq!(unlisted("a/Cargo.toml", &kept, "packages=\"bookend-b\""), []);
    assert_eq!(unlisted("a/Cargo.toml", OURS, "packages=\"bookend-b\"").len(), 1);
    assert_eq!(unlisted("a/Cargo.toml", OURS, "").len(), 1);
    assert_eq!(unlisted("a/Cargo.toml", &kept, script).len(), 1);
}

#[test]
fn a_package_without_its_papers_is_found() {
    let whole = OURS.to_owned() + &KEYS.map(|key| format!("{key} = \"\"\n")).concat();
    let paths = FILES.map(|name| format!("a/{name}")).into();
    let none = BTreeSet::new();
    let lacks = |text: &str, workspace: &str, paths: &BTreeSet<String>| {
        lacking("a/Cargo.toml", text, workspace, paths).len()
    };
    assert_eq!(lacks(&whole, "", &paths), 0);
    assert_eq!(lacks(OURS, "", &paths), KEYS.len());
    assert_eq!(lacks(&whole, "", &none), FILES.len());
    let address = "[workspace.package]\nrepository = \"https://example.org\"\n";
    assert_eq!(lacks(&whole, address, &paths), 1);
    assert_eq!(lacks(&format!("{whole}repository.workspace = true\n"), address, &paths), 0);
}

#[test]
fn a_test_that_would_have_to_be_published_first_is_found() {
    let circles = |line: &str| {
        circles_of_tests("a/Cargo.toml", &format!("[dev-dependencies]\n{line}\n")).len()
    };
    assert_eq!(circles("bookend-b = { path = \"../b\" }\nrcgen.workspace = true"), 0);
    assert_eq!(circles("bookend-b.workspace = true"), 1);
    assert_eq!(circles("bookend-b = { path = \"../b\", version = \"0.1.0\" }"), 1);
}
