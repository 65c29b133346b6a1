//! The shape of every page: what a tired reader sees first is short, narrow, and ends where the
//! folded parts begin.

#[path = "../../crates/results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_publication::pages::{PAGE_FILE, PICTURE_FILE, Page, PageFiles};
use bookend_results::record::{Record, file_of};
use bookend_results::suite::{Extent, Overrides, Selection, Suite};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use table_rows::{rows, run};

/// Lines before the first folded part.
const OPEN_LINES_MAX: usize = 150;

/// Lines of a page. What is longer stands in the record, which a command prints.
const LINES_MAX: usize = 800;

/// Letters of any of these, and of prose in the folded parts.
const WIDTH_MAX: usize = 120;

/// Letters of a line of the table of verdicts.
const VERDICT_WIDTH_MAX: usize = 99;

fn suites() -> Vec<PathBuf> {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites");
    let mut suites: Vec<PathBuf> = fs::read_dir(suites)
        .expect("readable")
        .map(|entry| entry.expect("one").path())
        .filter(|path| path.is_dir())
        .collect();
    suites.sort();
    suites
}

/// A full run of the suite as it is now, with invented rows.
fn invented(folder: &Path) -> PageFiles {
    let suite = Suite::read(folder).unwrap_or_else(|error| panic!("{error}"));
    let selection = Selection { extent: Extent::Full, rounds: Some(3), ..Selection::default() };
    let plan = suite.plan(&selection, &Overrides::default(), 2);
    let mut run = run();
    run.new.plan = plan.expect("a plan");
    run.new.command = format!("bookend run {} --rounds 3", suite.name);
    let rows = rows(&run.new.plan);
    let record = Record::of_run(&run, &rows, BTreeMap::new());
    let page = Page::read(folder, &record).unwrap_or_else(|error| panic!("{error}"));
    page.files()
}

/// Lines that are in no table and no block: those can be wrapped.
fn prose<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let mut is_code = false;
    lines.iter().copied().filter(move |line| {
        is_code ^= line.starts_with("```");
        !is_code && !line.starts_with(['|', '`', '#'])
    })
}

/// What is wrong with the shape of a page.
fn complaints(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let open: Vec<&str> = lines.iter().take_while(|line| **line != "<details>").copied().collect();
    let mut complaints = Vec::new();
    if open.len() > OPEN_LINES_MAX {
        complaints.push(format!("{} lines before the folded parts", open.len()));
    }
    let is_verdict = |line: &str| {
        open.iter()
            .skip_while(|one| **one != "## Verdicts")
            .take_while(|one| **one != "## Figures")
            .any(|one| one.starts_with('|') && *one == line)
    };
    for line in &open {
        let most = if is_verdict(line) { VERDICT_WIDTH_MAX } else { WIDTH_MAX };
        if line.chars().count() > most {
            complaints.push(format!("{} letters: {line}", line.chars().count()));
        }
    }
    if !open.iter().any(|line| line.starts_with("![") && line.contains(PICTURE_FILE)) {
        complaints.push("no picture before the folded parts".to_owned());
    }
    for line in prose(&lines).filter(|line| line.chars().count() > WIDTH_MAX) {
        complaints.push(format!("prose of {} letters: {line}", line.chars().count()));
    }
    if lines.len() > LINES_MAX {
        complaints.push(format!("{} lines", lines.len()));
    }
    let mut depth = 0;
    for line in lines.iter().skip(open.len()) {
        match *line {
            "<details>" => depth += 1,
            "</details>" => depth -= 1,
            open if depth == 0 && !open.is_empty() => {
                complaints.push(format!("open between the folded parts: {open}"));
            }
            _ => {}
        }
    }
    let blocks = text.trim_end().trim_end_matches("</details>").trim_end();
    let last = blocks.trim_end_matches("```").rsplit("```text\n").next().unwrap_or_default();
    if depth != 0 || !last.lines().any(|line| line.contains("bookend run ")) || last.len() > 500 {
        complaints.push(format!("the command is not at the end: {last}"));
    }
    complaints
}

#[test]
fn every_page_is_short_narrow_and_ends_in_its_command() {
    for folder in suites() {
        let name = folder.display();
        let page = invented(&folder);
        assert_eq!(complaints(&page.text), [""; 0], "{name}");
        assert!(page.picture.is_some(), "{name}");
        assert!(!page.text.contains("\n\n\n"), "{name}");
        assert!(
            !page.text.contains("No finding is printed"),
            "{name} names a cell that is not planned"
        );
    }
}

#[test]
fn every_committed_page_is_so_too_and_its_picture_is_there() {
    let pages = suites().into_iter().filter(|folder| folder.join(PAGE_FILE).is_file());
    let mut count = 0;
    for folder in pages {
        let text = fs::read_to_string(folder.join(PAGE_FILE)).expect("readable");
        assert_eq!(complaints(&text), [""; 0], "{}", folder.display());
        let picture = fs::read_to_string(folder.join(PICTURE_FILE)).expect("a picture");
        assert!(picture.contains("prefers-color-scheme:dark"), "{}", folder.display());
        count += 1;
    }
    assert!(count > 4);
}

#[test]
fn every_version_that_a_page_names_is_in_its_record() {
    let mut count = 0;
    for folder in suites() {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let records = folder.join("../../records");
        let file = [Extent::Full, Extent::Quick]
            .map(|extent| file_of(&records, &name, extent))
            .into_iter()
            .find(|file| file.is_file());
        let declared = fs::read_to_string(folder.join("results.toml")).unwrap_or_default();
        let named = declared.split("{version of ").skip(1);
        for subject in named.map(|rest| rest.split('}').next().expect("a part")) {
            let record = Record::read(file.as_ref().expect("a record")).expect("readable");
            assert!(record.facts.versions.contains_key(subject), "{name}: {subject}");
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn each_offence_is_found() {
    let page = |open: &str, end: &str| {
        format!(
            "# T\n\n![T](RESULTS.svg)\n{open}\n<details>\n\n```text\n{end}\n```\n\n</details>\n"
        )
    };
    let good = page("", "bookend run drivers");
    assert_eq!(complaints(&good), [""; 0]);
    let wide = "x".repeat(WIDTH_MAX + 1);
    let verdict = format!("## Verdicts\n\n| {} |\n\n## Figures\n", "x".repeat(100));
    let offences = [
        page(&wide, "bookend run drivers"),
        page(&verdict, "bookend run drivers"),
        page(&"x\n".repeat(OPEN_LINES_MAX), "bookend run drivers"),
        page("", "OS: Debian"),
        page("", "bookend run drivers").replace("```text", &format!("{wide}\n\n```text")),
        page("", &"x\n".repeat(LINES_MAX)),
        good.replace("![T](RESULTS.svg)", ""),
        format!("{good}\nafter all\n"),
    ];
    for offence in offences {
        assert!(!complaints(&offence).is_empty(), "{offence}");
    }
}
