//! The lists of what RFC 9113 and RFC 7541 demand. Each demand that concerns us is cited at the
//! code that meets it and at a test that shows it; each other one has its reason. A list is
//! complete where it has as many demands of a section as the RFC's text has.

use crate::offence::Offence;
use crate::rust_source::{Function, RustSource};
use toml::{Table, Value};

/// A list of demands, in a file of its own.
pub struct List {
    pub path: &'static str,
    rfc: &'static str,
    /// How often the RFC's text has MUST, MUST NOT, SHALL, SHALL NOT or REQUIRED.
    keywords: usize,
}

pub const LISTS: [List; 2] = [
    List { path: "docs/internals/rfc/rfc9113.toml", rfc: "9113", keywords: 223 },
    List { path: "docs/internals/rfc/rfc7541.toml", rfc: "7541", keywords: 20 },
];

/// One entry: a demand, or several that the same code meets.
struct Requirement<'a> {
    section: &'a str,
    says: &'a str,
    keywords: usize,
    code: Vec<&'a str>,
    test: Vec<&'a str>,
    /// A text that stands in the test: which of its cases it is.
    case: Option<&'a str>,
    reason: Option<&'a str>,
}

/// Sections of which the list has more or fewer demands than the RFC.
pub fn miscounted(list: &List, text: &str) -> Vec<Offence> {
    let table = parsed(text);
    let entries = requirements(&table);
    let empty = Table::new();
    let sections = table.get("keywords").and_then(Value::as_table).unwrap_or(&empty);
    let total: usize = sections.values().map(count).sum();
    let mut offences = Vec::new();
    let mut complain = |what: String| offences.push(Offence::of_file(list.path, what));
    if total != list.keywords {
        complain(format!("RFC {} has {} keywords, not {total}", list.rfc, list.keywords));
    }
    for (section, expected) in sections {
        let of_section = entries.iter().filter(|entry| entry.section == section);
        let listed: usize = of_section.map(|entry| entry.keywords).sum();
        if listed != count(expected) {
            complain(format!("section {section}: {listed} of {expected} keywords are listed"));
        }
    }
    for entry in entries.iter().filter(|entry| !sections.contains_key(entry.section)) {
        complain(format!("section {} has no keywords: {}", entry.section, entry.says));
    }
    offences
}

/// Entries whose citation leads nowhere, and entries with neither a citation nor a reason. `file`
/// gives a file's text.
pub fn stale<'a>(list: &List, text: &str, file: impl Fn(&str) -> Option<&'a str>) -> Vec<Offence> {
    let table = parsed(text);
    let complaints = requirements(&table).into_iter().flat_map(|entry| {
        let found = match entry.reason {
            Some(_) if entry.code.is_empty() && entry.test.is_empty() => vec![],
            Some(_) => vec!["a reason and a citation".to_owned()],
            None => complaints(list.rfc, &entry, &file),
        };
        let at = format!("section {} ({})", entry.section, entry.says);
        found.into_iter().map(move |what| format!("{at}: {what}")).collect::<Vec<_>>()
    });
    complaints.map(|what| Offence::of_file(list.path, what)).collect()
}

fn complaints<'a>(
    rfc: &str,
    entry: &Requirement<'_>,
    file: &impl Fn(&str) -> Option<&'a str>,
) -> Vec<String> {
    let mut found = Vec::new();
    if entry.code.is_empty() || entry.test.is_empty() {
        found.push("no code, no test and no reason, or only one of them".to_owned());
    }
    for place in &entry.code {
        match items(place, file) {
            None => found.push(format!("{place} is not there")),
            Some(items) if items.iter().any(|item| cites(item, rfc, entry.section)) => {}
            Some(_) => found.push(format!("{place} does not name the section")),
        }
    }
    let tests: Vec<_> = entry.test.iter().map(|place| (place, items(place, file))).collect();
    for (place, _) in tests.iter().filter(|(_, items)| items.is_none()) {
        found.push(format!("{place} is not there"));
    }
    let texts: Vec<&str> =
        tests.iter().flat_map(|(_, items)| items.iter().flatten().copied()).collect();
    if !tests.is_empty() && !texts.iter().any(|item| item.contains("#[test]")) {
        found.push("none of its tests is a #[test]".to_owned());
    }
    if let Some(case) = entry.case.filter(|case| !texts.iter().any(|item| item.contains(case))) {
        found.push(format!("no case {case:?}"));
    }
    found
}

/// What `path#function` names: the functions of that name with the comments above them, and the
/// front matter of the file, since it speaks for all in it. What `path` names: the whole file.
fn items<'a>(place: &str, file: &impl Fn(&str) -> Option<&'a str>) -> Option<Vec<&'a str>> {
    let (path, name) =
        place.split_once('#').map_or((place, None), |(path, name)| (path, Some(name)));
    let text = file(path)?;
    let Some(name) = name else {
        return Some(vec![text]);
    };
    let named = RustSource::parse(text).functions().into_iter().filter(|f| f.name == name);
    let mut items: Vec<&str> =
        named.map(|function| with_what_stands_above(text, &function)).collect();
    if items.is_empty() {
        return None;
    }
    items.push(front_matter(text));
    Some(items)
}

/// Whether a file has a test of that name: a function that is marked as one, or that stands in the
/// list of a program without the standard harness, `tests![...]`.
pub fn holds_test(text: &str, name: &str) -> bool {
    let functions = RustSource::parse(text).functions();
    let is_listed = |list: &str| list.split(',').any(|listed| listed.trim() == name);
    let list = text.split_once("\ntests![").and_then(|(_, rest)| rest.split_once(']'));
    let is_listed = list.is_some_and(|(list, _)| is_listed(list));
    let mut named = functions.iter().filter(|function| function.name == name);
    named.any(|function| is_listed || with_what_stands_above(text, function).contains("#[test]"))
}

fn with_what_stands_above<'a>(text: &'a str, function: &Function) -> &'a str {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let above = lines[..function.line - 1].iter().rev();
    let attached =
        above.take_while(|line| ["//", "#["].iter().any(|it| line.trim_start().starts_with(it)));
    let first = function.line - 1 - attached.count();
    let start: usize = lines[..first].iter().map(|line| line.len()).sum();
    let last = (function.line - 1 + function.lines).min(lines.len());
    let length: usize = lines[first..last].iter().map(|line| line.len()).sum();
    &text[start..start + length]
}

fn front_matter(text: &str) -> &str {
    let lines = text.split_inclusive('\n').take_while(|line| line.starts_with("//!"));
    &text[..lines.map(str::len).sum()]
}

/// Whether a comment has `RFC 9113, section 4.1`, or that section among several.
fn cites(item: &str, rfc: &str, section: &str) -> bool {
    let comments = RustSource::parse(item).comments().replace(['/', '!'], " ");
    let mut of_this_rfc = false;
    let mut after_rfc = false;
    for word in comments.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if std::mem::replace(&mut after_rfc, word == "RFC") {
            of_this_rfc = word == rfc;
        } else if of_this_rfc && word == section {
            return true;
        }
    }
    false
}

fn requirements(table: &Table) -> Vec<Requirement<'_>> {
    let entries = table.get("requirement").and_then(Value::as_array);
    let entries = entries.into_iter().flatten().filter_map(Value::as_table);
    entries.map(requirement).collect()
}

fn requirement(entry: &Table) -> Requirement<'_> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    Requirement {
        section: text("section").unwrap_or_default(),
        says: text("says").unwrap_or_default(),
        keywords: entry.get("keywords").map_or(1, count),
        code: places(entry, "code"),
        test: places(entry, "test"),
        case: text("case"),
        reason: text("reason"),
    }
}

/// One place, or several.
fn places<'a>(entry: &'a Table, key: &str) -> Vec<&'a str> {
    match entry.get(key) {
        Some(Value::Array(places)) => places.iter().filter_map(Value::as_str).collect(),
        Some(place) => place.as_str().into_iter().collect(),
        None => vec![],
    }
}

fn count(value: &Value) -> usize {
    value.as_integer().and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
}

fn parsed(text: &str) -> Table {
    text.parse().unwrap_or_default()
}

#[cfg(test)]
const TRIED: List = List { path: "list.toml", rfc: "9113", keywords: 3 };

#[cfg(test)]
const CODE: &str = "//! All of this is RFC 9113, section 6.\n\
    /// A frame. RFC 9113, sections 4.1 and 4.2; its text is RFC 7541, section 5.\n\
    fn frame() {\n    let a = \"RFC 9113, section 8\";\n}\n\
    #[test]\nfn a_frame_is_read() {\n    case(\"4.1/1: empty\");\n}\n";

#[cfg(test)]
fn tried(entry: &str) -> usize {
    let list = format!("[[requirement]]\nsection = \"4.1\"\nsays = \"x\"\n{entry}");
    stale(&TRIED, &list, |path| (path == "a.rs").then_some(CODE)).len()
}

#[test]
fn a_citation_that_leads_somewhere_is_let_through() {
    let cited = "code = \"a.rs#frame\"\ntest = \"a.rs#a_frame_is_read\"\n";
    assert_eq!(tried(cited), 0);
    assert_eq!(tried(&format!("{cited}case = \"4.1/1: empty\"\n")), 0);
    assert_eq!(tried("code = \"a.rs\"\ntest = [\"a.rs#a_frame_is_read\", \"a.rs#frame\"]\n"), 0);
    assert_eq!(tried("reason = \"nobody sends it\"\n"), 0);
}

#[test]
fn a_citation_that_leads_nowhere_is_an_offence() {
    let test = "test = \"a.rs#a_frame_is_read\"\n";
    for wrong in [
        "code = \"a.rs#gone\"\n",
        "code = \"gone.rs#frame\"\n",
        "code = \"a.rs#a_frame_is_read\"\n",
        "",
        "code = \"a.rs#frame\"\nreason = \"none\"\n",
        "code = \"a.rs#frame\"\ncase = \"4.1/2: gone\"\n",
    ] {
        assert_eq!(tried(&format!("{wrong}{test}")), 1, "{wrong}");
    }
    for wrong in ["", "test = \"a.rs#gone\"\n", "test = \"a.rs#frame\"\n"] {
        assert!(tried(&format!("code = \"a.rs#frame\"\n{wrong}")) > 0, "{wrong}");
    }
}

#[test]
fn a_section_is_cited_under_its_own_rfc_and_in_a_comment() {
    let found = |rfc, section| cites(CODE, rfc, section);
    assert!(found("9113", "6") && found("9113", "4.1") && found("9113", "4.2"));
    assert!(found("7541", "5") && !found("9113", "5") && !found("7541", "4.1"));
    assert!(!found("9113", "4") && !found("9113", "8"));
}

#[test]
fn a_demand_that_vanished_is_an_offence() {
    let entry = "[[requirement]]\nsection = \"4.1\"\nsays = \"x\"\nreason = \"y\"\n";
    let counts = "[keywords]\n\"4.1\" = 2\n\"4.2\" = 1\n";
    let other = "[[requirement]]\nsection = \"4.2\"\nsays = \"x\"\nreason = \"y\"\n";
    let whole = format!("{counts}{entry}keywords = 2\n{other}");
    assert_eq!(miscounted(&TRIED, &whole), []);
    assert_eq!(miscounted(&TRIED, &format!("{counts}{entry}{other}")).len(), 1);
    assert_eq!(miscounted(&TRIED, &format!("{counts}{entry}keywords = 2\n")).len(), 1);
    let without_its_section = format!("[keywords]\n\"4.1\" = 2\n{entry}keywords = 2\n{other}");
    assert_eq!(miscounted(&TRIED, &without_its_section).len(), 2);
}
