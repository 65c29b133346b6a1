//! Buffers that can grow, and the page that says what bounds each of them: whoever adds one has to
//! say whether a client makes it grow.

use std::collections::{BTreeMap, BTreeSet};

use crate::offence::{Offence, has_word};
use crate::rust_source::RustSource;
use crate::tree::File;

/// The page with a row for each field.
pub const PAGE: &str = "docs/internals/memory.md";

/// The crates that hold what clients send.
const CRATES: [&str; 3] = ["crates/io/src/", "crates/server/src/", "crates/wire/src/"];

/// Files that no server is built from, by a part of their path.
const FOR_TESTS: [&str; 4] = ["/tests.rs", "/faults", "/fault_injector.rs", "/simulated.rs"];

/// Types whose memory depends on what is put into them.
const GROWING: [&str; 8] =
    ["BTreeMap", "BTreeSet", "BinaryHeap", "HashMap", "HashSet", "String", "Vec", "VecDeque"];

/// The same, behind a pointer.
const GROWING_BEHIND: [&str; 4] = ["Arc<[", "Arc<str", "Box<[", "Box<str"];

/// How the last cell of a row begins.
const BOUNDS: [&str; 3] = ["the budget", "a constant", "not a client"];

/// Fields without a row, rows without a field, and rows that name no bound.
pub fn unbounded(files: &[File], page: &str) -> Vec<Offence> {
    let fields: BTreeSet<String> = files
        .iter()
        .filter(|file| is_served(&file.path))
        .filter_map(|file| Some(growing_fields(&file.path, file.text()?)))
        .flatten()
        .collect();
    let rows = rows(page);
    let missing = fields.iter().filter(|field| !rows.contains_key(*field));
    let missing = missing.map(|field| Offence::of_file(PAGE, format!("no row for {field}")));
    let wrong = rows.iter().filter_map(|(field, (line, bound))| {
        let what = if !fields.contains(field) {
            format!("{field} is no field that grows")
        } else if !BOUNDS.iter().any(|known| bound.starts_with(known)) {
            format!("what bounds {field}? one of {BOUNDS:?}, and what it is")
        } else {
            return None;
        };
        Some(Offence::new(PAGE, *line, what))
    });
    missing.chain(wrong).collect()
}

fn is_served(path: &str) -> bool {
    path.ends_with(".rs")
        && CRATES.iter().any(|folder| path.starts_with(folder))
        && !FOR_TESTS.iter().any(|part| path.contains(part))
}

/// The first cell of each row that names a field, with its line and the last cell.
fn rows(page: &str) -> BTreeMap<String, (usize, &str)> {
    page.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
            let [field, _, bound, ""] = cells[..] else { return None };
            let (name, place) = field.strip_prefix('`')?.split_once("` in ")?;
            Some((format!("{name} in {place}"), (index + 1, bound)))
        })
        .collect()
}

/// `Type.field in crate/module` for each field of a struct that can grow.
fn growing_fields(path: &str, text: &str) -> Vec<String> {
    let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = RustSource::parse(shipped).code();
    let place = path.trim_start_matches("crates/").trim_end_matches(".rs").replace("/src/", "/");
    let mut fields = Vec::new();
    for (start, _) in code.match_indices("struct ") {
        if code[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some((name, body, is_tuple)) = struct_at(&code[start + "struct ".len()..]) else {
            continue;
        };
        for (index, field) in top_level(body).into_iter().enumerate() {
            let (field, kind) = if is_tuple {
                (index.to_string(), field.trim_start_matches("pub").trim())
            } else {
                let Some((field, kind)) = field.split_once(':') else { continue };
                let field = field.split_whitespace().next_back().unwrap_or_default();
                (field.to_owned(), kind.trim())
            };
            if grows(kind) {
                fields.push(format!("{name}.{field} in {place}"));
            }
        }
    }
    fields
}

fn grows(kind: &str) -> bool {
    let is_borrowed = kind.starts_with('&') || kind.starts_with("fn(");
    let is_growing = GROWING.iter().any(|name| has_word(kind, name))
        || GROWING_BEHIND.iter().any(|name| kind.contains(name));
    is_growing && !is_borrowed
}

/// The name of the struct that the code begins with, its fields, and whether they have numbers.
fn struct_at(code: &str) -> Option<(&str, &str, bool)> {
    let name_end = code.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    let open = code.find(['{', '(', ';'])?;
    let is_tuple = match code.as_bytes()[open] {
        b'{' => false,
        b'(' => true,
        _ => return None,
    };
    let mut depth = 0;
    for (at, c) in code[open..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&code[..name_end], &code[open + 1..open + at], is_tuple));
        }
    }
    None
}

/// The parts of a list that commas divide, those within brackets not counted.
fn top_level(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if !list[..at].ends_with('-') => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

#[test]
fn a_field_without_a_row_and_a_row_without_a_field_are_found() {
    let source = "
        /// A Vec<u8> in words.
        pub struct Kept<T> where T: Ord {
            pub(crate) bytes: Vec<u8>,
            by_name: BTreeMap<u32, (u8, T)>,
            name: Option<Box<[u8]>>,
            lent: &'static Vec<u8>,
            make: fn(&mut Vec<u8>) -> u8,
            count: usize,
        }
        struct Queue(u8, Mutex<VecDeque<u8>>);
        #[cfg(test)]
        struct Tested(Vec<u8>);";
    let fields = growing_fields("crates/io/src/a/b.rs", source);
    let expected = ["Kept.bytes", "Kept.by_name", "Kept.name", "Queue.1"];
    assert_eq!(fields, expected.map(|field| format!("{field} in io/a/b")));
    let file = File { path: "crates/io/src/a/b.rs".into(), bytes: source.into() };
    let page =
        "| `Kept.bytes` in io/a/b | x | the budget |\n| `Kept.by_name` in io/a/b | x | luck |
| `Kept.name` in io/a/b | x | a constant |\n| `Gone.bytes` in io/a/b | x | the budget |\n";
    let offences = unbounded(&[file], page);
    let told: Vec<String> = offences.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].ends_with("no row for Queue.1 in io/a/b"), "{told:?}");
    assert!(told[1].contains("Gone.bytes") && told[2].contains("what bounds Kept.by_name"));
}
