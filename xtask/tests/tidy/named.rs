//! Names of ours in tables that lead readers from other libraries to these. Whoever follows such a
//! table looks for exactly that name.

use crate::offence::{Offence, has_word};
use crate::rust_source::RustSource;

/// The heading of the column that has our names.
const COLUMN: &str = "here";

/// Names in columns headed `here` that are in none of `sources`: `Type`, and `Type::member`.
pub fn unknown_names(path: &str, text: &str, sources: &[String]) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut column = None;
    for (index, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            column = None;
        } else if column.is_none() {
            column = cells.iter().position(|cell| *cell == COLUMN);
        } else if let Some(cell) = column.and_then(|column| cells.get(column)) {
            let names = cell.split('`').skip(1).step_by(2).filter(|name| is_name(name));
            let unknown = names.filter(|name| !is_known(name, sources));
            let what = |name: &str| format!("no {name} in the libraries");
            offences.extend(unknown.map(|name| Offence::new(path, index + 1, what(name))));
        }
    }
    offences
}

/// The code of the files in which names of users' may be defined.
pub fn code(texts: impl Iterator<Item = &'static str>) -> Vec<String> {
    texts.map(|text| RustSource::parse(text).code()).collect()
}

/// `Type` or `Type::member`, and nothing else.
fn is_name(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().any(|c| c.is_ascii_lowercase())
        && text.split("::").all(is_word)
        && text.split("::").count() <= 2
}

fn is_known(name: &str, sources: &[String]) -> bool {
    let (of, member) =
        name.split_once("::").map_or((name, None), |(of, member)| (of, Some(member)));
    let defines = |source: &&String| {
        ["struct", "enum", "trait", "type"]
            .iter()
            .any(|kind| has_word(source, &format!("{kind} {of}")))
    };
    let has = |source: &String| member.is_none_or(|member| has_member(source, of, member));
    sources.iter().any(|source| defines(&source)) && sources.iter().any(has)
}

/// A function, a field, a constant; or a variant, or a constant that a macro makes of a line which
/// begins with its name.
fn has_member(source: &str, of: &str, member: &str) -> bool {
    let definitions = ["fn", "pub", "const"].map(|kind| format!("{kind} {member}"));
    let begins = |line: &str| {
        let rest = line.trim().strip_prefix(member);
        rest.is_some_and(|rest| rest.starts_with(['(', ' ', ',']))
    };
    has_word(source, of)
        && (definitions.iter().any(|definition| has_word(source, definition))
            || member.starts_with(char::is_uppercase) && source.lines().any(begins))
}

#[cfg(test)]
const SOURCE: &str = "pub struct Limits {\n    pub http2: u8,\n}\nimpl Limits {\n    pub fn trusted() {}\n}\n\
    enum Io {\n    Uring,\n}\n";

#[test]
fn names_that_nobody_defines_are_found_in_their_column_alone() {
    let sources = code([SOURCE].into_iter());
    let table = |cell: &str| format!("| here | tonic |\n|---|---|\n| {cell} | `Gone::gone` |\n");
    let found = |cell: &str| unknown_names("page.md", &table(cell), &sources).len();
    assert_eq!(found("`Limits`, `Limits::http2`, `Limits::trusted`, `Io::Uring`, `a(b)`"), 0);
    assert_eq!(found("`Limit` and `Limits::http3`"), 2);
    assert_eq!(unknown_names("page.md", "| a | b |\n|---|---|\n| `Gone` | c |\n", &sources), []);
}
