//! How a subject is optimized, where Cargo builds it.

use crate::subject::{Subject, Variant};
use bookend_contract::build_profile::profile_words;
use toml::Table;

impl Subject {
    /// The profile of the variant's program. `None`: nothing is built, or not by Cargo.
    pub fn profile(&self, variant: &Variant) -> Option<String> {
        let command =
            variant.build.iter().find(|command| command.iter().any(|word| word == "cargo"))?;
        let manifest = after(command, "--manifest-path").unwrap_or("Cargo.toml");
        let text = std::fs::read_to_string(self.folder.join(manifest)).ok()?;
        let manifest: Table = text.parse().ok()?;
        let is_release = command.iter().any(|word| word == "--release");
        let usual = if is_release { "release" } else { "dev" };
        let profile = after(command, "--profile").unwrap_or(usual);
        let setting = |profile: &str, key: &str| {
            let value = manifest.get("profile")?.get(profile)?.get(key)?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        // As `env NAME=VALUE cargo build` sets them, or whoever started the lab.
        let variable = |name: &str| {
            let set = command.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            set.map(str::to_owned).or_else(|| std::env::var(name).ok())
        };
        Some(profile_words(profile, setting, variable))
    }
}

/// The word of a flag: the next one, or what follows `=`.
fn after<'a>(command: &'a [String], flag: &str) -> Option<&'a str> {
    let place = command.iter().position(|word| word == flag);
    let next = place.and_then(|place| command.get(place + 1)).map(String::as_str);
    let joined = || command.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
    next.or_else(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(build: &str, manifest: Option<&str>) -> Option<String> {
        let home = tempfile::tempdir().expect("a temporary folder");
        let folder = home.path().join("a");
        std::fs::create_dir(&folder).expect("created");
        if let Some(text) = manifest {
            std::fs::write(folder.join("Cargo.toml"), text).expect("written");
        }
        let text = format!(
            "name = \"a\"\nlanguage = \"Rust\"\ndescription = \"a\"\nroles = [\"server\"]\n\
             version = [\"x\"]\nrun = [\"x\"]\nbuild = {build}\n"
        );
        let subject = Subject::parse(&folder, &text).expect("well-formed");
        subject.profile(subject.default_variant())
    }

    #[test]
    fn a_subject_is_optimized_as_its_manifest_and_its_command_say() {
        let fat = "profile = { release = { lto = \"fat\", codegen-units = 1 }, \
                   thin = { inherits = \"release\", lto = \"thin\" } }\n";
        let of = |build| profile(build, Some(fat)).expect("a profile");
        let release = "[[\"cargo\", \"build\", \"--release\", \"--locked\"]]";
        assert_eq!(of(release), "release: opt-level 3, lto fat, codegen-units 1");
        let thin = "[[\"cargo\", \"build\", \"--profile=thin\"]]";
        assert_eq!(of(thin), "thin: opt-level 3, lto thin, codegen-units 1");
        let set = "[[\"env\", \"CARGO_PROFILE_RELEASE_LTO=off\", \"cargo\", \"build\", \
                   \"--release\"]]";
        assert_eq!(of(set), "release: opt-level 3, lto off, codegen-units 1");
        assert!(of("[[\"cargo\", \"build\"]]").starts_with("dev: opt-level 0, "));
        assert_eq!(profile("[[\"make\"]]", Some(fat)), None);
        assert_eq!(profile(release, None), None);
    }
}
