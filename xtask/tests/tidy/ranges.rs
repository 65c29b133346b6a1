//! Libraries state ranges of versions. A pin in a library's manifest keeps every program that uses
//! it from any other version, and so from the mends of what is unsafe.

use crate::offence::Offence;
use toml::{Table, Value};

/// Dependencies that are pinned to one version; tests may have them.
pub fn pins(path: &str, text: &str, workspace: &str) -> Vec<Offence> {
    let (manifest, workspace) = (parsed(text), parsed(workspace));
    let shared = workspace.get("workspace").and_then(|table| table.get("dependencies"));
    let sections = ["dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let tables = targets.filter_map(|(_, table)| table.as_table()).chain([&manifest]);
    let stated = tables.flat_map(|table| {
        sections.iter().filter_map(|section| table.get(*section)?.as_table()).flatten()
    });
    let pinned = stated.filter(|(name, value)| {
        let is_shared = value.get("workspace").is_some();
        let declared = if is_shared { shared.and_then(|shared| shared.get(name)) } else { None };
        version(declared.unwrap_or(value)).is_some_and(|version| version.starts_with('='))
    });
    pinned
        .map(|(name, _)| Offence::of_file(path, format!("{name} is pinned to one version")))
        .collect()
}

fn version(dependency: &Value) -> Option<&str> {
    dependency.as_str().or_else(|| dependency.get("version")?.as_str())
}

fn parsed(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

#[test]
fn a_pin_is_an_offence_wherever_it_stands() {
    let workspace = "[workspace.dependencies]\na = { version = \"=1.0.0\" }\nb = \"1.2\"\n";
    let manifest = "[dependencies]\na.workspace = true\nb = { workspace = true }\nc = \"=3\"\n\
                    [dev-dependencies]\nd = \"=4\"\n\
                    [target.'cfg(unix)'.build-dependencies]\ne = \"=5\"\n";
    assert_eq!(pins("crates/wire/Cargo.toml", manifest, workspace).len(), 3);
    assert_eq!(
        pins("crates/wire/Cargo.toml", "[dependencies]\nb.workspace = true\n", workspace),
        []
    );
}
