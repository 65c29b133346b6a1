//! Whatever a command writes, secrets are not in it unless it is asked for them.

#[path = "support/served.rs"]
mod served;

use served::Served;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
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

#[test]
fn a_race_keeps_no_secret_whose_end_only_a_shell_finds() {
    for prepare in [
        "TOKEN=$(echo s3cr3t) true",
        "TOKEN=`echo s3cr3t` true",
        "true --token \\\n s3cr3t",
        "true --token \"$(echo \"x s3cr3t\")\"",
        "MYSQL_PWD=s3cr3t DB_PASS=s3cr3t true --pass s3cr3t --passin pass:s3cr3t --user u:s3cr3t",
        "true 'Server=h;Pwd=s3cr3t;'",
    ] {
        let home = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(BOOKEND)
            .args(["race", "--proto", &format!("{ROOT}/proto/helloworld.proto"), "--json"])
            .args(["--call", "helloworld.Greeter/SayHello", "--lap", "10ms", "--warmup", "10ms"])
            .args(["--until", "90%", "--no-restart", "-c", "5", "--save", "kept", "--quiet"])
            .args(["--prepare", prepare])
            .arg(format!("a=exec {BOOKEND} serve --threads 1 --port {{port}}"))
            .current_dir(home.path())
            .env("TMPDIR", home.path())
            .output()
            .expect("the command starts");
        let all = written(home.path(), &output);
        assert_eq!(output.status.code(), Some(0), "{prepare}: {all}");
        assert!(all.contains("masked (") && !all.contains(SECRET), "{prepare}: {all}");
    }
}

/// Runs a command that is to be refused, with a canary in its words, and looks for that.
#[track_caller]
fn refused_without_canary(home: &Path, words: &[&[u8]]) {
    let output = Command::new(BOOKEND)
        .args(words.iter().map(|word| OsStr::from_bytes(word)))
        .current_dir(home)
        .env("TMPDIR", home)
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let words: Vec<_> = words.iter().map(|word| String::from_utf8_lossy(word)).collect();
    assert!([Some(1), Some(2)].contains(&output.status.code()), "{words:?}: {said}");
    assert!(!said.is_empty() && !said.contains(SECRET), "{words:?}: {said}");
    assert!(output.stdout.is_empty(), "{words:?}");
}

const CALL: [&str; 3] = ["--insecure", "--call", "helloworld.Greeter/SayHello"];

#[test]
fn words_that_are_no_text_are_refused_without_their_secrets() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for words in [
        &["load", "-m", r#"{"token":"s3cr3t!"}"#][..],
        &["load", r#"--metadata={"token":"s3cr3t!"}"#],
        &["load", r#"-m{"token":"s3cr3t!"}"#],
        &["load", "-m", r#"{"token":"s3cr3t!"#],
        &["load", "--tags", r#"{"token":"s3cr3t!"}"#],
        &["load", "--reflect-metadata", r#"{"token":"s3cr3t!"}"#],
        &["load", "-m", "Bearer s3cr3t!"],
        &["load", "u:s3cr3t!@h:1"],
        &["load", "-m", "{token:", "s3cr3t!}"],
        &["probe", "-m", r#"{"token":"s3cr3t!"}"#],
        &["race", "--env", "TOKEN=s3cr3t!"],
        &["race", "a=TOKEN=s3cr3t! ./a {port}"],
        &["race", "a=true --token s3cr3t!"],
        &["race", "--prepare", "curl -H 'Cookie: s3cr3t!'"],
    ] {
        let words: Vec<Vec<u8>> = words
            .iter()
            .map(|word| word.bytes().map(|byte| if byte == b'!' { 0xff } else { byte }).collect())
            .collect();
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        refused_without_canary(home.path(), &words);
    }
}

#[test]
fn a_mistyped_line_is_refused_without_its_secrets() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let json = r#"{"token":"s3cr3t"}"#;
    let host = r#"{"host":"u:s3cr3t@h", "insecure":true}"#;
    std::fs::write(home.path().join("host.json"), host).expect("it can be written");
    for words in [
        &["-M", json, "h:1"][..],
        &["-D", json, "h:1"],
        &["--proto", json, "h:1"],
        &["-metadata", json],
        &["-metadata", json, "h:1"],
        &["--reflect-metadata=", json],
        &["-m", "{token:", "s3cr3t}"],
        &["-m", "{token:", "s3cr3t,", "x:", "1}"],
        &["-m", "{authorization:", "Bearer", "s3cr3t}"],
        &["u:s3cr3t@h:1"],
        &["u:s3cr3t@h"],
        &["dns://u:s3cr3t@h/x:1"],
        &["dns:u:s3cr3t@h"],
        &["http://h:1/?token=s3cr3t"],
        &["passthrough:///u:s3cr3t@h"],
        &["--authority", "u:s3cr3t@h", "--cname", "x", "h"],
        &["--config", "host.json"],
        &["-t", "token=s3cr3t", "h:1"],
        &["-t", "Bearer s3cr3t", "h:1"],
        &["--slo", "u:s3cr3t@h<1", "h:1"],
        &["--slo", "token=s3cr3t", "h:1"],
        &["-O", "token=s3cr3t", "h:1"],
        &["--io", "Bearer s3cr3t", "h:1"],
        &["-o", "/nonexistent/token=s3cr3t/x", "h:1"],
        &["--token=s3cr3t", "h:1"],
        &["-z", "--pass s3cr3t", "h:1"],
    ] {
        for command in ["load", "probe"] {
            let words = [&[command][..], &CALL, words].concat();
            let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
            refused_without_canary(home.path(), &words);
        }
    }
    for words in [
        &["race", "--at", "a=u:s3cr3t@h:1"][..],
        &["race", "a=./a -u u:s3cr3t"],
        &["race", "a=TOKEN=$(echo s3cr3t) ./a"],
        &["race", "a=Server=h;Pwd=s3cr3t; ./a"],
        &["race", "a b=DB_PASS=s3cr3t ./a {port}"],
        &["serve", "--host", "u:s3cr3t@h"],
        &["report", r#"{"token":"s3cr3t"}"#],
    ] {
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        refused_without_canary(home.path(), &words);
    }
}

#[test]
fn a_result_has_a_secret_nowhere_if_it_masks_it_anywhere() {
    let server = serve();
    for words in [
        &["-m", r#"{"x":"https://u:s3cr3t@h/?token=s3cr3t"}"#][..],
        &["-m", r#"{"x":"Bearer s3cr3t"}"#],
        &["-m", r#"{"x":"Basic s3cr3t"}"#],
        &["--tags", r#"{"url":"https://u:s3cr3t@h/"}"#],
        &["--name", "https://u:s3cr3t@h/"],
        &["--authority", "u:s3cr3t@h"],
        &["-m", r#"{"pwd":"s3cr3t","x-pass":"s3cr3t","sid":"s3cr3t","otp":"s3cr3t"}"#],
        &["--tags", r#"{"session":"s3cr3t","sig":"s3cr3t","pin":"s3cr3t","saml":"s3cr3t"}"#],
    ] {
        for format in ["json", "html", "influx-summary", "prometheus", "summary"] {
            let home = tempfile::tempdir().expect("a temporary folder");
            let output = load(home.path(), server.port, &[&["-O", format], words].concat());
            assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
            let all = written(home.path(), &output);
            assert!(!all.contains(SECRET), "{format} {words:?}: {all}");
        }
    }
}

#[test]
fn harmless_names_keep_their_values() {
    let (server, home) = (serve(), tempfile::tempdir().expect("a temporary folder"));
    let tags = r#"{"passengers":"blue1","signal":"blue2","pinned":"blue3","author":"blue4"}"#;
    let output = load(home.path(), server.port, &["-O", "json", "--tags", tags]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["tags"], serde_json::from_str::<serde_json::Value>(tags).expect("JSON"));
}

#[test]
fn a_page_masks_what_its_file_shows() {
    let (server, home) = (serve(), tempfile::tempdir().expect("a temporary folder"));
    let tags = r#"{"url":"https://u:s3cr3t@h/"}"#;
    let words = ["-m", &metadata(), "--tags", tags, "--name", "token=s3cr3t", "--show-secrets"];
    let kept = load(home.path(), server.port, &[&words[..], &["-O", "json"]].concat()).stdout;
    assert!(String::from_utf8_lossy(&kept).contains(SECRET));
    for format in ["html", "md"] {
        let output = Command::new(BOOKEND)
            .args(["report", "/dev/stdin", "-o", "-", "--format", format])
            .current_dir(home.path())
            .stdin(file_of(&kept))
            .output()
            .expect("the command starts");
        let all = written(home.path(), &output);
        assert_eq!(output.status.code(), Some(0), "{all}");
        assert!(all.contains("masked (") && !all.contains(SECRET), "{format}: {all}");
    }
}

/// Text as the standard input of a command.
fn file_of(text: &[u8]) -> std::fs::File {
    use std::io::{Seek as _, Write as _};
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(text).and_then(|()| file.rewind()).expect("it can be written");
    file
}
