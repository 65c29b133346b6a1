//! What must not stay: notes to oneself, unfinished code, names that say nothing.

use crate::offence::{Offence, by_line, has_word};
use crate::rust_source::RustSource;

/// Notes to oneself. What is worth doing is an issue; what is not is nothing.
pub fn notes(path: &str, text: &str) -> Vec<Offence> {
    const NOTES: [&str; 3] = ["TODO", "FIXME", "XXX"];
    let blanked = path.ends_with(".rs").then(|| RustSource::parse(text).code_and_comments());
    by_line(path, blanked.as_deref().unwrap_or(text), |line| {
        let note = NOTES.into_iter().find(|note| has_word(line, note))?;
        Some(format!("a left-over note: {note}"))
    })
}

/// Code that is not finished, or that was for looking only; tests that never run.
pub fn unfinished_code(path: &str, text: &str) -> Vec<Offence> {
    const UNFINISHED: [&str; 4] = ["dbg!(", "unimplemented!", "todo!", "#[ignore"];
    let code = RustSource::parse(text).code();
    by_line(path, &code, |line| {
        let found = UNFINISHED.into_iter().find(|pattern| line.contains(pattern))?;
        Some(format!("left over: {found}"))
    })
}

/// Words for a place where anything could be.
const EMPTY_WORDS: [&str; 7] =
    ["util", "utils", "common", "helper", "helpers", "manager", "managers"];

/// Files and folders named after nothing in particular.
pub fn empty_words_in_path(path: &str) -> Vec<Offence> {
    let mut words = path.split(['/', '.', '_', '-']);
    let empty = words.find(|word| EMPTY_WORDS.contains(&word.to_lowercase().as_str()));
    empty.map(|word| Offence::of_file(path, format!("'{word}' says nothing"))).into_iter().collect()
}

/// Modules named so inside a file.
pub fn empty_words_in_modules(path: &str, text: &str) -> Vec<Offence> {
    let code = RustSource::parse(text).code();
    by_line(path, &code, |line| {
        let (_, after) = line.split_once("mod ")?;
        let name = after.trim_end_matches(['{', ';', ' ']);
        let empty = name.split('_').find(|word| EMPTY_WORDS.contains(word))?;
        Some(format!("module {name}: '{empty}' says nothing"))
    })
}

#[test]
fn notes_are_found_in_comments_and_in_any_text() {
    assert_eq!(notes("a.rs", "// TODO: later").len(), 1);
    assert_eq!(notes("a.md", "XXX").len(), 1);
    assert_eq!(notes("a.rs", "let a = \"TODO\";"), []);
    assert_eq!(notes("scripts/a", "mktemp a.XXXXXX"), []);
}

#[test]
fn unfinished_code_is_found_only_in_code() {
    for code in ["todo!()", "unimplemented!(\"a\")", "dbg!(a)", "#[ignore = \"slow\"]"] {
        assert_eq!(unfinished_code("a.rs", code).len(), 1, "{code}");
        assert_eq!(unfinished_code("a.rs", &format!("// {code}")), []);
    }
}

#[test]
fn names_that_say_nothing_are_found_in_paths_and_modules() {
    assert_eq!(empty_words_in_path("crates/lab/src/utils.rs").len(), 1);
    assert_eq!(empty_words_in_path("crates/lab/tests/common/mod.rs").len(), 1);
    assert_eq!(empty_words_in_path("subjects/a/SessionHelper.java"), []);
    assert_eq!(empty_words_in_path("crates/lab/src/commonness.rs"), []);
    assert_eq!(empty_words_in_modules("a.rs", "pub mod test_helpers {").len(), 1);
    assert_eq!(empty_words_in_modules("a.rs", "mod pace;"), []);
}
