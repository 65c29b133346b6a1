//! How a Rust program was optimized, in Cargo's own words.
//!
//! Nothing but the standard library: the build script of the command compiles this file, too.

/// A profile inherits from another, which is at most this number of steps from one that Cargo has.
const STEPS_MAX: usize = 8;

/// What a profile comes to: `release: opt-level 3, lto fat, codegen-units 1`. `setting` is what a
/// manifest says of a profile, by the profile's name and a key; `variable` is the environment,
/// which is above it (`CARGO_PROFILE_RELEASE_LTO`).
pub fn profile_words(
    profile: &str,
    setting: impl Fn(&str, &str) -> Option<String>,
    variable: impl Fn(&str) -> Option<String>,
) -> String {
    let mut chain = vec![profile.to_owned()];
    while let Some(parent) = chain.last().and_then(|name| setting(name, "inherits"))
        && chain.len() < STEPS_MAX
    {
        chain.push(parent);
    }
    // Cargo's `test` is its `dev`, and its `bench` is its `release`.
    let is_optimized = chain.iter().any(|name| name == "release" || name == "bench");
    let value = |key: &str, default: &str| {
        let of_profile = |name: &String| {
            let of_environment = format!("CARGO_PROFILE_{name}_{key}").replace('-', "_");
            variable(&of_environment.to_uppercase()).or_else(|| setting(name, key))
        };
        chain.iter().find_map(of_profile).unwrap_or_else(|| default.to_owned())
    };
    let (level, units) = if is_optimized { ("3", "16") } else { ("0", "256") };
    // True is fat; without a word, only the units of each crate are optimized together.
    let lto = match value("lto", "false").as_str() {
        "true" => "fat".to_owned(),
        "false" => "of each crate alone".to_owned(),
        other => other.to_owned(),
    };
    let (level, units) = (value("opt-level", level), value("codegen-units", units));
    format!("{profile}: opt-level {level}, lto {lto}, codegen-units {units}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(profile: &str, key: &str) -> Option<String> {
        let value = match (profile, key) {
            ("release", "lto") => "fat",
            ("release", "codegen-units") => "1",
            ("quick", "inherits") => "release",
            ("quick", "lto") => "off",
            ("looped", "inherits") => "looped",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn words(profile: &str, variables: &[(&str, &str)]) -> String {
        profile_words(profile, setting, |name| {
            let set = variables.iter().find(|(set, _)| *set == name)?;
            Some(set.1.to_owned())
        })
    }

    #[test]
    fn a_profile_is_what_it_says_what_it_inherits_and_what_cargo_has() {
        assert_eq!(words("release", &[]), "release: opt-level 3, lto fat, codegen-units 1");
        assert_eq!(words("quick", &[]), "quick: opt-level 3, lto off, codegen-units 1");
        let dev = "dev: opt-level 0, lto of each crate alone, codegen-units 256";
        assert_eq!(words("dev", &[]), dev);
        assert!(words("looped", &[]).starts_with("looped: opt-level 0"));
    }

    #[test]
    fn the_environment_is_above_the_manifest() {
        let set = [("CARGO_PROFILE_RELEASE_LTO", "true"), ("CARGO_PROFILE_QUICK_OPT_LEVEL", "1")];
        assert_eq!(words("quick", &set), "quick: opt-level 1, lto off, codegen-units 1");
        assert_eq!(words("release", &set), "release: opt-level 3, lto fat, codegen-units 1");
        let thin = [("CARGO_PROFILE_RELEASE_LTO", "thin")];
        assert_eq!(words("release", &thin), "release: opt-level 3, lto thin, codegen-units 1");
    }
}
