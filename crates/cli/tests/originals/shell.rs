//! Running lines of shell with servers beside them, and ending all of it.

use crate::list::{Server, root};
use std::fs::File;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before the test gives up: a first build by Maven fetches its plugins.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long a killed process may take to be gone: its memory is given back page by page.
const ENDING_PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked whether something has happened.
const INTERVAL: Duration = Duration::from_millis(50);

/// Where lines run: `bookend` and `ghz` are on the path, results go into a folder that is gone
/// afterwards.
pub struct Environment {
    path: String,
    folder: TempDir,
}

/// A process with everything that it started; ended when dropped.
pub struct Running {
    child: Child,
}

impl Environment {
    /// With the `bookend` that `BOOKEND` names, or else the one that was built for this test.
    pub fn new() -> Self {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_bookend"));
        let bookend = std::env::var_os("BOOKEND").map_or(built, PathBuf::from);
        let bookend = bookend
            .parent()
            .expect("a program is in a folder")
            .to_owned();
        let inherited = std::env::var("PATH").unwrap_or_default();
        let ghz = root().join("subjects/ghz");
        Environment {
            path: format!("{}:{}:{inherited}", bookend.display(), ghz.display()),
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
        }
    }

    /// Runs `line` to its end, or interrupts it; what it printed.
    pub fn run(
        &self,
        folder: &str,
        line: &str,
        interrupt_after_seconds: Option<u64>,
    ) -> Result<String, String> {
        let output = self.folder.path().join("output");
        let mut running = self.start(folder, line, Stdio::from(file(&output)), Stdio::inherit())?;
        let limit = interrupt_after_seconds.map_or(PATIENCE, Duration::from_secs);
        if !running.ends_within(limit) {
            running.signal("INT");
            if interrupt_after_seconds.is_none() || !running.ends_within(PATIENCE) {
                return Err(format!("was not done after {limit:?}"));
            }
        }
        std::fs::read_to_string(output).map_err(|error| error.to_string())
    }

    /// Starts a server and waits until it listens.
    pub fn serve(&self, server: &Server) -> Result<Running, String> {
        let listens = || TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).is_ok();
        if listens() {
            return Err(format!(
                "somebody else listens on port {} of the server {}: end that",
                server.port, server.name
            ));
        }
        // A server may log every call; that is of interest only when it does not come up.
        let log = self.folder.path().join("log");
        let logging = Stdio::from(file(&log));
        let mut running = self.start(&server.folder, &server.line, Stdio::null(), logging)?;
        let deadline = Instant::now() + PATIENCE;
        while !listens() {
            if running.has_ended() || Instant::now() > deadline {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!(
                    "the server {} did not come up: {said}",
                    server.name
                ));
            }
            sleep(INTERVAL);
        }
        Ok(running)
    }

    fn start(
        &self,
        folder: &str,
        line: &str,
        output: Stdio,
        errors: Stdio,
    ) -> Result<Running, String> {
        let child = Command::new("sh")
            .args(["-c", line])
            .current_dir(root().join(folder))
            .env("PATH", &self.path)
            .env("RESULTS", self.folder.path().join("results.db"))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // A group of its own, so that whatever a line starts can be ended with it.
            .process_group(0)
            .spawn();
        let child = child.map_err(|error| format!("cannot be started: {error}"))?;
        Ok(Running { child })
    }
}

impl Running {
    fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !self.has_ended() {
            if Instant::now() > deadline {
                return false;
            }
            sleep(INTERVAL);
        }
        true
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Whether any process of the group is left: one that dies may still accept connections.
    fn has_members(&self) -> bool {
        self.signal("0")
    }

    /// Sends a signal to the whole group; whether there was one.
    fn signal(&self, name: &str) -> bool {
        let group = format!("-{}", self.child.id());
        let kill = Command::new("kill")
            .args(["-s", name, "--", &group])
            // That there is none is an answer, not an error.
            .stderr(Stdio::null())
            .status();
        kill.expect("kill is a command of every Unix").success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal("KILL");
        let _ = self.child.wait();
        let deadline = Instant::now() + ENDING_PATIENCE;
        while self.has_members() && Instant::now() < deadline {
            sleep(INTERVAL);
        }
    }
}

fn file(path: &std::path::Path) -> File {
    File::create(path).expect("a file in a temporary folder can be made")
}
