//! `bookend serve` as the lab starts it: it ends with its standard input, so with its test.

// Each test uses a part of it.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A server that listens, and what it has not said yet.
pub struct Served {
    pub process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// 0 if the server has none.
    pub port: u16,
}

/// What a server has said by its end.
pub struct LastWords {
    pub lines: Vec<String>,
    /// What it said to people, from the beginning.
    pub errors: String,
}

impl Served {
    pub fn by(mut command: Command) -> Self {
        let mut process = command
            .env("BOOKEND_CONTRACT", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = lines.next().unwrap().unwrap();
        let port = ready.strip_prefix("ready ").unwrap().parse().unwrap();
        Self { process, lines, port }
    }

    /// Closes its input, and waits for its end.
    pub fn end(mut self) -> LastWords {
        drop(self.process.stdin.take());
        let lines = self.lines.map(Result::unwrap).collect();
        let mut errors = String::new();
        let mut pipe = self.process.stderr.take().unwrap();
        pipe.read_to_string(&mut errors).unwrap();
        assert_eq!(self.process.wait().unwrap().code(), Some(0), "{errors}");
        LastWords { lines, errors }
    }
}
