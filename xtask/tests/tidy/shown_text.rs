//! How text reaches a terminal: by way of `contract::printable`, which knows what a terminal must
//! only show.

use crate::offence::{Offence, by_line};
use crate::rust_source::RustSource;

/// Files that print by themselves: the launcher, which becomes another program and replaces what
/// it quotes; what Cargo reads; and the one rule for what is replaced.
const OWN_WAY: [&str; 3] = [
    "crates/lab/src/launch.rs",
    "crates/codegen/src/config.rs",
    "crates/contract/src/printable.rs",
];

/// Whether the file is a part of what users run.
pub fn is_shipped(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !OWN_WAY.contains(&path)
}

/// Prints, and rules of its own for what is replaced: each forgets some characters or a place.
pub fn past_the_rule(path: &str, text: &str) -> Vec<Offence> {
    const PAST: [&str; 5] = ["println!(", "eprintln!(", "print!(", "eprint!(", "char::is_control"];
    let code = RustSource::parse(text).code();
    by_line(path, &code, |line| {
        let found = PAST.into_iter().find(|pattern| line.contains(pattern))?;
        Some(format!("{found}: what others wrote goes through contract::printable"))
    })
}

#[test]
fn what_goes_past_the_rule_is_found() {
    for code in ["println!(\"a\")", "    eprintln!(\"{a}\");", "a.replace(char::is_control, \" \")"]
    {
        assert_eq!(past_the_rule("a.rs", code).len(), 1, "{code}");
        assert_eq!(past_the_rule("a.rs", &format!("//! {code}")), []);
    }
    assert!(is_shipped("crates/cli/src/load.rs") && !is_shipped("crates/cli/tests/race.rs"));
    assert!(!is_shipped("crates/lab/src/launch.rs") && !is_shipped("examples/src/main.rs"));
}
