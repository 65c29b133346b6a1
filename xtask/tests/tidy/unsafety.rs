//! Where unsafe code, sockets and clocks may be: all in `io`, each unsafe with its reason.

use crate::offence::{Offence, by_line, has_word};
use crate::rust_source::RustSource;

/// Lines above an `unsafe` in which its reason may stand: a comment of a few lines and the
/// beginning of the statement.
const REASON_LINES: usize = 8;

/// Whether a path is the root of a library or program that has to forbid unsafe code.
pub fn is_safe_crate_root(path: &str) -> bool {
    let inside = path.split_once("/src/").map(|(_, inside)| inside);
    let is_root = inside.is_some_and(|inside| {
        ["lib.rs", "main.rs"].contains(&inside) || inside.starts_with("bin/")
    });
    is_root && is_in_safe_crate(path)
}

/// Whether a path is in a crate that may hold no unsafe code.
pub fn is_in_safe_crate(path: &str) -> bool {
    let is_member =
        ["crates/", "publication/", "xtask/"].iter().any(|folder| path.starts_with(folder));
    is_member && !path.starts_with("crates/io/")
}

/// Crate roots without `#![forbid(unsafe_code)]`.
pub fn unforbidden(path: &str, text: &str) -> Vec<Offence> {
    let code = RustSource::parse(text).code();
    let forbids = |line: &str| line.starts_with("#![forbid(") && has_word(line, "unsafe_code");
    if code.lines().any(forbids) {
        return vec![];
    }
    vec![Offence::of_file(path, "the crate root does not forbid unsafe code")]
}

/// The word `unsafe` in code: tests and build scripts have crate roots of their own.
pub fn unsafe_code(path: &str, text: &str) -> Vec<Offence> {
    let code = RustSource::parse(text).code();
    by_line(path, &code, |line| {
        has_word(line, "unsafe").then(|| "unsafe code belongs in io".to_owned())
    })
}

/// An `unsafe` with no `SAFETY:` comment (or, on a function, `# Safety` section) above it.
pub fn unexplained_unsafe(path: &str, text: &str) -> Vec<Offence> {
    let source = RustSource::parse(text);
    let (code, explained) = (source.code(), source.code_and_comments());
    let explained: Vec<&str> = explained.lines().collect();
    let unsafe_lines = code.lines().enumerate().filter(|(_, line)| has_word(line, "unsafe"));
    let unexplained = unsafe_lines.filter(|(index, _)| {
        let above = &explained[index.saturating_sub(REASON_LINES)..=*index];
        !above.iter().any(|line| line.contains("SAFETY:") || line.contains("# Safety"))
    });
    let what = "unsafe without a SAFETY comment";
    unexplained.map(|(index, _)| Offence::new(path, index + 1, what)).collect()
}

/// A crate root without `#![no_std]`, or one that takes std back for more than its tests.
pub fn std_in_crate_root(path: &str, text: &str) -> Vec<Offence> {
    let code = RustSource::parse(text).code();
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let mut offences = Vec::new();
    if !lines.contains(&"#![no_std]") {
        offences.push(Offence::of_file(path, "#![no_std] is missing"));
    }
    for (index, line) in lines.iter().enumerate() {
        let for_tests = index > 0 && lines[index - 1] == "#[cfg(test)]";
        if line.starts_with("extern crate std") && !for_tests {
            offences.push(Offence::new(path, index + 1, "std outside of tests"));
        }
    }
    offences
}

/// Names of what a sans-I/O crate must not know, not even in its tests.
pub fn sockets_and_clocks(path: &str, text: &str) -> Vec<Offence> {
    let code = RustSource::parse(text).code();
    by_line(path, &code, |line| {
        let names = ["std::net", "std::io", "std::thread", "Instant", "SystemTime"];
        let found = names.into_iter().find(|name| has_word(line, name))?;
        Some(format!("wire knows no {found}"))
    })
}

#[test]
fn roots_are_told_from_other_files() {
    assert!(is_safe_crate_root("crates/lab/src/lib.rs"));
    assert!(is_safe_crate_root("crates/cli/src/bin/other.rs"));
    assert!(!is_safe_crate_root("crates/lab/src/store/main_table.rs"));
    assert!(!is_safe_crate_root("crates/io/src/lib.rs"));
}

#[test]
fn a_root_must_forbid_in_code_and_not_in_a_comment() {
    assert_eq!(unforbidden("lib.rs", "// #![forbid(unsafe_code)]").len(), 1);
    assert_eq!(unforbidden("lib.rs", "#![forbid(unsafe_code, unused_must_use)]"), []);
}

#[test]
fn unsafe_code_outside_io_is_found() {
    assert_eq!(unsafe_code("a.rs", "// unsafe\nlet a = unsafe { b() };").len(), 1);
    assert_eq!(unsafe_code("a.rs", "#![forbid(unsafe_code)]\nlet a = \"unsafe\";"), []);
}

#[test]
fn a_reason_has_to_stand_close_above() {
    let far = format!("// SAFETY: a\n{}unsafe {{ b() }}", "\n".repeat(REASON_LINES));
    assert_eq!(unexplained_unsafe("a.rs", &far).len(), 1);
    assert_eq!(unexplained_unsafe("a.rs", "let a = \"SAFETY:\";\nunsafe { b() }").len(), 1);
    assert_eq!(unexplained_unsafe("a.rs", "// SAFETY: a\nlet c =\n    unsafe { b() };"), []);
    assert_eq!(unexplained_unsafe("a.rs", "/// # Safety\n/// a\npub unsafe fn b() {}"), []);
}

#[test]
fn std_is_for_the_tests_of_wire_only() {
    assert_eq!(std_in_crate_root("lib.rs", "#![no_std]\nextern crate std;").len(), 1);
    assert_eq!(std_in_crate_root("lib.rs", "extern crate alloc;").len(), 1);
    assert_eq!(std_in_crate_root("lib.rs", "#![no_std]\n#[cfg(test)]\nextern crate std;"), []);
}

#[test]
fn a_clock_in_wire_is_found() {
    assert_eq!(sockets_and_clocks("a.rs", "let now = std::time::Instant::now();").len(), 1);
    assert_eq!(sockets_and_clocks("a.rs", "// Instant\nstruct InstantReply;"), []);
}
