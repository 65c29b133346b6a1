//! `bookend load` takes what ghz takes: no flag is unknown, and none is silently dropped.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Every flag of ghz with its letter, and a value that asks for something.
const FLAGS_OF_GHZ: [(&str, Option<&str>, Option<&str>); 60] = [
    ("config", None, Some("ghz.json")),
    ("proto", None, Some("absent.proto")),
    ("protoset", None, Some("absent.protoset")),
    ("call", None, Some("a.B/C")),
    ("import-paths", Some("i"), Some("a,b")),
    ("cacert", None, Some("file")),
    ("cert", None, Some("file")),
    ("key", None, Some("file")),
    ("cname", None, Some("name")),
    ("skipTLS", None, None),
    ("insecure", None, None),
    ("authority", None, Some("name")),
    ("async", None, None),
    ("rps", Some("r"), Some("100")),
    ("load-schedule", None, Some("step")),
    ("load-start", None, Some("10")),
    ("load-step", None, Some("-5")),
    ("load-end", None, Some("10")),
    ("load-step-duration", None, Some("5s")),
    ("load-max-duration", None, Some("5s")),
    ("concurrency", Some("c"), Some("2")),
    ("concurrency-schedule", None, Some("line")),
    ("concurrency-start", None, Some("2")),
    ("concurrency-end", None, Some("2")),
    ("concurrency-step", None, Some("2")),
    ("concurrency-step-duration", None, Some("5s")),
    ("concurrency-max-duration", None, Some("5s")),
    ("total", Some("n"), Some("1")),
    ("timeout", Some("t"), Some("1s")),
    ("duration", Some("z"), Some("1s")),
    ("max-duration", Some("x"), Some("1s")),
    ("duration-stop", None, Some("wait")),
    ("data", Some("d"), Some("{}")),
    ("data-file", Some("D"), Some("file")),
    ("binary", Some("b"), None),
    ("binary-file", Some("B"), Some("file")),
    ("metadata", Some("m"), Some("{}")),
    ("metadata-file", Some("M"), Some("file")),
    ("stream-interval", None, Some("1s")),
    ("stream-call-duration", None, Some("1s")),
    ("stream-call-count", None, Some("1")),
    ("stream-dynamic-messages", None, None),
    ("reflect-metadata", None, Some("{}")),
    ("output", Some("o"), Some("file")),
    ("format", Some("O"), Some("json")),
    ("skipFirst", None, Some("1")),
    ("count-errors", None, None),
    ("connections", None, Some("1")),
    ("connect-timeout", None, Some("1s")),
    ("keepalive", None, Some("1s")),
    ("name", None, Some("x")),
    ("tags", None, Some("{}")),
    ("cpus", None, Some("1")),
    ("debug", None, Some("file")),
    ("enable-compression", Some("e"), None),
    ("lb-strategy", None, Some("round_robin")),
    ("max-recv-message-size", None, Some("4mb")),
    ("max-send-message-size", None, Some("4mb")),
    ("disable-template-functions", None, None),
    ("disable-template-data", None, None),
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
    for (long, short, value) in FLAGS_OF_GHZ {
        for spelling in spellings(long, short, value) {
            // Without a target nothing is called, so that only the flag itself can be at fault.
            let words: Vec<&str> = spelling.iter().map(String::as_str).collect();
            let output = bookend(&[&["load"], words.as_slice()].concat());
            let error_line = error_line(&output);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {error_line}");
            let expected = match long {
                "config" => "bookend load: cannot read ghz.json: ",
                _ => "bookend load: the target is missing: add HOST:PORT\n",
            };
            assert!(error_line.starts_with(expected), "{words:?}: {error_line}");
            assert_eq!(error_line.lines().count(), 1);
        }
    }
}

#[test]
fn help_and_version_are_asked_for_as_in_ghz() {
    for (flag, is_whole) in [("-h", false), ("--help", true)] {
        let output = bookend(&["load", flag]);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("--concurrency <N>"), "{text}");
        assert_eq!(text.contains("--stream-interval"), is_whole, "{text}");
        assert_eq!(text.ends_with("All flags: bookend load --help\n"), !is_whole, "{text}");
    }
    let version = format!("bookend {} (", env!("CARGO_PKG_VERSION"));
    for words in [&["load", "-v"][..], &["load", "--version"], &["-v"], &["--version"]] {
        let output = bookend(words);
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.starts_with(&version) && said.lines().count() == 1, "{said}");
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
    let told =
        "bookend load: nobody listens at 127.0.0.1:1: start the server, or correct the target";
    assert_eq!(line.trim_end(), told);
    assert!(output.stdout.is_empty());
}
