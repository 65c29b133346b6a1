//! Versions in prose and in labels, as the record has them: whoever types one types one of the day.

use std::collections::BTreeMap;

/// `{version of rust-tonic}` stands for the version of that subject or instrument.
const PLACE: &str = "{version of ";

/// A word that is wrong on the day after, so that no `results.toml` has it.
pub(super) const OF_THE_DAY: &str = "today";

/// What processes said of themselves, by their names.
pub(super) type Versions = BTreeMap<String, String>;

/// `tonic 0.14.9` of `tonic 0.14.9, jemallocator 0.5.4`, or the name of what said nothing.
pub(super) fn version<'a>(name: &'a str, versions: &'a Versions) -> &'a str {
    let said = versions.get(name).and_then(|said| said.split([',', '\n']).next());
    said.map(str::trim).filter(|said| !said.is_empty()).unwrap_or(name)
}

/// The text with each place filled in.
pub(super) fn named(text: &str, versions: &Versions) -> String {
    let mut parts = text.split(PLACE);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        filled.push_str(version(name, versions));
        filled.push_str(rest);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_that_of_the_record_and_without_one_the_name_stands() {
        let said = [("a/old", "a 0.2, with b 1"), ("c", "")];
        let versions: Versions = said.map(|(name, said)| (name.to_owned(), said.to_owned())).into();
        let text = "of {version of a/old}, {version of c} and {version of d}.";
        assert_eq!(named(text, &versions), "of a 0.2, c and d.");
        assert_eq!(named("nothing", &versions), "nothing");
    }
}
