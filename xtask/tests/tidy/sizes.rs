//! How long functions, files and lines may be.

use crate::offence::Offence;
use crate::rust_source::RustSource;

/// A function longer than a screen is two ideas. Few come near: half have under ten lines.
const FUNCTION_LINES: usize = 70;

/// `path::name` and the reason why it is better whole.
const LONG_FUNCTIONS: [(&str, &str); 0] = [];

/// One idea a file.
const FILE_LINES: usize = 600;

/// Tests and tables are read by looking up, not from end to end.
const LOOKED_UP_FILE_LINES: usize = 1_000;

/// rustfmt's own limit; it leaves comments alone, so they are counted here.
const COLUMNS: usize = 100;

/// Functions longer than they may be, unless they are listed with a reason.
pub fn long_functions(path: &str, text: &str) -> Vec<Offence> {
    let listed =
        |name: &str| LONG_FUNCTIONS.iter().any(|(long, _)| *long == format!("{path}::{name}"));
    let functions = RustSource::parse(text).functions();
    let long = functions.iter().filter(|f| f.lines > FUNCTION_LINES && !listed(&f.name));
    long.map(|f| Offence::new(path, f.line, format!("{} has {} lines", f.name, f.lines))).collect()
}

/// Files longer than they may be. The tests at the foot of a file are measured as tests are.
pub fn long_files(path: &str, text: &str) -> Vec<Offence> {
    let code = RustSource::parse(text).code();
    let lines = code.lines().count();
    let own_lines = if is_looked_up(path) { 0 } else { lines_before_tests(&code) };
    if own_lines <= FILE_LINES && lines <= LOOKED_UP_FILE_LINES {
        return vec![];
    }
    vec![Offence::of_file(path, format!("{own_lines} lines, {lines} with tests"))]
}

/// Lines that are too wide even without the literals in them; addresses cannot be broken.
pub fn wide_lines(path: &str, text: &str) -> Vec<Offence> {
    let source = RustSource::parse(text);
    let measured = text.lines().zip(source.widths()).enumerate();
    let wide = measured.filter(|(_, (line, width))| *width > COLUMNS && !line.contains("://"));
    wide.map(|(index, (_, width))| Offence::new(path, index + 1, format!("{width} columns")))
        .collect()
}

fn is_looked_up(path: &str) -> bool {
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
    let last_word = stem.rsplit('_').next().unwrap_or(stem);
    path.contains("/tests/") || ["tests", "table", "tables"].contains(&last_word)
}

fn lines_before_tests(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().collect();
    let opens_tests = |pair: &[&str]| pair[0] == "#[cfg(test)]" && pair[1].ends_with('{');
    lines.windows(2).position(opens_tests).unwrap_or(lines.len())
}

#[test]
fn a_function_of_seventy_lines_is_the_longest() {
    let function = |lines: usize| format!("fn a() {{{}}}", "\n".repeat(lines - 1));
    assert_eq!(long_functions("a.rs", &function(FUNCTION_LINES)), []);
    assert_eq!(long_functions("a.rs", &function(FUNCTION_LINES + 1)).len(), 1);
}

#[test]
fn tests_and_tables_may_be_longer_than_other_files() {
    let text = "a\n".repeat(FILE_LINES + 1);
    assert_eq!(long_files("crates/lab/src/a.rs", &text).len(), 1);
    assert_eq!(long_files("crates/lab/tests/a.rs", &text), []);
    assert_eq!(long_files("crates/wire/src/huffman_table.rs", &text), []);
    let endless = "a\n".repeat(LOOKED_UP_FILE_LINES + 1);
    assert_eq!(long_files("crates/lab/tests/a.rs", &endless).len(), 1);
}

#[test]
fn tests_at_the_foot_are_not_counted_with_the_code() {
    let text = format!("{}#[cfg(test)]\nmod tests {{\n{}}}", "a\n".repeat(500), "b\n".repeat(300));
    assert_eq!(long_files("crates/lab/src/a.rs", &text), []);
}

#[test]
fn a_wide_comment_is_an_offence_and_a_wide_literal_is_none() {
    let wide = "a".repeat(COLUMNS);
    assert_eq!(wide_lines("a.rs", &format!("// {wide}")).len(), 1);
    assert_eq!(wide_lines("a.rs", &format!("a(\"{wide}\")")), []);
    assert_eq!(wide_lines("a.rs", &format!("// https://{wide}")), []);
}
