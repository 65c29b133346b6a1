//! What is asked of the prose: one title a page, and links that lead somewhere.

use crate::offence::Offence;
use crate::tree::File;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// What a newcomer reads in two minutes.
const README_LINES: usize = 120;

/// All pages of docs/ together: whatever one page adds, another can lose.
const DOCS_LINES: usize = 5_500;

/// A first page, or documentation, that grew too long to be read.
pub fn long_prose(files: &[File]) -> Vec<Offence> {
    let lines = |is_of: fn(&str) -> bool| -> usize {
        let pages = files.iter().filter(|file| is_of(&file.path));
        pages.filter_map(File::text).map(|text| text.lines().count()).sum()
    };
    let readme = lines(|path| path == "README.md");
    let docs = lines(|path| path.starts_with("docs/") && path.ends_with(".md"));
    let of = |path, lines: usize, most: usize| {
        let what = format!("{lines} lines, {most} at most: cut what a reader does not need");
        (lines > most).then(|| Offence::of_file(path, what))
    };
    of("README.md", readme, README_LINES).into_iter().chain(of("docs", docs, DOCS_LINES)).collect()
}

/// Pages with no title, or with more than one.
pub fn titles(path: &str, text: &str) -> Vec<Offence> {
    let titles = prose(text).filter(|(_, line)| line.starts_with("# ")).count();
    if titles == 1 {
        return vec![];
    }
    vec![Offence::of_file(path, format!("{titles} titles ('# ...'); a page has one"))]
}

/// Links to files that are not there. `paths` are all files and folders, relative to the root.
pub fn dead_links(path: &str, text: &str, paths: &BTreeSet<String>) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        for target in inline_targets(&line).chain(reference_target(&line)) {
            if leads_nowhere(path, target, paths) {
                offences.push(Offence::new(path, number, format!("no such file: {target}")));
            }
        }
    }
    offences
}

/// The lines, counted from 1, that are not in a fenced block.
pub fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        fenced ^= fence;
        (!fenced && !fence).then_some((index + 1, line))
    })
}

/// Every second part between backticks is code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// `[text](target "title")`
fn inline_targets(line: &str) -> impl Iterator<Item = &str> {
    let after = line.split("](").skip(1);
    after.filter_map(|after| after.split([')', ' ']).next())
}

/// `[name]: target`
fn reference_target(line: &str) -> Option<&str> {
    let (_, after) = line.strip_prefix('[')?.split_once("]: ")?;
    after.split(' ').next()
}

fn leads_nowhere(path: &str, target: &str, paths: &BTreeSet<String>) -> bool {
    let file = target.split('#').next().unwrap_or_default().trim_matches(['<', '>']);
    let is_elsewhere = file.contains("://") || file.starts_with("mailto:");
    !file.is_empty() && !is_elsewhere && !resolve(path, file).is_some_and(|to| paths.contains(&to))
}

/// `None` for what leads out of the tree.
fn resolve(path: &str, target: &str) -> Option<String> {
    let mut resolved = PathBuf::new();
    let folder = Path::new(path).parent()?;
    for part in folder.join(target).components() {
        match part {
            Component::ParentDir => resolved.pop().then_some(())?,
            Component::Normal(name) => resolved.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(resolved.to_string_lossy().into_owned())
}

#[test]
fn a_page_has_one_title_and_fences_hold_none() {
    assert_eq!(titles("a.md", "# A\n```sh\n# a comment\n```\n## B"), []);
    assert_eq!(titles("a.md", "## B").len(), 1);
    assert_eq!(titles("a.md", "# A\n# B").len(), 1);
}

#[test]
fn links_are_followed_from_the_page_that_they_stand_on() {
    let paths = ["", "docs", "docs/bias.md", "README.md"].map(str::to_owned).into();
    let dead = |text: &str| dead_links("docs/metrics.md", text, &paths).len();
    assert_eq!(dead("[a](bias.md#loopback), [b](../README.md), ![c](.)"), 0);
    assert_eq!(dead("[a](https://example.org/x) [b](#here) `[c](d)`"), 0);
    assert_eq!(dead("[a](bias.md) and [b](BIAS.md) and ![c](../../README.md)"), 2);
    assert_eq!(dead("[a]: nothing.md"), 1);
}

#[test]
fn a_first_page_and_all_documentation_have_a_length() {
    let page = |path: &str, lines| File { path: path.into(), bytes: "a\n".repeat(lines).into() };
    let fit = [page("README.md", README_LINES), page("docs/a.md", DOCS_LINES)];
    assert_eq!(long_prose(&fit), []);
    let long = [page("README.md", README_LINES + 1), page("docs/b.md", DOCS_LINES + 1)];
    assert_eq!(long_prose(&long).len(), 2);
}
