//! What a run was measured with, so that somebody else can name it and make it again.

use crate::grouping::grouped;
use bookend_contract::build_facts::{BuildFacts, is_clean_revision};
use bookend_contract::machine::MachineFacts;
use bookend_contract::printable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of a run besides its revision. Runs of earlier versions have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The build of the command that measured.
    pub build: BuildFacts,
    /// How the programs that it built were optimized, by subject, where their build is Cargo's
    /// ([`bookend_contract::build_profile::profile_words`]).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, String>,
    /// Why a revision does not say what was measured, a clause each. Empty in what is committed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// Why nobody could make a run again from its revision, a clause each; empty if one could.
pub fn doubts(revision: Option<&str>, provenance: Option<&Provenance>) -> Vec<String> {
    let Some(provenance) = provenance else {
        return vec!["it is of a version of bookend that kept no revision".to_owned()];
    };
    let of_build = provenance.build.revision.as_deref();
    let mut doubts = provenance.doubts.clone();
    if !doubts.is_empty() {
        return doubts;
    }
    for (whose, revision) in [("the tree", revision), ("bookend", of_build)] {
        match revision {
            None => doubts.push(format!("the revision of {whose} is unknown")),
            Some(name) if !is_clean_revision(name) => {
                doubts.push(format!("the revision of {whose} is {}", printable::line(name)));
            }
            Some(_) => {}
        }
    }
    doubts
}

/// The machine, the revision and the builds, a fact a line, as reports and pages print them.
pub fn text(
    machine: &MachineFacts,
    revision: Option<&str>,
    provenance: Option<&Provenance>,
) -> String {
    let absent = if provenance.is_some() { "unknown" } else { "not recorded" };
    let revision = printable::line(revision.unwrap_or(absent));
    let mut text = format!("{machine}Revision: {revision}\n");
    let Some(provenance) = provenance else {
        return text + "Measured with: not recorded\nBuild profiles: not recorded\n";
    };
    text += &format!("Measured with: {}\n", provenance.build);
    let by_profile = provenance.profiles.iter().map(|(name, profile)| (profile, name.as_str()));
    for (profile, names) in grouped(by_profile) {
        let line = format!("Built by Cargo, {profile}: {}", names.join(", "));
        text += &format!("{}\n", printable::line(&line));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provenance(revision: &str) -> Provenance {
        Provenance {
            build: BuildFacts {
                version: "0.1.0".to_owned(),
                revision: Some(revision.to_owned()),
                profile: "release: opt-level 3".to_owned(),
            },
            profiles: [
                ("a", "release: lto fat"),
                ("b", "release: lto off"),
                ("c", "release: lto fat"),
            ]
            .map(|(name, profile)| (name.to_owned(), profile.to_owned()))
            .into(),
            doubts: Vec::new(),
        }
    }

    #[test]
    fn what_cannot_be_made_again_says_why() {
        let clean = provenance("743873410525");
        assert!(doubts(Some("a15c08ba80b1"), Some(&clean)).is_empty());
        let said = doubts(Some("a15c08ba80b1-dirty"), Some(&clean));
        assert_eq!(said, ["the revision of the tree is a15c08ba80b1-dirty"]);
        assert_eq!(doubts(None, Some(&clean)), ["the revision of the tree is unknown"]);
        let said = doubts(Some("a15c08ba80b1"), Some(&provenance("743873410525-dirty")));
        assert_eq!(said, ["the revision of bookend is 743873410525-dirty"]);
        assert_eq!(doubts(Some("a15c08ba80b1"), None).len(), 1);
        let named = Provenance { doubts: vec!["a.c is in no commit".to_owned()], ..clean };
        assert_eq!(doubts(None, Some(&named)), ["a.c is in no commit"]);
    }

    #[test]
    fn what_was_not_recorded_and_what_is_unknown_are_told_apart() {
        let machine = r#"{"os":"","kernel":"","cpu_model":"","cpus":0,"memory_bytes":0,
            "governor":null,"virtual_machine":true}"#;
        let machine: MachineFacts = serde_json::from_str(machine).expect("facts");
        let old = text(&machine, None, None);
        let lines = "\nRevision: not recorded\nMeasured with: not recorded\n\
                     Build profiles: not recorded\n";
        assert!(old.ends_with(lines), "{old}");
        let new = text(&machine, None, Some(&provenance("743873410525")));
        let lines = "\nRevision: unknown\n\
                     Measured with: bookend 0.1.0 of 743873410525, release: opt-level 3\n\
                     Built by Cargo, release: lto fat: a, c\n\
                     Built by Cargo, release: lto off: b\n";
        assert!(new.ends_with(lines), "{new}");
    }
}
