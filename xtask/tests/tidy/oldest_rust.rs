//! The oldest Rust that will do is in the manifest, and newcomers read it in the README.

use crate::offence::Offence;

/// A README that names another oldest Rust than the manifest does, or none.
pub fn wrong_oldest_rust(path: &str, text: &str, manifest: &str) -> Vec<Offence> {
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let expected = format!("Rust {}", version.unwrap_or_default().trim_matches('"'));
    if text.contains(&expected) {
        return vec![];
    }
    vec![Offence::of_file(path, format!("does not name {expected}"))]
}

#[test]
fn an_oldest_rust_that_drifted_is_found() {
    let manifest = "[workspace.package]\nrust-version = \"1.89\"";
    assert_eq!(wrong_oldest_rust("README.md", "Rust 1.88 or newer", manifest).len(), 1);
    assert_eq!(wrong_oldest_rust("README.md", "Rust 1.89 or newer", manifest), []);
}
