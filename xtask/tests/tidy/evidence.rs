//! Tables of what was found wrong, with the tests that show the mends: each test is there.

use crate::offence::Offence;
use crate::requirements::holds_test;

/// The pages whose tables name a test in every row.
pub const PAGES: [&str; 1] = ["docs/internals/attacks.md"];

/// The columns whose cells link to tests, by their heading.
const HEADING: &str = "tests";

/// Rows without a test, and links to tests that are not there: `[`name`](path)`, the path relative
/// to the page. `file` gives a file's text.
pub fn missing<'a>(path: &str, text: &str, file: impl Fn(&str) -> Option<&'a str>) -> Vec<Offence> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut column = None;
    let mut offences = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if !line.starts_with('|') {
            column = None;
            continue;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let Some(found) = cells.iter().position(|cell| *cell == HEADING) {
            column = Some(found);
            continue;
        }
        let Some(cell) = column.and_then(|column| cells.get(column)) else {
            continue;
        };
        if cell.starts_with("---") {
            continue;
        }
        let tests = links(cell);
        let mut complain = |what: String| offences.push(Offence::new(path, number + 1, what));
        if tests.is_empty() {
            complain("a row without a test".to_owned());
        }
        for (name, target) in tests {
            let target = resolved(folder, target);
            if !file(&target).is_some_and(|text| holds_test(text, name)) {
                complain(format!("no test {name} in {target}"));
            }
        }
    }
    offences
}

/// The names and targets of a cell's links.
fn links(cell: &str) -> Vec<(&str, &str)> {
    cell.split("[`").skip(1).filter_map(link).collect()
}

fn link(behind_bracket: &str) -> Option<(&str, &str)> {
    let (name, behind) = behind_bracket.split_once("`](")?;
    Some((name, behind.split_once(')')?.0))
}

/// A path relative to a folder, from the root of the tree.
fn resolved(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn rows_without_a_test_that_is_there_are_found() {
    let code = "#[test]\nfn holds() {}\nfn helps() {}\n";
    let offences = |row: &str| {
        let page = format!("| attack | tests |\n|---|---|\n{row}\n");
        missing("docs/a/b.md", &page, |path| (path == "crates/c.rs").then_some(code)).len()
    };
    assert_eq!(offences("| x | [`holds`](../../crates/c.rs) |"), 0);
    for wrong in [
        "| x | [`helps`](../../crates/c.rs) |",
        "| x | [`holds`](../crates/c.rs) |",
        "| x | [`gone`](../../crates/c.rs), [`holds`](../../crates/c.rs) |",
        "| x | `holds` |",
        "| x |",
    ] {
        assert_eq!(offences(wrong), 1, "{wrong}");
    }
    assert!(missing("a.md", "| other |\n|---|\n| x |\n", |_| None).is_empty());
}
