//! `bookend load` takes what ghz takes: no flag is unknown, and none is silently dropped.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Every flag of ghz with its letter, a value that asks for something, and whether it is built.
const FLAGS_OF_GHZ: [(&str, Option<&str>, Option<&str>, bool); 60] = [
    ("config", None, Some("ghz.json"), true),
    ("proto", None, Some("absent.proto"), true),
    ("protoset", None, Some("absent.protoset"), true),
    ("call", None, Some("a.B/C"), true),
    ("import-paths", Some("i"), Some("a,b"), true),
    ("cacert", None, Some("file"), true),
    ("cert", None, Some("file"), true),
    ("key", None, Some("file"), true),
    ("cname", None, Some("name"), true),
    ("skipTLS", None, None, true),
    ("insecure", None, None, true),
    ("authority", None, Some("name"), true),
    ("async", None, None, true),
    ("rps", Some("r"), Some("100"), true),
    ("load-schedule", None, Some("step"), true),
    ("load-start", None, Some("10"), true),
    ("load-step", None, Some("-5"), true),
    ("load-end", None, Some("10"), true),
    ("load-step-duration", None, Some("5s"), true),
    ("load-max-duration", None, Some("5s"), true),
    ("concurrency", Some("c"), Some("2"), true),
    ("concurrency-schedule", None, Some("line"), true),
    ("concurrency-start", None, Some("2"), true),
    ("concurrency-end", None, Some("2"), true),
    ("concurrency-step", None, Some("2"), true),
    ("concurrency-step-duration", None, Some("5s"), true),
    ("concurrency-max-duration", None, Some("5s"), true),
    ("total", Some("n"), Some("1"), true),
    ("timeout", Some("t"), Some("1s"), true),
    ("duration", Some("z"), Some("1s"), true),
    ("max-duration", Some("x"), Some("1s"), true),
    ("duration-stop", None, Some("wait"), true),
    ("data", Some("d"), Some("{}"), true),
    ("data-file", Some("D"), Some("file"), true),
    ("binary", Some("b"), None, true),
    ("binary-file", Some("B"), Some("file"), true),
    ("metadata", Some("m"), Some("{}"), true),
    ("metadata-file", Some("M"), Some("file"), true),
    ("stream-interval", None, Some("1s"), false),
    ("stream-call-duration", None, Some("1s"), false),
    ("stream-call-count", None, Some("1"), false),
    ("stream-dynamic-messages", None, None, false),
    ("reflect-metadata", None, Some("{}"), false),
    ("output", Some("o"), Some("file"), true),
    ("format", Some("O"), Some("json"), true),
    ("skipFirst", None, Some("1"), false),
    ("count-errors", None, None, true),
    ("connections", None, Some("1"), true),
    ("connect-timeout", None, Some("1s"), true),
    ("keepalive", None, Some("1s"), true),
    ("name", None, Some("x"), true),
    ("tags", None, Some("{}"), true),
    ("cpus", None, Some("1"), true),
    ("debug", None, Some("file"), false),
    ("enable-compression", Some("e"), None, false),
    ("lb-strategy", None, Some("round_robin"), true),
    ("max-recv-message-size", None, Some("4mb"), false),
    ("max-send-message-size", None, Some("4mb"), false),
    ("disable-template-functions", None, None, true),
    ("disable-template-data", None, None, true),
];

fn bookend(words: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_bookend"))
        .args(words)
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .expect("the command was built")
}

fn error_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The ways to write a flag with its value.
fn spellings(long: &str, short: Option<&str>, value: Option<&str>) -> Vec<Vec<String>> {
    let Some(value) = value else {
        let letter = short.map(|letter| vec![format!("-{letter}")]);
        return std::iter::once(vec![format!("--{long}")]).chain(letter).collect();
    };
    let mut spellings =
        vec![vec![format!("--{long}={value}")], vec![format!("--{long}"), value.to_owned()]];
    if let Some(letter) = short {
        spellings.push(vec![format!("-{letter}{value}")]);
    }
    spellings
}

#[test]
fn every_flag_of_ghz_is_known_in_every_spelling() {
    for (long, short, value, built) in FLAGS_OF_GHZ {
        for spelling in spellings(long, short, value) {
            // Without a target nothing is called, so that only the flag itself can be at fault.
            let words: Vec<&str> = spelling.iter().map(String::as_str).collect();
            let output = bookend(&[&["load"], words.as_slice()].concat());
            let error_line = error_line(&output);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {error_line}");
            let expected = match built {
                true if long == "config" => "bookend load: cannot read ghz.json: ".to_owned(),
                true => "bookend load: the target is missing: add HOST:PORT\n".to_owned(),
                false => format!("bookend load: --{long} is not built yet: "),
            };
            assert!(error_line.starts_with(&expected), "{words:?}: {error_line}");
            assert_eq!(error_line.lines().count(), 1);
        }
    }
}

#[test]
fn help_and_version_are_asked_for_as_in_ghz() {
    for words in [["load", "-h"], ["load", "--help"]] {
        let output = bookend(&words);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("--concurrency <N>"), "{text}");
        assert!(!text.contains("--stream-interval"), "what is not built is not offered");
    }
    let version = format!("bookend {}\n", env!("CARGO_PKG_VERSION"));
    for words in [&["load", "-v"][..], &["load", "--version"], &["-v"], &["--version"]] {
        let output = bookend(words);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stdout), version);
    }
}

#[test]
fn a_server_that_is_not_there_is_named_with_status_1() {
    // Port 1 is tcpmux, which nobody runs, and taking it needs a privilege.
    let output = bookend(&[
        "load",
        "127.0.0.1:1",
        "--insecure",
        "--proto=proto/helloworld.proto",
        "--call=helloworld.Greeter.SayHello",
        "-n1",
        "-c1",
    ]);
    let line = error_line(&output);
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert!(line.starts_with("bookend load: no call to 127.0.0.1:1: "), "{line}");
    assert_eq!(line.lines().count(), 1);
    assert!(output.stdout.is_empty());
}
