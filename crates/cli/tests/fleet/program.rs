//! The test binary as a program of a node: one of its tests runs there, and talks with the test
//! that has started it, a line at a time.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Longer than any answer takes on the slowest machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The variable that says what the binary does instead of testing.
const ROLE: &str = "BOOKEND_FLEET_ROLE";

/// A test that runs as a program of its own. Dropping it ends that program.
#[derive(Debug)]
pub struct Program {
    process: Child,
    channel: Channel,
}

impl Program {
    /// Starts it with a command that runs [`this_binary`]. `test` is the path of the test, with the
    /// name of the crate, and `role` what [`role`] returns there.
    pub fn start(mut command: Command, test: &str, role: &str) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        ours.set_read_timeout(Some(PATIENCE)).expect("an option of every socket");
        run_as(&mut command, test, role);
        // libtest writes to the standard output. The standard error is free, and what a panic says
        // there reaches the test that listens.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(OwnedFd::from(theirs));
        let process = command.spawn().expect("nsenter of util-linux is there");
        Self { process, channel: Channel { lines: BufReader::new(ours) } }
    }

    /// The process itself, which gets signals.
    pub fn process(&mut self) -> &mut Child {
        &mut self.process
    }

    /// Sends it a line, and returns its answer.
    ///
    /// # Panics
    /// It has ended, or does not answer.
    pub fn ask(&mut self, line: &str) -> String {
        self.channel.say(line);
        self.hear()
    }

    /// Its next line.
    ///
    /// # Panics
    /// It has ended, or says nothing.
    pub fn hear(&mut self) -> String {
        self.channel.hear().expect("the program has ended")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lines in both directions.
#[derive(Debug)]
pub struct Channel {
    lines: BufReader<UnixStream>,
}

impl Channel {
    /// That of a program to the test that has started it.
    pub fn of_this_program() -> Self {
        let socket = io::stderr().as_fd().try_clone_to_owned().expect("a descriptor");
        Self { lines: BufReader::new(UnixStream::from(socket)) }
    }

    /// Sends a line. If the other end is gone, [`Self::hear`] says so.
    pub fn say(&mut self, line: &str) {
        let _ = self.lines.get_mut().write_all(format!("{line}\n").as_bytes());
    }

    /// The next line. `None` if the other end is gone.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
            // Unread lines of ours make this of an end.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("The other program says nothing: {error}."),
        }
    }
}

/// The file of this test binary.
pub fn this_binary() -> OsString {
    std::env::current_exe().expect("this program has a file").into_os_string()
}

/// Makes a command of [`this_binary`] run that test only, in that role.
pub fn run_as(command: &mut Command, test: &str, role: &str) {
    let (_crate, path) = test.split_once("::").expect("a path begins with its crate");
    command.args(["--exact", path, "--nocapture", "--include-ignored"]).env(ROLE, role);
}

/// What this process does instead of testing. `None` if it tests.
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}
