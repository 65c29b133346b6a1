//! How much code there is, a crate, and that it stays within what was agreed on.
//!
//! A line of code is one that is neither blank nor a comment, outside inline test modules and
//! outside files for tests. The budgets are lowered as code goes away; one that has to grow is
//! raised in the commit that needs it, where a reviewer sees it.

use crate::steps::root;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate's folder and its budget in lines of code on each line.
const BUDGETS: &str = "xtask/code-lines.txt";

/// Prints the lines of each crate next to its budget; whether all are within theirs.
///
/// # Errors
///
/// Budgets that cannot be read.
pub fn check() -> Result<bool, String> {
    let text = fs::read_to_string(root().join(BUDGETS));
    let text = text.map_err(|error| format!("{BUDGETS}: {error}"))?;
    let (report, complaints) = compared(&counted(&root()), &budgets(&text)?);
    print!("{report}");
    for complaint in &complaints {
        println!("{complaint}");
    }
    Ok(complaints.is_empty())
}

/// The crates of the workspace with their lines of code, in the order of their names.
fn counted(root: &Path) -> Vec<(String, usize)> {
    let in_crates = folders(&root.join("crates")).into_iter();
    let own = in_crates.chain(["publication", "xtask"].map(|name| root.join(name)));
    let crates = own.filter(|folder| folder.join("Cargo.toml").exists());
    crates
        .map(|folder| {
            let name = folder.strip_prefix(root).expect("it is below the root").to_string_lossy();
            (name.into_owned(), lines_below(&folder.join("src")))
        })
        .collect()
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

fn lines_below(folder: &Path) -> usize {
    folders(folder)
        .iter()
        .map(|path| match path.is_dir() {
            true if !is_for_tests(path) => lines_below(path),
            false if is_code(path) => code_lines(&fs::read_to_string(path).unwrap_or_default()),
            _ => 0,
        })
        .sum()
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs") && !is_for_tests(path)
}

/// `tests/`, `tests.rs`, `frame_tests.rs`, and stories.
fn is_for_tests(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    ["test", "tests"].contains(&&*stem)
        || !path.is_dir() && (stem.ends_with("_test") || stem.ends_with("_tests"))
        || stem.starts_with("stories")
}

/// Lines that are neither blank nor comments, outside modules under `#[cfg(test)]`.
fn code_lines(text: &str) -> usize {
    let mut count = 0;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") {
            let Some(item) = lines.by_ref().find(|line| !line.starts_with("#[")) else {
                break;
            };
            if is_module(item) {
                skip_block(item, &mut lines);
            } else {
                count += usize::from(is_line_of_code(item));
            }
        } else {
            count += usize::from(is_line_of_code(line));
        }
    }
    count
}

fn is_module(line: &str) -> bool {
    ["mod ", "pub mod ", "pub(crate) mod "].iter().any(|start| line.starts_with(start))
}

/// Takes the lines up to the brace that closes what `opening` opens, if it opens a block.
fn skip_block<'a>(opening: &str, lines: &mut impl Iterator<Item = &'a str>) {
    let depth_of =
        |line: &str| line.matches('{').count() as isize - line.matches('}').count() as isize;
    let mut depth = depth_of(opening);
    while depth > 0 {
        let Some(line) = lines.next() else { return };
        depth += depth_of(line);
    }
}

fn is_line_of_code(line: &str) -> bool {
    !line.is_empty() && !["//", "/*", "* "].iter().any(|start| line.starts_with(start))
}

fn budgets(text: &str) -> Result<Vec<(String, usize)>, String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let budget = line
                .split_once(' ')
                .and_then(|(name, lines)| Some((name, lines.trim().parse().ok()?)));
            let (name, lines) = budget.ok_or_else(|| format!("{BUDGETS}: no budget: {line}"))?;
            Ok((name.to_owned(), lines))
        })
        .collect()
}

/// A line a crate with its total, and what is wrong.
fn compared(counted: &[(String, usize)], budgets: &[(String, usize)]) -> (String, Vec<String>) {
    let mut report = String::new();
    let mut complaints = Vec::new();
    for (name, lines) in counted {
        let budget = budgets.iter().find(|(other, _)| other == name).map(|(_, budget)| *budget);
        let of = budget.map_or("no budget".to_owned(), |budget| format!("of {budget}"));
        report += &format!("{name:<18} {lines:>6} {of}\n");
        if budget.is_none_or(|budget| *lines > budget) {
            complaints.push(format!(
                "{name} has {lines} lines of code, {of}: cut it, or say why in {BUDGETS}"
            ));
        }
    }
    let gone = budgets.iter().filter(|(name, _)| !counted.iter().any(|(other, _)| other == name));
    complaints
        .extend(gone.map(|(name, _)| format!("{name} has a budget in {BUDGETS} and is gone")));
    let total: usize = counted.iter().map(|(_, lines)| lines).sum();
    report += &format!("{:<18} {total:>6}\n", "total");
    (report, complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_comments_and_inline_tests_are_no_code() {
        let text = "//! A page.\n\nuse std::fs;\n\n/// An answer.\nfn answer() -> u8 {\n    42 // a number\n}\n\
            #[cfg(test)]\nmod tests {\n    fn a() {\n    }\n}\nconst LAST: u8 = 0;\n";
        assert_eq!(code_lines(text), 5);
    }

    #[test]
    fn a_module_of_tests_in_another_file_hides_nothing_after_it() {
        assert_eq!(code_lines("#[cfg(test)]\nmod tests;\nfn a() {}\n"), 1);
        assert_eq!(code_lines("#[cfg(test)]\n#[path = \"a.rs\"]\nmod tests;\nfn a() {}\n"), 1);
        assert_eq!(code_lines("#[cfg(test)]\nfn only_in_tests() {}\nfn a() {}\n"), 2);
    }

    #[test]
    fn files_for_tests_are_told_from_others() {
        for path in ["a/tests", "a/tests.rs", "a/test.rs", "a/frame_tests.rs", "a/stories.rs"] {
            assert!(is_for_tests(Path::new(path)), "{path}");
        }
        for path in ["a/attests.rs", "a/testing.rs", "a/latest.rs"] {
            assert!(!is_for_tests(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn more_than_the_budget_and_no_budget_are_complaints() {
        let of = |name: &str, lines| (name.to_owned(), lines);
        let complaints = |counted: &[_], budgets: &[_]| compared(counted, budgets).1.len();
        assert_eq!(complaints(&[of("crates/a", 10)], &[of("crates/a", 10)]), 0);
        assert_eq!(complaints(&[of("crates/a", 11)], &[of("crates/a", 10)]), 1);
        assert_eq!(complaints(&[of("crates/b", 1)], &[of("crates/a", 10)]), 2);
    }

    #[test]
    fn a_budget_that_is_no_number_is_an_error() {
        assert_eq!(budgets("# why\ncrates/a 10\n"), Ok(vec![("crates/a".to_owned(), 10)]));
        assert!(budgets("crates/a ten\n").is_err());
    }
}
