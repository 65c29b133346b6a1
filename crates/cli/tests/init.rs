//! A folder of one's own: what `bookend init` writes can be measured at once, and replaces nothing.
#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use toml::{Table, Value};

const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PAGE: &str = include_str!("../../../docs/extend/making-a-suite.md");

/// A folder in which `bookend` is found by its name, and a machine of its own, so that labs of
/// others do not matter here.
fn in_shell(folder: &Path, commands: &str) -> Output {
    let own = Path::new(BOOKEND).parent().expect("a folder").to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let paths = [own].into_iter().chain(env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.args(["-ec", commands]).current_dir(folder).env("TMPDIR", folder);
    shell.env("PATH", env::join_paths(paths).expect("paths without colons"));
    // The cells of the page for less long: what they measure is not looked at.
    for (name, value) in [("CLIENT_CONCURRENCY", "100"), ("BENCHMARK_DURATION", "150ms")] {
        shell.env(format!("GRPC_{name}"), value);
    }
    shell.output().expect("there is a shell")
}

fn init(folder: &Path, words: &str) -> Output {
    in_shell(folder, &format!("bookend init {words}"))
}

fn home() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// What is said of a command line that makes no sense.
fn refused(output: &Output) -> String {
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!((text(&output.stdout), line.lines().count()), (String::new(), 1), "{line}");
    line
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.flat_map(below).collect()
}

#[test]
fn whoever_types_the_page_has_a_table_and_a_page() {
    let block = PAGE.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    let block = block.expect("the page has a block of commands");
    let (home, doctor) = (home(), "bookend doctor --call");
    let output = in_shell(home.path(), &format!("{block}{doctor}\n"));
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{errors}");
    for part in [
        "  cd lab\n  bookend run my-question --quick\n",
        "100 calls in flight on 1 connection\n  ",
        "  my-server ",
        "  other-server ",
        "\nmy-question.html (",
        "\n3 ready, 0 missing, 0 failed\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let page = fs::read_to_string(home.path().join("lab/my-question.html")).expect("a page");
    assert!(page.contains("my server and another"));
}

#[test]
fn a_call_of_ones_own_is_all_that_the_doctor_needs() {
    let home = home();
    assert_eq!(init(home.path(), "").status.code(), Some(0));
    for server in ["my-server", "other-server"] {
        let file = home.path().join("subjects").join(server).join("subject.toml");
        let declared = fs::read_to_string(&file).expect("written");
        fs::write(file, declared.replace("helloworld.Greeter/SayHello", "echo.Echo/Hi")).unwrap();
    }
    for name in ["echo.proto", "echo.json"] {
        let (from, to) = (Path::new(ROOT).join("proto"), home.path().join("proto"));
        fs::copy(from.join(name), to.join(name)).expect("copied");
    }
    let output = in_shell(home.path(), "bookend doctor --call");
    let said = text(&output.stdout);
    assert!(said.ends_with("\n3 ready, 0 missing, 0 failed\n"), "{said}");
}

#[test]
fn what_is_there_stays_and_nothing_is_written_next_to_it() {
    let home = home();
    let (mine, link) = (home.path().join("a b/README.md"), home.path().join("a b/proto"));
    fs::create_dir_all(&link).expect("made");
    fs::write(&mine, "mine").expect("written");
    std::os::unix::fs::symlink("nowhere", link.join("helloworld.json")).expect("a link");
    let line = refused(&init(home.path(), "'a b'"));
    let said = "bookend init: a b/README.md, a b/proto/helloworld.json are there already, and \
                nothing is overwritten: name another folder\n";
    assert_eq!(line, said);
    assert_eq!(fs::read_to_string(&mine).expect("readable"), "mine");
    assert_eq!(files(home.path()).len(), 2);

    fs::remove_file(&mine).expect("removed");
    fs::remove_file(link.join("helloworld.json")).expect("removed");
    let output = init(home.path(), "'a b'");
    assert!(text(&output.stdout).contains("\n  cd 'a b'\n"), "{output:?}");
    let written = files(home.path());
    let line = refused(&init(home.path(), "'a b'"));
    let named = |file: &PathBuf| {
        let below = file.strip_prefix(home.path()).expect("below it").display().to_string();
        line.contains(&below)
    };
    assert!(written.len() == 7 && written.iter().all(named), "{line}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let home = home();
    fs::write(home.path().join("file"), "").expect("written");
    let line = refused(&init(home.path(), "file/lab"));
    assert!(line.starts_with("bookend init: cannot make the folder file/lab: "), "{line}");
    let closed = home.path().join("closed");
    fs::create_dir(&closed).expect("made");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("permitted");
    // Root is refused nothing.
    if fs::create_dir(closed.join("try")).is_err() {
        let line = refused(&init(home.path(), "closed/lab"));
        let said = "bookend init: cannot make the folder closed/lab: permission denied\n";
        assert_eq!(line, said);
    }
}

#[test]
fn where_no_file_may_grow_none_is_left() {
    let home = home();
    let output = in_shell(home.path(), "ulimit -f 0; bookend init lab");
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert!(line.starts_with("bookend init: cannot write lab/README.md: "), "{line}");
    assert_eq!(files(home.path()), [""; 0].map(PathBuf::from));
}

#[test]
fn the_instrument_is_started_as_in_the_repository() {
    let read = |file: PathBuf| -> Table {
        fs::read_to_string(file).expect("readable").parse().expect("well-formed")
    };
    let home = home();
    assert_eq!(init(home.path(), "").status.code(), Some(0));
    let file = "subjects/bookend-load/subject.toml";
    let [written, ours] = [home.path(), Path::new(ROOT)].map(|folder| read(folder.join(file)));
    let default = ours["variants"].as_array().and_then(|all| all.first()).expect("a variant");
    for key in ["laps", "run", "run_calls"] {
        assert_eq!(Some(&written[key]), default.get(key), "{key}");
    }
    assert_eq!(written["version"], ours["version"]);
    assert_eq!(written["roles"], Value::from(vec!["instrument"]));
}
