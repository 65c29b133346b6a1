//! The README's commands are run by everybody who comes; they have to exist.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages that newcomers follow command by command.
const PAGES: [&str; 4] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/extend/adding-a-subject.md",
    "docs/extend/making-a-suite.md",
];

/// Commands that a reader may be told to type.
struct Known {
    make_targets: Vec<String>,
    /// Sub-commands of `bookend`, with the help that each gives.
    bookend: BTreeMap<String, String>,
}

impl Known {
    /// What the Makefile and the compiled command offer.
    fn of_this_tree() -> Self {
        let names = subcommands(&help_of(&[]));
        let with_help = names.into_iter().map(|name| (help_of(&[&name]), name));
        Known {
            make_targets: targets(&text("Makefile")),
            bookend: with_help.map(|(help, name)| (name, help)).collect(),
        }
    }

    fn complaint(&self, command: &str) -> Option<String> {
        // What is quoted are commands and data of the reader's.
        let own: String = command.split('\'').step_by(2).collect();
        let mut words = own.split_whitespace().skip_while(|word| is_assignment(word));
        let program = words.next()?;
        let rest: Vec<&str> = words.collect();
        if program.starts_with("scripts/") {
            return (!root().join(program).exists()).then(|| format!("there is no {program}"));
        }
        match program.rsplit('/').next().unwrap_or(program) {
            "make" => self.complaint_about_make(&rest),
            "bookend" => self.complaint_about_bookend(&rest),
            "cd" | "git" | "cargo" => None,
            _ => Some(format!("readers are not told to run {program}")),
        }
    }

    fn complaint_about_make(&self, words: &[&str]) -> Option<String> {
        let mut targets = words.iter().filter(|word| !is_assignment(word));
        let unknown = targets.find(|word| !self.make_targets.iter().any(|known| known == *word))?;
        Some(format!("the Makefile has no target {unknown}"))
    }

    fn complaint_about_bookend(&self, words: &[&str]) -> Option<String> {
        let (name, rest) = words.split_first()?;
        let Some(help) = self.bookend.get(*name) else {
            return Some(format!("bookend has no sub-command {name}"));
        };
        let flags = rest.iter().filter(|word| word.starts_with("--"));
        let mut flags = flags.map(|flag| flag.split('=').next().unwrap_or(flag));
        let offered = |flag: &str| help.split([' ', ',', '=', '\n']).any(|word| word == flag);
        let unknown = flags.find(|flag| !offered(flag))?;
        Some(format!("bookend {name} has no flag {unknown}"))
    }
}

/// Commands in fenced `sh` blocks that do not exist, each with its place.
fn unknown_commands(path: &str, text: &str, known: &Known) -> Vec<String> {
    let complaint = |(line, command): (usize, String)| {
        Some(format!("{path}:{line}: {}", known.complaint(&command)?))
    };
    commands(text).into_iter().filter_map(complaint).collect()
}

/// Commands with the number of the line that each begins on; comments and prompts taken off.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut in_shell, mut goes_on) = (false, false);
    for (index, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            in_shell = language == "sh";
            continue;
        }
        let command = line.split(" #").next().unwrap_or(line).trim();
        let command = command.trim_start_matches("$ ");
        if !in_shell || command.is_empty() || command.starts_with('#') {
            continue;
        }
        let part = command.trim_end_matches('\\');
        match found.last_mut() {
            Some((_, whole)) if goes_on => whole.push_str(part),
            _ => found.push((index + 1, part.to_owned())),
        }
        goes_on = command.ends_with('\\');
    }
    found
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

fn targets(makefile: &str) -> Vec<String> {
    let rules = makefile.lines().filter_map(|line| line.split_once(':'));
    rules.map(|(target, _)| target.to_owned()).filter(|target| !target.contains(' ')).collect()
}

/// The first words of the lines in groups, which stand above the options.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().take_while(|line| *line != "Options:");
    let listed = listed.filter(|line| line.starts_with("  "));
    listed.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn help_of(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bookend"))
        .args(arguments)
        .arg("--help")
        .output()
        .expect("cargo built the command before this test");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn pages_for_newcomers_name_commands_that_exist() {
    let known = Known::of_this_tree();
    let offences: Vec<String> =
        PAGES.iter().flat_map(|page| unknown_commands(page, &text(page), &known)).collect();
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

/// The pages that people write, and what a new issue asks for. The changelog names what is gone.
fn written_pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    let mut folders = vec!["docs".to_owned(), ".github/ISSUE_TEMPLATE".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder").flatten() {
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            match entry.path().extension().and_then(|ending| ending.to_str()) {
                _ if entry.path().is_dir() => folders.push(path),
                Some("md" | "yml") => pages.push(path),
                _ => {}
            }
        }
    }
    pages
}

/// Commands of `bookend` that stand in a line of prose as code, or behind a prompt, and that do
/// not exist.
fn unknown_in_prose(path: &str, text: &str, known: &Known) -> Vec<String> {
    // Code may be broken over two lines.
    let joined = text.replace('\n', " ");
    let spans = joined.split('`').skip(1).step_by(2).map(str::to_owned);
    let prompted = text.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned);
    let complaint = |code: String| {
        let code = code.split(" #").next()?.strip_prefix("bookend ")?.to_owned();
        let words: Vec<&str> = code.split_whitespace().collect();
        let is_command = words.first()?.bytes().all(|byte| byte.is_ascii_lowercase());
        let complaint = is_command.then(|| known.complaint_about_bookend(&words))??;
        Some(format!("{path}: `bookend {code}`: {complaint}"))
    };
    spans.chain(prompted).filter_map(complaint).collect()
}

#[test]
fn pages_speak_of_commands_that_exist() {
    let known = Known::of_this_tree();
    let pages = written_pages();
    assert!(pages.len() > 40, "{pages:?}");
    let offences: Vec<String> =
        pages.iter().flat_map(|page| unknown_in_prose(page, &text(page), &known)).collect();
    assert!(offences.is_empty(), "{}", offences.join("\n"));
    for gone in ["`bookend walk`", "a `bookend run\n--fast` b", "$ bookend run --fast # c"] {
        assert_eq!(unknown_in_prose("a.md", gone, &self::known()).len(), 1, "{gone}");
    }
}

/// Whether a command goes on until somebody ends it, or for hours: a reader who pastes its block
/// does not reach what follows.
fn goes_on(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[..] {
        ["bookend", "serve" | "ui", ..] => words.last() != Some(&"&"),
        ["bookend", "run", suite, ..] => !suite.starts_with("--") && !words.contains(&"--quick"),
        _ => false,
    }
}

/// Commands behind one that goes on, in the same block.
fn unreached(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let commands = commands(text);
    let is_behind = |pair: &[(usize, String)]| {
        let block = &lines[pair[0].0..pair[1].0 - 1];
        goes_on(&pair[0].1) && !block.iter().any(|line| line.starts_with("```"))
    };
    let pairs = commands.windows(2).filter(|pair| is_behind(pair));
    pairs.map(|pair| format!("{path}:{}: {}", pair[1].0, pair[1].1)).collect()
}

#[test]
fn a_block_of_the_front_page_can_be_pasted() {
    assert_eq!(unreached("README.md", &text("README.md")), [""; 0]);
    for command in ["bookend serve --port 1", "bookend run a", "bookend run a --rounds 3 # hours"] {
        let block = format!("```sh\n{command}\nbookend list\n```");
        assert_eq!(unreached("README.md", &block), ["README.md:3: bookend list"], "{command}");
        let alone = format!("```sh\n{command}\n```\n\n```sh\nbookend list\n```");
        assert_eq!(unreached("README.md", &alone), [""; 0]);
    }
}

fn known() -> Known {
    let run_help = "Usage: bookend run [SUITE]\n\n      --quick  short\n  -n, --rounds <N>";
    Known {
        make_targets: targets(".PHONY: bench\n\nbench:\n\t@sh scripts/bench\n"),
        bookend: BTreeMap::from([("run".to_owned(), run_help.to_owned())]),
    }
}

#[test]
fn commands_that_do_not_exist_are_found() {
    for command in [
        "make benchmark",
        "bookend walk",
        "./target/release/bookend run pajamax-tonic --fast",
        "ghz --insecure",
        "$ SETUP=no make benchmark   # a comment",
        "bookend run \\\n    --fast",
        "scripts/gone",
    ] {
        let text = format!("```sh\n{command}\n```");
        assert_eq!(unknown_commands("README.md", &text, &known()).len(), 1, "{command}");
    }
}

#[test]
fn commands_that_exist_and_other_blocks_are_let_through() {
    let text = "```sh\nmake bench SETUP=no # all\nscripts/test tidy\nbookend run a --quick --rounds=3\n```\n\
        ```text\nmake nothing\n```";
    assert_eq!(unknown_commands("README.md", text, &known()), [""; 0]);
}

#[test]
fn subcommands_are_read_from_the_help() {
    let help = "Usage\n\nOne:\n  run   measure\n\nTwo:\n  load  ask\n\nOptions:\n  -h  help\n\n\
                Examples:\n  bookend";
    assert_eq!(subcommands(help), ["run", "load"]);
}
