//! Whatever a command writes, secrets are not in it unless it is asked for them.

#[path = "support/served.rs"]
mod served;

use served::Served;
use std::path::Path;
use std::process::{Command, Output};

const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// What must not be seen.
const SECRET: &str = "s3cr3t";

fn serve() -> Served {
    let mut command = Command::new(BOOKEND);
    command.args(["serve", "--threads", "1", "--port", "0"]);
    Served::by(command)
}

/// Metadata with secrets of three kinds, one of them in a template.
fn metadata() -> String {
    format!(
        r#"{{"authorization":"Bearer {SECRET}","x-api-key":"{SECRET}{{{{newUUID}}}}","a":"blue"}}"#
    )
}

fn load(home: &Path, port: u16, words: &[&str]) -> Output {
    let mut command = Command::new(BOOKEND);
    command.args(["load", "--insecure", "--proto", &format!("{ROOT}/proto/helloworld.proto")]);
    command.args(["--call", "helloworld.Greeter/SayHello", "-n", "5", "-c", "1"]);
    command.args(words).arg(format!("127.0.0.1:{port}"));
    command.current_dir(home).output().expect("the command starts")
}

/// All that a command has written: to both streams, and into its folder.
fn written(home: &Path, output: &Output) -> String {
    let mut all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    for entry in std::fs::read_dir(home).expect("a folder").filter_map(Result::ok) {
        all.extend(std::fs::read(entry.path()).unwrap_or_default());
    }
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn a_load_test_keeps_its_secrets_in_every_format_and_file() {
    let server = serve();
    let metadata = metadata();
    let formats = [
        "summary",
        "csv",
        "json",
        "pretty",
        "html",
        "influx-summary",
        "influx-details",
        "prometheus",
    ];
    for format in formats {
        let home = tempfile::tempdir().expect("a temporary folder");
        let words = ["-m", &metadata, "--debug", "calls", "--hdr", "latencies", "-O", format];
        let tags = format!(r#"{{"token":"{SECRET}"}}"#);
        let output = load(home.path(), server.port, &[&words[..], &["--tags", &tags]].concat());
        assert_eq!(output.status.code(), Some(0), "{format}");
        let all = written(home.path(), &output);
        assert!(!all.contains(SECRET), "{format}: {all}");
    }
}

#[test]
fn the_page_of_a_report_has_how_long_they_are() {
    let (server, home) = (serve(), tempfile::tempdir().expect("a temporary folder"));
    let text = metadata();
    std::fs::write(home.path().join("metadata.json"), &text).expect("it can be written");
    let words = ["-M", "metadata.json", "-O", "json", "-o", "kept.json"];
    assert_eq!(load(home.path(), server.port, &words).status.code(), Some(0));
    std::fs::remove_file(home.path().join("metadata.json")).expect("it is there");
    let report = Command::new(BOOKEND)
        .args(["report", "kept.json", "-o", "page.html"])
        .current_dir(home.path())
        .output()
        .expect("the command starts");
    assert_eq!(report.status.code(), Some(0));
    let all = written(home.path(), &report);
    assert!(!all.contains(SECRET), "{all}");
    assert!(all.contains("masked (13 bytes)"), "{all}");
}

#[test]
fn they_are_shown_where_that_is_asked_for() {
    let (server, home) = (serve(), tempfile::tempdir().expect("a temporary folder"));
    let words = ["-m", &metadata(), "-O", "json", "--show-secrets"];
    let output = load(home.path(), server.port, &words);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["options"]["metadata"]["authorization"], format!("Bearer {SECRET}"));
    let command = report["bookend"]["origin"]["command"].as_str().expect("a text");
    assert!(command.contains(SECRET), "{command}");
}

#[test]
fn what_is_wrong_with_them_is_said_without_them() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let address = format!("https://me:{SECRET}@127.0.0.1:1");
    let output = load(home.path(), 1, &[&address]);
    let all = written(home.path(), &output);
    assert!(all.contains("masked (9 bytes)") && !all.contains(SECRET), "{all}");
    for metadata in [
        format!(r#""Bearer {SECRET}""#),
        format!(r#"{{"authorization":["{SECRET}"]}}"#),
        format!(r#"{{"authorization":"Bearer {SECRET}\n"}}"#),
        format!(r#"{{"authorization":"{{{{{SECRET}}}}}"}}"#),
        format!(r#"{{"authorization":"{SECRET}"#),
    ] {
        for flag in ["-m", "--reflect-metadata", "--tags"] {
            let output = load(home.path(), 1, &[flag, &metadata]);
            assert!([Some(1), Some(2)].contains(&output.status.code()), "{flag} {metadata}");
            let all = written(home.path(), &output);
            assert!(!all.contains(SECRET), "{flag} {metadata}: {all}");
        }
    }
}

#[test]
fn a_race_keeps_the_commands_of_its_servers_without_their_secrets() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let server = format!("a=TOKEN={SECRET} exec {BOOKEND} serve --threads 1 --port {{port}}");
    let race = |words: &[&str]| {
        let variable = format!("API_KEY={SECRET} it");
        Command::new(BOOKEND)
            .args(["race", "--proto", &format!("{ROOT}/proto/helloworld.proto")])
            .args(["--call", "helloworld.Greeter/SayHello", "--lap", "10ms", "--warmup", "10ms"])
            .args(["--until", "90%", "--no-restart", "-c", "5", "--save", "kept", "--quiet"])
            .args(["--env", &variable, "-m", &metadata(), &server])
            .args(words)
            .current_dir(home.path())
            .env("TMPDIR", home.path())
            .output()
            .expect("the command starts")
    };
    for words in [&[][..], &["--json"]] {
        let output = race(words);
        let all = written(home.path(), &output);
        assert_eq!(output.status.code(), Some(0), "{all}");
        assert!(!all.contains(SECRET), "{all}");
        assert!(
            all.contains("export API_KEY=masked (9 bytes); TOKEN=masked (6 bytes) exec"),
            "{all}"
        );
    }
    let shown = race(&["--show-secrets"]);
    assert!(written(home.path(), &shown).contains(SECRET));
    let refused = race(&["--env", SECRET]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&refused.stderr).contains(SECRET));
}
