//! `bookend serve` as the lab starts it.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn it_says_where_it_listens_and_ends_when_its_input_closes() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_bookend"))
        .args(["serve", "--port", "0"])
        .env("BOOKEND_CONTRACT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let ready = lines.next().unwrap().unwrap();
    let port = ready.strip_prefix("ready ").unwrap().parse().unwrap();
    TcpStream::connect(("127.0.0.1", port)).unwrap();
    drop(server.stdin.take());
    assert_eq!(lines.next().unwrap().unwrap(), "served 0");
    assert!(lines.next().is_none());
    assert_eq!(server.wait().unwrap().code(), Some(0));
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
    assert!(said.contains("cannot listen"), "{said}");
    assert_eq!((said.lines().count(), serve.status.code()), (1, Some(1)));
}
