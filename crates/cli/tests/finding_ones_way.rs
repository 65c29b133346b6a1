//! What there is, what it is for, and what completes it: for somebody who has just arrived.

use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn bookend(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    // A machine of its own, so that labs of others do not matter here.
    command.args(words).current_dir(folder).env("TMPDIR", folder);
    command.output().expect("the command was built")
}

fn printed(output: &Output, status: i32) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{complaint}");
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// A folder with a suite of one subject, whose declaration has these lines besides.
fn project(more: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let write = |file: &str, text: &str| {
        let file = home.path().join(file);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(file, text).expect("written");
    };
    let subject = "name = \"mine\"\nlanguage = \"C\"\ndescription = \"what nobody has\"\n\
                   roles = [\"server\", \"instrument\"]\noutput = \"lines\"\n\
                   version = [\"true\"]\nrun = [\"./mine\"]\n";
    write("subjects/mine/subject.toml", &format!("{subject}{more}"));
    let schedule = "warmup = \"100ms\"\nwindow = \"300ms\"\n\
                    grid = [{ connections = 1, concurrency = [1] }]\n";
    let suite = format!(
        "name = \"question\"\ntitle = \"is it there\"\nanalysis = \"\"\ninstruments = [\"mine\"]\n\
         [request]\nmethod = \"a.B/C\"\nproto = \"a.proto\"\nbytes = \"a.bin\"\n\
         [limits]\nserver_cpus = 1.0\n[[subjects]]\nname = \"mine\"\nbaseline = true\n\
         [full]\nrounds = 10\n{schedule}[quick]\nrounds = 7\n{schedule}"
    );
    write("suites/question/suite.toml", &suite);
    write("suites/question/a.proto", "syntax = \"proto3\";");
    write("suites/question/a.bin", "");
    home
}

const MISSING: &str =
    "[[dependencies]]\ncommand = [\"no-such-compiler\"]\ninstall = \"install the compiler\"\n";

#[test]
fn a_run_without_a_suite_lists_them_and_measures_nothing() {
    let home = project(MISSING);
    let output = bookend(home.path(), &["run"]);
    let list = printed(&output, 2);
    for part in [
        "  question\n",
        "is it there",
        "at least 11 s",
        "--quick at least 7 s",
        "missing here: mine",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("bookend run SUITE --quick"));
    assert!(!home.path().join("bookend.db").exists());
}

#[test]
fn a_run_whose_suite_was_forgotten_says_so_in_a_line() {
    let home = project("");
    for flags in [&["--quick"][..], &["--subjects", "mine"], &["--rounds", "3"], &["--profile"]] {
        let output = bookend(home.path(), &[&["run"], flags].concat());
        assert_eq!(printed(&output, 2), "", "{flags:?}");
        let complaint = String::from_utf8_lossy(&output.stderr);
        let said = "bookend run: the suite is missing: there is question\n";
        assert_eq!(complaint, said, "{flags:?}");
    }
}

#[test]
fn a_list_says_what_each_thing_is_for() {
    let home = project("");
    let list = printed(&bookend(home.path(), &["list"]), 0);
    for part in ["is it there", "mine (C)", "what nobody has", "Results: none yet in bookend.db"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    assert!(!list.contains("missing here"), "{list}");
}

#[test]
fn the_suites_of_the_repository_have_a_question_and_a_time_each() {
    let list = printed(&bookend(Path::new(ROOT), &["list"]), 0);
    for suite in std::fs::read_dir(format!("{ROOT}/suites")).expect("a folder") {
        let suite = suite.expect("readable");
        if suite.path().join("suite.toml").exists() {
            let name = suite.file_name().to_string_lossy().into_owned();
            assert!(list.contains(&format!("  {name}\n")), "{name}: {list}");
        }
    }
    assert!(list.contains("pajamax and tonic over the published grid"), "{list}");
    let time = |suite: &str| {
        let after = list.split(&format!("  {suite}\n")).nth(1).expect("listed");
        after.lines().nth(1).expect("a time").trim().to_owned()
    };
    // The full records are of these plans, the quick one of instruments is not, drivers has none.
    assert!(time("drivers").starts_with("took 8 min, --quick at least "), "{list}");
    assert_eq!(time("instruments"), "took 5 min, --quick about 63 s by its record", "{list}");
    assert!(list.contains("\"At least\"\nis by windows alone"), "{list}");
}

#[test]
fn a_run_of_which_everything_is_missing_says_why_and_is_not_kept() {
    let home = project(MISSING);
    let output = bookend(home.path(), &["run", "question", "--quick", "--quiet"]);
    assert_eq!(printed(&output, 1), "");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("install the compiler"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    let list = printed(&bookend(home.path(), &["list"]), 0);
    assert!(list.ends_with("Results in bookend.db (bookend report NUMBER):\n"), "{list}");
}

#[test]
fn a_baseline_has_to_be_measured() {
    let home = project("");
    let output = bookend(home.path(), &["run", "question", "--quick", "--baseline", "other"]);
    printed(&output, 2);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("other is not compared in this run: mine"), "{complaint}");
}

#[test]
fn every_shell_completes_the_flags_that_there_are() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&bookend(home.path(), &["completions", shell]), 0);
        for word in ["race", "fail-if", "no-restart", "find-capacity"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn each_command_has_a_page_in_the_manual() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let page = printed(&bookend(home.path(), &["man"]), 0);
    assert!(page.contains(".TH bookend 1") && page.contains("bookend\\-race(1)"), "{page}");
    assert!(page.contains("\n.SH \"Your own server\"\n"), "{page}");
    assert!(page.contains("\n.SH EXAMPLES\n  bookend serve"), "{page}");
    let page = printed(&bookend(home.path(), &["man", "race"]), 0);
    let plain = page.replace('\\', "");
    assert!(plain.contains("--fail-if") && plain.contains("bookend-race"), "{page}");
    assert!(page.contains("\n.SH SERVERS\n") && page.contains("\n.SH EXAMPLES\n"), "{page}");
    // What the short form of the help leaves out has its text here.
    assert!(plain.contains("only once: the answer"), "{page}");
    let output = bookend(home.path(), &["man", "rase"]);
    printed(&output, 2);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("did you mean race?"), "{complaint}");
}

/// A window's title, a bell, a colour, a forged line, C1's escape, what turns the direction.
const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[31m\r\nforged\u{7f}\u{9b}2J\u{2028}\u{202e}\u{2066}b";

/// Neither our words nor a peer's or a file's do more to a terminal than stand there.
fn assert_harmless(output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(bytes.clone()).expect("text");
        let acts = |letter: char| {
            letter != '\n' && letter.is_control() || "\u{2028}\u{202e}\u{2066}".contains(letter)
        };
        assert!(!text.contains(acts), "{text:?}");
        assert!(!text.contains("\nforged"), "{text:?}");
    }
}

#[test]
fn what_a_command_quotes_does_nothing_to_a_terminal() {
    let in_toml = |letter| format!("\\u{:04x}", u32::from(letter));
    let title: String = HOSTILE.chars().map(in_toml).collect();
    let home = project(MISSING);
    let suite = home.path().join("suites/question/suite.toml");
    let text = std::fs::read_to_string(&suite).expect("readable");
    std::fs::write(&suite, text.replace("is it there", &title)).expect("written");
    let subject = home.path().join("subjects/mine/subject.toml");
    let text = std::fs::read_to_string(&subject).expect("readable");
    let text = text.replace("what nobody has", &title).replace("install the", &title);
    std::fs::write(&subject, text).expect("written");
    let flag = format!("--{HOSTILE}");
    let name = format!("a{HOSTILE}");
    for words in [
        &["list"][..],
        &["list", "--store", &name],
        &["doctor"],
        &["run", &name],
        &["report", &name],
        &["report", "--store", &name],
        &["load", &flag],
        &["load", "--io", HOSTILE],
        &["load", "--insecure", "--proto", &name, "--call", "a.B/C", "127.0.0.1:1"],
        &["load", "--insecure", "--call", HOSTILE, "127.0.0.1:1"],
        &["probe", "-O", "text", "--insecure", "--proto", &name, "--call", "a.B/C", &name],
        &["race", &name, &flag],
        &["serve", "--unix", "/no/such/folder\u{1b}[31m\u{202e}/s"],
        &[HOSTILE],
    ] {
        let output = bookend(home.path(), words);
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{words:?}");
        assert_harmless(&output);
    }
}
