//! `bookend report`: pages, pictures and the site, as files.

#[path = "support/served.rs"]
mod served;

use bookend_results::record::{decompressed, suite_folder};
use served::Served;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn bookend(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command.current_dir(folder).args(words);
    command.output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn record(suite: &str) -> String {
    suite_folder(&root().join("records"), suite).join("full.jsonl.zst").display().to_string()
}

#[test]
fn a_report_is_a_page_beside_its_reader_unless_said_otherwise() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let said = stdout(&bookend(home.path(), &["report", &record("java-executors")]));
    assert!(said.starts_with("java-executors.html ("), "{said}");
    let page = fs::read_to_string(home.path().join("java-executors.html")).expect("a page");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));

    let folder = suite_folder(&root().join("records"), "java-executors").display().to_string();
    let out = home.path().join("out.md").display().to_string();
    let said = stdout(&bookend(home.path(), &["report", &folder, "-o", &out]));
    assert_eq!(said, "");
    let text = fs::read_to_string(&out).expect("written");
    assert!(text.starts_with("# grpc-java's executors"), "{text}");
}

#[test]
fn what_is_neither_a_run_nor_a_record_is_said_to_be_neither() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let refused = bookend(home.path(), &["report", "nothing.jsonl"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("neither the number of a result nor the file of a record"), "{said}");

    fs::write(home.path().join("bad.jsonl"), b"{\"record\":1,\xff\xfe}\n").expect("written");
    let refused = bookend(home.path(), &["report", "bad.jsonl"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn what_a_wrong_file_is_stands_behind_its_name() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let record = decompressed(fs::read(record("java-executors")).expect("committed"));
    let record = record.expect("whole");
    let check = fs::read_to_string(root().join("records/history/check.jsonl")).expect("committed");
    let cut = &record[..record.len() / 2];
    for (content, said) in [
        (
            &b"{\"count\":1,\"statusCodeDistribution\":{},\"latencyDistribution\":[]}"[..],
            "it is a result of ghz, ",
        ),
        (
            b"{\"lap_ms\":1,\"servers\":[],\"cells\":[],\"starts\":[]}",
            "it keeps no race: missing field",
        ),
        (
            b"{\"lap_ms\":1,\"servers\":[],\"covers_starts\":true,\"starts\":1}",
            "it is the answer of bookend race --json",
        ),
        (check.as_bytes(), "it is a check: bookend check prints"),
        (
            b"{\"timestamp\":\"x\",\"latency\":1,\"error\":\"\",\"status\":\"OK\"}\n{",
            "it lists calls one by one",
        ),
        (b"{\"a\":1}", "it is JSON of another kind: a report is made of "),
        (b"[1, 2]", "it is JSON of another kind: a report is made of "),
        (b"{\"bookend\":{\"version\":\"0.1", "it breaks off in line 1: write or copy it again"),
        (b"{\"count\": nope}", "it is not JSON: "),
        (cut, "it breaks off in line "),
        (b"\x1f\x8b\x08\0", "it is compressed: unpack it with gunzip first"),
        (b"\x28\xb5\x2f\xfd\x04\x58", "it is no whole file of zstd: write or copy it again"),
        (b"SQLite format 3\0", "it is a store of results: name it with --store"),
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf\r\n", "the file is empty"),
        (b"<!doctype html>\n<html>", "it is a page: a report is made of "),
        (b"\nduration (ms),status,error\n", "it lists calls one by one, as CSV: "),
        (b"a,b,c\n1,2,3\n", "it looks like CSV: "),
        (b"\nSummary:\n  Count: 1\n", "it is a summary for people: "),
        (b"hello\n", "it is text, and no JSON: "),
        (b"\xff\xfe{\0}\0", "it is text in UTF-16: save it in UTF-8"),
        (b"{\"a\":\"\xff\"}", "it is not text in UTF-8: save it in UTF-8"),
    ] {
        fs::write(home.path().join("wrong"), content).expect("written");
        let refused = bookend(home.path(), &["report", "wrong"]);
        let line = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{line}");
        assert!(line.starts_with(&format!("bookend report: wrong: {said}")), "{line}");
        assert_eq!((line.lines().count(), line.matches("wrong").count()), (1, 1), "{line}");
    }
    let refused = |word: &str| {
        let refused = bookend(home.path(), &["report", word]);
        assert_eq!(refused.status.code(), Some(2), "{word}");
        String::from_utf8_lossy(&refused.stderr).into_owned()
    };
    assert!(refused("absent.json").contains("absent.json: there is no such file; it is neither"));
    assert!(refused(".").contains(".: a folder without a record: it has neither full.jsonl.zst"));
    let endless = refused("/dev/zero");
    assert!(endless.contains("cannot read /dev/zero: it has more than 1024 MiB"), "{endless}");
}

#[test]
fn a_file_with_a_mark_or_from_a_pipe_is_reported_like_others() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let plain = decompressed(fs::read(record("java-executors")).unwrap()).unwrap();
    let marked = format!("\u{feff}{}", String::from_utf8(plain).unwrap());
    fs::write(home.path().join("marked.jsonl"), marked.replace('\n', "\r\n")).expect("written");
    let text = stdout(&bookend(home.path(), &["report", "marked.jsonl", "-o", "out.txt"]));
    assert_eq!(text, "");
    let command = format!(
        "cat {} | {} report /dev/stdin --format md",
        record("java-executors"),
        env!("CARGO_BIN_EXE_bookend")
    );
    let piped = Command::new("sh").args(["-c", &command]).output().expect("there is a shell");
    assert!(stdout(&piped).starts_with("# grpc-java's executors"));
}

/// A run of a quarter of a second against a server of our own, in that file.
fn load(home: &Path, port: u16, file: &str, more: &[&str]) {
    let proto = root().join("proto/helloworld.proto").display().to_string();
    let words = ["load", "--insecure", "--proto", &proto, "--call", "helloworld.Greeter/SayHello"];
    let (target, data) = (format!("127.0.0.1:{port}"), "{\"name\":\"<script>\"}");
    let last = ["-d", data, "-z", "250ms", "-o", file, "--live", "off", &target];
    stdout(&bookend(home, &[&words[..], more, &last].concat()));
}

#[test]
fn load_tests_are_a_page_with_their_command_and_machine() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut serve = Command::new(env!("CARGO_BIN_EXE_bookend"));
    serve.args(["serve", "--port", "0", "--threads", "1"]);
    let server = Served::by(serve);
    let nightly = ["-r", "400", "--name", "../night <b>"];
    load(home.path(), server.port, "a.json", &nightly);
    load(home.path(), server.port, "b.json", &["-r", "800"]);
    load(home.path(), server.port, "at-once.html", &["-r", "400", "--name", "<script>"]);
    server.end();

    let said = stdout(&bookend(home.path(), &["report", "a.json"]));
    assert!(said.starts_with("night-b.html ("), "{said}");
    let page = fs::read_to_string(home.path().join("night-b.html")).expect("a page");
    for part in ["<h1>Load test: ../night &lt;b&gt;</h1>", "bookend load --insecure", "Kernel: "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    let at_once = fs::read_to_string(home.path().join("at-once.html")).expect("a page");
    for part in ["<h1>Load test: &lt;script&gt;</h1>", "bookend load --insecure", "Rate over time"]
    {
        assert!(at_once.contains(part), "{part}: {at_once}");
    }
    assert_eq!(at_once.matches("<script>").count(), 1, "the page's own");

    let words = ["report", "a.json", "b.json", "--charts", "pictures"];
    let said = stdout(&bookend(home.path(), &words));
    assert!(said.starts_with("load-tests.html ("), "{said}");
    let picture = home.path().join("pictures/rate-and-latency-over-the-offered-load.svg");
    assert!(picture.is_file(), "{said}");
    let text = stdout(&bookend(home.path(), &["report", "a.json", "b.json", "-o", "out.md"]));
    assert_eq!(text, "");
    let text = fs::read_to_string(home.path().join("out.md")).expect("written");
    assert!(text.starts_with("# 2 load tests\n"), "{text}");
}

#[test]
fn a_report_that_cannot_be_written_leaves_no_pictures() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let words = ["report", &record("java-executors"), "-o", "absent/a.md", "--charts", "pictures"];
    let ended = bookend(home.path(), &words);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("cannot write absent/a.md: its folder: no such file"), "{said}");
    assert_eq!((ended.status.code(), home.path().join("pictures").exists()), (Some(2), false));
}

#[test]
fn of_several_files_each_has_to_be_a_load_test() {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::write(home.path().join("a.json"), "{\"bookend\":{}}").expect("written");
    let refused = |words: &[&str]| {
        let refused = bookend(home.path(), words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}");
        String::from_utf8_lossy(&refused.stderr).into_owned()
    };
    let said = refused(&["report", "a.json"]);
    assert!(said.contains("a.json: not a result of bookend load -O json: missing field"), "{said}");
    let said = refused(&["report", "a.json", "7"]);
    assert!(said.contains("7: there is no such file, and only results of bookend"), "{said}");
    fs::write(home.path().join("b.json"), "{}").expect("written");
    let said = refused(&["report", "b.json", "a.json"]);
    assert!(said.contains("b.json: not a result of bookend load -O json, and only such"), "{said}");
}

#[test]
fn pictures_are_files_of_their_own_and_markdown_shows_them() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let record = record("java-executors");
    let words = ["report", &record, "--format", "md", "--charts", "pictures"];
    let text = stdout(&bookend(home.path(), &words));
    let files = fs::read_dir(home.path().join("pictures")).expect("made");
    let names: Vec<String> = files
        .map(|file| file.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.contains(&"the-fate-of-every-call-ghz.svg".to_owned()), "{names:?}");
    for name in &names {
        assert!(text.contains(&format!("](<pictures/{name}>)")), "{name}: {text}");
    }
}

/// What `bookend race --save` has kept of two servers, in one start of four rounds.
fn kept_race() -> String {
    let lap = |server: usize, cpu_ns: u64| {
        format!(
            "{{\"server\":{server},\"ok\":1000,\"failed\":0,\"length_ns\":100000000,\
             \"cpu_ns\":{cpu_ns}}}"
        )
    };
    let round = |number: u64| {
        let [first, second] = [50_000_000, 40_000_000].map(|cpu_ns| cpu_ns + number * 1_000);
        let laps = [lap(0, first), lap(1, second), lap(1, second), lap(0, first)];
        format!("[[{}]]", laps.join(","))
    };
    format!(
        "{{\"servers\":[{{\"name\":\"old\",\"command\":\"./old\"}},{{\"name\":\"new\",\"command\":\
         \"./new\"}}],\"cells\":[{{\"connections\":1,\"concurrency\":50}}],\"lap_ms\":100,\"margin\":\
         0.01,\"seed\":1,\"doubts\":[],\"starts\":[[{}]]}}",
        [1, 2, 3, 4].map(round).join(",")
    )
}

#[test]
fn a_kept_race_is_a_page_a_picture_and_what_was_printed() {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::write(home.path().join("race.json"), kept_race()).expect("written");
    let report = |words: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let output = bookend(home.path(), &[&["report", "race.json"], &words[..]].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said, errors) = report("--charts pictures");
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    assert!(said.starts_with("race.html ("), "{said}");
    let page = fs::read_to_string(home.path().join("race.html")).expect("a page");
    assert!(page.contains("<h1>Race: new against old</h1>"), "{page}");
    assert_eq!(fs::read_dir(home.path().join("pictures")).expect("a folder").count(), 2);
    assert!(report("--format text").1.contains("A call costs 50.0 \u{b5}s of CPU time in old"));
    assert!(report("--format md").1.starts_with("# Race: new against old\n"));
    let dark = report("--format svg --theme dark").1;
    assert!(dark.starts_with("<svg ") && dark.contains("Calls per CPU-second: new over old"));
    for (words, complaint) in [
        ("--format csv", "races are reported as html, md, svg or text"),
        ("--format svg --metric rate", "--metric is about the picture of a run"),
        ("--theme dark", "--theme is about a picture: add --format svg"),
    ] {
        let (status, said, errors) = report(words);
        assert_eq!((status, said.as_str()), (Some(2), ""), "{words}");
        assert!(errors.contains(complaint), "{words}: {errors}");
    }
}
