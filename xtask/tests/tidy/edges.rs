//! Which crate may name which: a crate is worth its name only where it makes a rule
//! compile-checked.

use crate::offence::Offence;
use toml::{Table, Value};

/// A crate, the crates that it may use, and those that its build script may use.
struct Edges {
    from: &'static str,
    to: &'static [&'static str],
    build: &'static [&'static str],
}

/// All edges there are. `lab` compiles without `load` and `server`, so our own tools are started as
/// processes like everybody else's and have no privilege.
const DRAWN: [Edges; 17] = [
    Edges { from: "wire", to: &[], build: &[] },
    Edges { from: "io", to: &[], build: &[] },
    Edges { from: "contract", to: &[], build: &[] },
    Edges { from: "codegen", to: &[], build: &[] },
    Edges { from: "fleet", to: &["contract"], build: &[] },
    Edges { from: "client", to: &["wire", "io"], build: &[] },
    Edges { from: "server", to: &["wire", "io"], build: &["codegen"] },
    Edges { from: "payload", to: &["wire", "contract"], build: &[] },
    Edges { from: "load", to: &["wire", "io", "client", "contract", "payload"], build: &[] },
    Edges { from: "results", to: &["contract"], build: &[] },
    Edges { from: "lab", to: &["contract", "results"], build: &[] },
    Edges { from: "report", to: &["contract", "results"], build: &[] },
    Edges { from: "publication", to: &["contract", "results", "report"], build: &[] },
    Edges { from: "services", to: &["server"], build: &["codegen"] },
    // What it shared with the code that is tested, no test would find.
    Edges { from: "testing", to: &[], build: &[] },
    // Whoever changes a page waits for its build, so it builds nothing of the product.
    Edges { from: "xtask", to: &[], build: &[] },
    Edges {
        from: "cli",
        to: &[
            "contract", "payload", "fleet", "load", "results", "report", "lab", "server",
            "services",
        ],
        build: &[],
    },
];

/// What any crate may use in its tests, besides itself with features that only tests have.
const FOR_TESTS: [&str; 4] = ["server", "client", "load", "testing"];

/// Crates whose tests use nothing either.
const ALONE: [&str; 2] = ["testing", "xtask"];

/// What single crates may use in their tests besides: the command's start processes under a filter
/// of system calls, and `io` alone can make one.
const FOR_TESTS_OF: [(&str, &str); 2] = [("cli", "io"), ("lab", "report")];

/// Whether a path is the manifest of a crate of the workspace.
pub fn is_member_manifest(path: &str) -> bool {
    member(path).is_some()
}

/// Dependencies between crates of the workspace that are not drawn.
pub fn undrawn_edges(path: &str, text: &str) -> Vec<Offence> {
    let Some(drawn) = member(path).and_then(|name| DRAWN.iter().find(|edges| edges.from == name))
    else {
        return vec![Offence::of_file(path, "this crate is not in the list of crates")];
    };
    let allowed = |section: Section, to: &str| match section {
        Section::Normal => drawn.to.contains(&to),
        Section::Build => drawn.build.contains(&to),
        Section::Dev => {
            let is_for_tests = FOR_TESTS.contains(&to) || FOR_TESTS_OF.contains(&(drawn.from, to));
            drawn.to.contains(&to)
                || is_for_tests && !ALONE.contains(&drawn.from)
                || drawn.from == to
        }
    };
    let edges = dependencies(path, text).into_iter().filter_map(|(section, package)| {
        let to = package.strip_prefix("bookend-")?;
        let what = format!("{} -> {to} is not a drawn edge ({section:?})", drawn.from);
        (!allowed(section, to)).then(|| Offence::of_file(path, what))
    });
    edges.collect()
}

/// Features that make our own code fail on purpose: for tests alone.
const TEST_FEATURES: [&str; 1] = ["faults"];

/// Features for tests that a manifest turns on for more than its tests.
pub fn shipped_test_features(path: &str, text: &str) -> Vec<Offence> {
    let manifest = parse(path, text);
    let own = manifest.get("features").and_then(Value::as_table);
    let own_lists = own.into_iter().flat_map(Table::values);
    let shipped = ["dependencies", "build-dependencies"].map(|key| manifest.get(key));
    let workspace = manifest.get("workspace");
    let shared = workspace.and_then(|table| table.get("dependencies"));
    let tables = shipped.into_iter().chain([shared]).flatten();
    let entries = tables.filter_map(Value::as_table).flat_map(Table::values);
    let lists = own_lists.chain(entries.filter_map(|entry| entry.get("features")));
    let features = lists.filter_map(Value::as_array).flatten();
    let named = |feature: &&str| TEST_FEATURES.iter().any(|test| feature.ends_with(test));
    let turned_on = features.filter_map(Value::as_str).filter(named);
    turned_on
        .map(|feature| Offence::of_file(path, format!("turns on {feature}, which is for tests")))
        .collect()
}

/// What `wire` may be built from: pure functions over bytes and the messages of errors. These
/// crates have no standard library either.
const PURE: [&str; 4] = ["crc32fast", "miniz_oxide", "thiserror", "zlib-rs"];

/// Dependencies that end up in the compiled crate and may not be in `wire`.
pub fn impure_dependency(path: &str, text: &str) -> Vec<Offence> {
    let impure = |(section, package): &(Section, String)| {
        *section != Section::Dev && !PURE.contains(&package.as_str())
    };
    let found = dependencies(path, text).into_iter().filter(impure);
    found.map(|(_, package)| Offence::of_file(path, format!("depends on {package}"))).collect()
}

/// Manifests that do not say `[lints] workspace = true`.
pub fn own_lints(path: &str, text: &str) -> Vec<Offence> {
    let manifest = parse(path, text);
    let inherited = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    match inherited.and_then(Value::as_bool) {
        Some(true) => vec![],
        _ => vec![Offence::of_file(path, "does not take its lints from the workspace")],
    }
}

/// Crates of the workspace that are not in `crates/`.
const BESIDE: [&str; 2] = ["publication", "xtask"];

fn member(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    let name =
        folder.strip_prefix("crates/").or_else(|| BESIDE.contains(&folder).then_some(folder))?;
    (!name.contains('/')).then_some(name)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Normal,
    Build,
    Dev,
}

/// Each dependency by its package's name, those for one target only included.
fn dependencies(path: &str, text: &str) -> Vec<(Section, String)> {
    let manifest = parse(path, text);
    let targets = manifest.get("target").and_then(Value::as_table);
    let for_targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let mut found = Vec::new();
    for table in std::iter::once(&manifest).chain(for_targets) {
        for (key, section) in [
            ("dependencies", Section::Normal),
            ("build-dependencies", Section::Build),
            ("dev-dependencies", Section::Dev),
        ] {
            let entries = table.get(key).and_then(Value::as_table).into_iter().flatten();
            found.extend(entries.map(|(name, value)| (section, package(name, value))));
        }
    }
    found
}

fn package(name: &str, value: &Value) -> String {
    value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()
}

fn parse(path: &str, text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("{path} is not TOML: {error}"))
}

#[test]
fn the_lab_cannot_reach_our_own_tools() {
    for manifest in [
        "[dependencies]\nbookend-load.workspace = true",
        "[dependencies]\nours = { package = \"bookend-server\", path = \"../server\" }",
        "[target.'cfg(unix)'.dependencies]\nbookend-wire.workspace = true",
        "[build-dependencies]\nbookend-codegen.workspace = true",
        "[dev-dependencies]\nbookend-io.workspace = true",
    ] {
        assert_eq!(undrawn_edges("crates/lab/Cargo.toml", manifest).len(), 1, "{manifest}");
    }
}

#[test]
fn what_is_for_tests_is_turned_on_in_tests_alone() {
    for manifest in [
        "[dependencies]\nbookend-io = { path = \"../io\", features = [\"faults\"] }",
        "[workspace.dependencies]\nbookend-io = { path = \"crates/io\", features = [\"faults\"] }",
        "[features]\ndefault = [\"faults\"]",
        "[features]\nfast = [\"bookend-io/faults\"]",
    ] {
        assert_eq!(shipped_test_features("Cargo.toml", manifest).len(), 1, "{manifest}");
    }
    let for_tests = "\
[features]\nfaults = []
[dev-dependencies]\nbookend-io = { workspace = true, features = [\"faults\"] }";
    assert_eq!(shipped_test_features("crates/io/Cargo.toml", for_tests), []);
    assert_eq!(undrawn_edges("crates/io/Cargo.toml", for_tests), []);
}

#[test]
fn drawn_edges_and_edges_for_tests_are_let_through() {
    let manifest = "\
[dependencies]\nbookend-contract.workspace = true\nserde = \"1\"
[dev-dependencies]\nbookend-server.workspace = true";
    assert_eq!(undrawn_edges("crates/lab/Cargo.toml", manifest), []);
}

#[test]
fn a_crate_that_nobody_drew_is_an_offence() {
    assert_eq!(undrawn_edges("crates/extra/Cargo.toml", "").len(), 1);
    assert!(!is_member_manifest("crates/load/shim/Cargo.toml"));
}

#[test]
fn only_pure_and_dev_dependencies_are_allowed_in_wire() {
    let manifest =
        "[dependencies]\na = \"1\"\ncrc32fast.workspace = true\n[build-dependencies]\nb = \"1\"";
    assert_eq!(impure_dependency("crates/wire/Cargo.toml", manifest).len(), 2);
    assert_eq!(impure_dependency("crates/wire/Cargo.toml", "[dev-dependencies]\na = \"1\""), []);
}

#[test]
fn lints_of_ones_own_are_an_offence() {
    assert_eq!(own_lints("crates/io/Cargo.toml", "[lints.rust]\nunused = \"allow\"").len(), 1);
    assert_eq!(own_lints("crates/io/Cargo.toml", "[lints]\nworkspace = true"), []);
}
