//! Files of every name and of every kind: paths that are no text, files that may not grow, text
//! with a mark in front of it, formats by the ending of a name.

#[path = "support/served.rs"]
mod served;

use bookend_contract::report::LoadReport;
use served::Served;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A server that ends with its test, and a folder to call it from.
struct Bench {
    home: tempfile::TempDir,
    server: Served,
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut serve = Command::new(BOOKEND);
        serve.args(["serve", "--port", "0", "--threads", "1"]);
        let bench = Self { home, server: Served::by(serve) };
        fs::copy(root().join("proto/helloworld.proto"), bench.file("helloworld.proto")).unwrap();
        bench
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A few calls, with more flags.
    fn load(&self, words: &[&OsStr]) -> Output {
        let target = format!("127.0.0.1:{}", self.server.port);
        let mut command = Command::new(BOOKEND);
        command.args(["load", "--insecure", "-n", "20", "-c", "2", &target]);
        command.args(["--proto", "helloworld.proto", "--call", "helloworld.Greeter/SayHello"]);
        command.args(words).current_dir(self.home.path()).stdin(Stdio::null());
        command.output().expect("the command starts")
    }

    /// The same in a shell that has been told how large a file may be.
    fn load_limited(&self, words: &str) -> Output {
        let command = format!(
            "ulimit -f 0; exec {BOOKEND} load --insecure -n 20 -c 2 127.0.0.1:{} --proto \
             helloworld.proto --call helloworld.Greeter/SayHello {words}",
            self.server.port
        );
        in_shell(self.home.path(), &command)
    }
}

fn in_shell(folder: &Path, command: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("TMPDIR", folder);
    shell.output().expect("there is a shell")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words<'a>(words: &[&'a str]) -> Vec<&'a OsStr> {
    words.iter().map(|word| OsStr::new(*word)).collect()
}

#[test]
fn paths_that_are_no_text_are_read_and_echoed_as_people_see_them() {
    let bench = Bench::new();
    let folder = bench.home.path().join(OsStr::from_bytes(b"d\xff"));
    fs::create_dir(&folder).unwrap();
    let [proto, data, rates, metadata] =
        ["a.proto", "a.json", "rates.csv", "m.json"].map(|name| folder.join(name));
    fs::copy(bench.file("helloworld.proto"), &proto).unwrap();
    fs::write(&data, "\u{feff}{\"name\": \"x\"}\r\n").unwrap();
    fs::write(&rates, "\u{feff}0,1000\r\n1,1000\r\n").unwrap();
    fs::write(&metadata, "\u{feff}{\"tenant\": \"blue\"}\r\n").unwrap();
    let output = folder.join("result.json");
    let mut command = Command::new(BOOKEND);
    command.args(["load", "--insecure", "-n", "20", "--call", "helloworld.Greeter/SayHello"]);
    command.arg(format!("127.0.0.1:{}", bench.server.port));
    for (flag, file) in [
        ("--proto", &proto),
        ("-i", &folder),
        ("-D", &data),
        ("--rate-file", &rates),
        ("-M", &metadata),
        ("-o", &output),
        ("--hdr", &folder.join("hdr")),
        ("--debug", &folder.join("debug")),
    ] {
        command.arg(flag).arg(file);
    }
    let ended = command.output().expect("the command starts");
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let report: LoadReport = serde_json::from_slice(&fs::read(&output).unwrap()).unwrap();
    assert_eq!(report.bookend.ok, 20, "{:?}", report.error_distribution);
    let seen = |name: &str| format!("{}/d\u{fffd}{name}", bench.home.path().display());
    assert_eq!(report.options["proto"], seen("/a.proto"));
    assert_eq!(report.options["import-paths"][0], seen(""));
    assert_eq!(report.options["data-file"], seen("/a.json"));
    assert_eq!(report.options["rate-file"], seen("/rates.csv"));
    assert_eq!(report.options["metadata"]["tenant"], "blue");

    let page = bench.home.path().join(OsStr::from_bytes(b"page\xfe.md"));
    let mut command = Command::new(BOOKEND);
    let ended = command.arg("report").arg(&output).arg("-o").arg(&page).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert!(fs::read_to_string(&page).unwrap().starts_with("# Load test: result"));
}

#[test]
fn a_lab_is_started_with_words_and_variables_that_are_no_text() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let subjects = home.path().join(OsStr::from_bytes(b"subjects\xff"));
    fs::create_dir(&subjects).unwrap();
    let mut command = Command::new(BOOKEND);
    command.args(["run", "transports", "--quick", "--suites"]).arg(root().join("suites"));
    command.arg("--subjects-dir").arg(&subjects).current_dir(home.path());
    command.env("TMPDIR", home.path()).env(OsStr::from_bytes(b"N\xff"), "x");
    command.env("BOOKEND_TEST_VALUE", OsStr::from_bytes(b"\xff"));
    let ended = command.output().expect("the command starts");
    assert_ne!(ended.status.code(), Some(101), "{}", text(&ended.stderr));
    assert!(!text(&ended.stderr).contains("panicked"), "{}", text(&ended.stderr));
}

#[test]
fn the_name_of_the_output_says_its_format_unless_one_is_given() {
    let bench = Bench::new();
    for (name, more, begin) in [
        ("a.json", &[][..], "{"),
        ("b.csv", &[], "duration (ms),status,error\n"),
        ("c.html", &[], "<!doctype html>"),
        ("d.prom", &[], "# TYPE "),
        ("e.txt", &[], "\nSummary:"),
        ("f", &[], "\nSummary:"),
        ("g.json", &["-O", "csv"], "duration (ms),status,error\n"),
        ("h.pdf", &["-O", "pretty"], "{\n"),
    ] {
        let ended = bench.load(&words(&[&["-o", name], more].concat()));
        assert_eq!(ended.status.code(), Some(0), "{name}: {}", text(&ended.stderr));
        let written = fs::read_to_string(bench.file(name)).unwrap();
        assert!(written.to_lowercase().starts_with(&begin.to_lowercase()), "{name}: {written}");
        assert_eq!(text(&ended.stdout), "");
    }
}

#[test]
fn standard_output_has_several_names() {
    let bench = Bench::new();
    for name in ["-", "/dev/stdout"] {
        let ended = bench.load(&words(&["-O", "json", "-o", name]));
        let report: LoadReport = serde_json::from_slice(&ended.stdout).expect(name);
        assert_eq!(report.count, 20);
    }
    assert!(!bench.file("-").exists());
    // A file into which a shell leads it keeps what it has.
    let command = format!(
        "echo before > log; {BOOKEND} load --insecure -n 20 127.0.0.1:{} --call \
         helloworld.Greeter/SayHello -o /dev/stdout >> log; echo behind >> log",
        bench.server.port
    );
    in_shell(bench.home.path(), &command);
    let log = fs::read_to_string(bench.file("log")).unwrap();
    assert!(log.starts_with("before\n") && log.ends_with("behind\n"), "{log}");
    assert!(log.contains("Requests/sec"), "{log}");

    bench.load(&words(&["-o", "a.json"]));
    let ended = in_shell(bench.home.path(), &format!("{BOOKEND} report a.json -o -"));
    let page = text(&ended.stdout);
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{page}");
}

#[test]
fn a_file_that_may_not_grow_takes_no_result_with_it() {
    let bench = Bench::new();
    for flag in ["-o a.txt", "--hdr a.hlog", "--debug a.jsonl"] {
        let ended = bench.load_limited(flag);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(5), "{flag}: {said}");
        assert!(text(&ended.stdout).contains("Requests/sec"), "{flag}: {said}");
        assert!(said.contains("larger than a file may be here (ulimit -f)"), "{flag}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let left = fs::read_dir(bench.home.path()).unwrap().count();
    assert_eq!(left, 1, "the schema alone: nothing half written stays");

    bench.load(&words(&["-o", "a.json"]));
    let limited = |command: &str| {
        let line = format!("ulimit -f 0; exec {BOOKEND} {command}");
        let ended = in_shell(bench.home.path(), &line);
        (ended.status.code(), text(&ended.stderr))
    };
    let (code, said) = limited("report a.json -o b.html");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot write b.html: it would be larger"), "{said}");
    let suites = root().join("suites");
    let (code, said) = limited(&format!("run transports --quick --suites {}", suites.display()));
    assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("bookend.db: "), "{said}");
}

#[test]
fn data_on_standard_input_may_have_a_mark_and_several_names() {
    let bench = Bench::new();
    for flag in ["-d @", "-D @", "-D -", "-D /dev/stdin"] {
        let command = format!(
            "printf '\\357\\273\\277{{\"name\": \"x\"}}\\r\\n' | {BOOKEND} load --insecure -n 20 \
             127.0.0.1:{} --call helloworld.Greeter/SayHello {flag} -O json",
            bench.server.port
        );
        let ended = in_shell(bench.home.path(), &command);
        assert_eq!(ended.status.code(), Some(0), "{flag}: {}", text(&ended.stderr));
        let report: LoadReport = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(report.bookend.ok, 20, "{flag}");
    }
}

#[test]
fn flags_without_anything_in_them_are_as_not_given() {
    let bench = Bench::new();
    let empty = ["-d", "", "-m", " ", "--tags", "", "--reflect-metadata", "", "-o", "a.json"];
    let ended = bench.load(&words(&empty));
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
}

#[test]
fn a_stream_may_have_no_message() {
    let bench = Bench::new();
    let call = |method: &str| {
        let mut command = Command::new(BOOKEND);
        command.args(["load", "--insecure", "-n", "20", "-O", "json", "-d", "[]", "--proto"]);
        command.arg(root().join("proto/interop.proto")).arg("--call");
        command.arg(format!("grpc.testing.TestService/{method}"));
        command.arg(format!("127.0.0.1:{}", bench.server.port));
        command.output().expect("the command starts")
    };
    for method in ["StreamingInputCall", "FullDuplexCall"] {
        let ended = call(method);
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
        let report: LoadReport = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(report.bookend.ok, 20, "{:?}", report.error_distribution);
        assert_eq!(report.bookend.streams.map(|streams| streams.sent), Some(0));
    }
    let refused = text(&call("UnaryCall").stderr);
    assert!(refused.contains("-d has no message: {} is the empty one"), "{refused}");
}
