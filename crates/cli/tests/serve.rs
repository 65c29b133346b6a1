//! `bookend serve` as the lab starts it.

#[path = "support/served.rs"]
mod served;

use served::Served;
use std::net::TcpStream;
use std::process::{Command, Output};

fn bookend(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command.args(words).output().unwrap()
}

fn serve() -> Served {
    serve_with(&["--port", "0"])
}

fn serve_with(words: &[&str]) -> Served {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command.arg("serve").args(words);
    Served::by(command)
}

impl Served {
    /// The reply's bytes in base64, as `bookend probe` prints them.
    fn reply(&self, method: &str, request: &str) -> String {
        let target = format!("127.0.0.1:{}", self.port);
        let probe = Command::new(env!("CARGO_BIN_EXE_bookend"))
            .args(["probe", "--insecure", "--call", method, "-d", request, &target])
            .output()
            .unwrap();
        let found: serde_json::Value = serde_json::from_slice(&probe.stdout).unwrap();
        found["call"]["reply_base64"][0].as_str().unwrap().to_owned()
    }
}

#[test]
fn it_says_where_it_listens_and_ends_when_its_input_closes() {
    let served = serve();
    TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    assert_eq!(served.end().lines, ["served 0"]);
}

#[test]
fn the_echoes_send_back_what_came() {
    let served = serve();
    // Field 1 of either message is a text: 0x0A, its length, its letters.
    let ping = served.reply("echo.Echo/Hi", r#"{"message": "ping"}"#);
    assert_eq!(ping, "CgRwaW5n");
    // "OK" in field 1, 100 in field 2, and field 280 as it came.
    let marked = served.reply("main.Hello/Say", r#"{"field1": "a", "field280": 7}"#);
    assert_eq!(marked, "CgJPSxBkwBEH");
    let last = served.end().lines;
    assert!(last[0].starts_with("served "), "{last:?}");
    assert_ne!(last, ["served 0"]);
}

#[test]
fn the_interoperability_service_answers_as_it_is_asked() {
    let served = serve();
    let call = |method: &str, request: &str| {
        served.reply(&format!("grpc.testing.TestService/{method}"), request)
    };
    assert_eq!(call("EmptyCall", "{}"), "");
    // Field 1, five bytes: field 2, three bytes, all 0.
    let three = r#"{"response_size": 3}"#;
    assert_eq!(call("UnaryCall", three), "CgUSAwAAAA==");
    assert_eq!(call("CacheableUnaryCall", three), "CgUSAwAAAA==");
    served.end();
}

#[test]
fn a_unix_socket_is_served_probed_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("serve");
    let path = path.to_str().unwrap();
    let served = serve_with(&["--unix", path, "--io", "epoll"]);
    assert_eq!(served.port, 0);
    let target = format!("unix:{path}");
    let call = ["--call", "echo.Echo/Hi", "-d", r#"{"message": "ping"}"#];
    let probed = bookend(&[&["probe", "--insecure"], &call[..], &[&target]].concat());
    assert_eq!(probed.status.code(), Some(0), "{probed:?}");
    let load = ["load", "--insecure", "-n", "100", "-O", "json"];
    let several = format!("{target},unix://{path}");
    let measured = bookend(&[&load, &call[..], &[&several]].concat());
    let report: serde_json::Value = serde_json::from_slice(&measured.stdout).unwrap();
    assert_eq!(report["bookend"]["ok"], 100, "{report}");
    assert_eq!(report["bookend"]["connections_opened"], 2);
    let refused = bookend(&["serve", "--unix", path]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("is taken: process "), "{said}");
    served.end();
    assert!(!std::path::Path::new(path).exists());
}

#[test]
fn threads_that_accept_for_themselves_are_refused_where_they_have_no_use() {
    for (words, reason) in [
        (["--io", "blocking"], "--reuse-port is for --io epoll"),
        (["--unix", "echo"], "--reuse-port and --unix exclude each other"),
    ] {
        let refused = bookend(&[&["serve", "--reuse-port"], &words[..]].concat());
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!((said.contains(reason), refused.status.code()), (true, Some(2)), "{said}");
    }
}

#[test]
fn an_address_that_is_taken_is_one_line_and_no_success() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let serve = Command::new(env!("CARGO_BIN_EXE_bookend"))
        .args(["serve", "--port", &port])
        .output()
        .unwrap();
    let said = String::from_utf8(serve.stderr).unwrap();
    let line = format!(
        "bookend serve: cannot listen on 127.0.0.1:{port}: address in use; --port takes another, \
         and 0 a free one\n"
    );
    assert_eq!((said, serve.status.code()), (line, Some(1)));
}

#[test]
fn what_cannot_be_served_is_said_with_its_flag() {
    for (words, status, said) in [
        // Of a network for documentation (RFC 5737).
        (["--host", "192.0.2.1"], 1, "cannot listen on 192.0.2.1:50051: address not available"),
        (["--unix", "/absent/x"], 1, "cannot listen on --unix /absent/x: No such file"),
        (["--host", "localhost"], 2, "--host localhost: not an IP address such as 127.0.0.1"),
        (["--port", "x"], 2, "--port x: not a whole number"),
        (["--port", "65536"], 2, "--port 65536: too large"),
        (["--port", "-1"], 2, "--port -1: it is below zero"),
        (["--threads", "-1"], 2, "--threads -1: it is below zero"),
        (["--threads", "many"], 2, "--threads many: not a whole number"),
    ] {
        let ended = bookend(&[&["serve"], &words[..]].concat());
        let line = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), line.lines().count()), (Some(status), 1), "{line}");
        assert!(line.starts_with(&format!("bookend serve: {said}")), "{line}");
    }
    // Each thread has descriptors of its own.
    let command = format!(
        "ulimit -n 40; exec {} serve --port 0 --io epoll --threads 200",
        env!("CARGO_BIN_EXE_bookend")
    );
    let ended = Command::new("sh").args(["-c", &command]).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let last = said.lines().last().unwrap_or_default();
    assert_eq!(last, "bookend serve: cannot serve with --threads 200: too many open files");
    assert_eq!(ended.status.code(), Some(1));
}
