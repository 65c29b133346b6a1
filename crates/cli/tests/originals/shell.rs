//! Running lines of shell with servers running, and ending all of it.

use crate::list::{Interrupt, Server, root};
use std::fs::File;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before the test gives up: a first build by Maven fetches its plugins.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long a killed server may take to be gone: its memory is given back page by page.
const ENDING_PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked whether something has happened.
const INTERVAL: Duration = Duration::from_millis(50);

/// Where lines run: `bookend` and `ghz` are on the path, results go into a folder that is gone
/// afterwards.
pub struct Environment {
    path: String,
    folder: TempDir,
    _machine: MutexGuard<'static, ()>,
}

/// Tests take turns: their servers listen on the same ports.
static MACHINE: Mutex<()> = Mutex::new(());

/// A process with everything that it started; ended when dropped.
pub struct Running {
    child: Child,
    /// Where it listens, if it is a server.
    port: Option<u16>,
}

impl Environment {
    /// With the `bookend` that `BOOKEND` names, or else the one that was built for this test.
    pub fn new() -> Self {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_bookend"));
        let bookend = std::env::var_os("BOOKEND")
            .map_or(built, PathBuf::from)
            .parent()
            .expect("a program is in a folder")
            .to_owned();
        let inherited = std::env::var("PATH").unwrap_or_default();
        let ghz = root().join("subjects/ghz");
        Environment {
            path: format!("{}:{}:{inherited}", bookend.display(), ghz.display()),
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
            _machine: MACHINE.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Runs `line` to its end, or interrupts it; what it printed.
    pub fn run(&self, folder: &str, line: &str, interrupt: Interrupt) -> Result<String, String> {
        let output = self.folder.path().join("output");
        let mut running = self.start(folder, line, Stdio::from(file(&output)), Stdio::inherit())?;
        let printed = || std::fs::read_to_string(&output).map_err(|error| error.to_string());
        let started = Instant::now();
        let is_time = || match interrupt {
            Interrupt::Never => false,
            Interrupt::AfterSeconds(seconds) => started.elapsed() >= Duration::from_secs(seconds),
            Interrupt::AfterText(text) => printed().is_ok_and(|printed| printed.contains(text)),
        };
        if running.ends_before(is_time)
            || interrupt != Interrupt::Never && running.ends_when_interrupted()
        {
            printed()
        } else {
            Err(format!("did not end within {PATIENCE:?}"))
        }
    }

    /// Starts a server and waits until it listens.
    pub fn serve(&self, server: &Server) -> Result<Running, String> {
        if listens(server.port) {
            return Err(format!(
                "somebody else listens on port {} of the server {}: end that",
                server.port, server.name
            ));
        }
        // A server may log every call; that is of interest only when it does not come up. Maven
        // says on standard output what is wrong.
        let log = self.folder.path().join(&server.name);
        let (output, errors) = one_file_twice(&log);
        let mut running = self.start(&server.folder, &server.line, output, errors)?;
        running.port = Some(server.port);
        let deadline = Instant::now() + PATIENCE;
        while !listens(server.port) {
            if running.has_ended() || Instant::now() > deadline {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!("the server {} did not come up: {said}", server.name));
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
        // A shell without job control starts what it runs in the background with SIGINT ignored.
        // Where this test is part of that, all that it starts would inherit it, and a shell can set
        // no trap for a signal that was ignored when it began.
        let child = Command::new("env")
            .args(["--default-signal=INT", "sh", "-c", line])
            .current_dir(root().join(folder))
            .env("PATH", &self.path)
            .env("RESULTS", self.folder.path().join("results.db"))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            // A group of its own, so that whatever a line starts can be ended with it.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot be started: {error}"))?;
        Ok(Running { child, port: None })
    }
}

impl Running {
    /// Waits until it has ended or something else has happened; whether it has ended.
    fn ends_before(&mut self, has_happened: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while !self.has_ended() {
            if has_happened() || Instant::now() > deadline {
                return false;
            }
            sleep(INTERVAL);
        }
        true
    }

    fn ends_when_interrupted(&mut self) -> bool {
        self.signal("INT");
        self.ends_before(|| false)
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal to the whole group.
    fn signal(&self, name: &str) {
        let group = format!("-{}", self.child.id());
        let kill = Command::new("kill")
            .args(["-s", name, "--", &group])
            // That it has ended by itself is no error.
            .stderr(Stdio::null())
            .status();
        kill.expect("kill is a command of every Unix");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal("KILL");
        let _ = self.child.wait();
        // What the shell started may accept connections until it is gone, and would be taken for
        // the next server. Whether its process still has an entry says less: it may wait as a
        // zombie for somebody who never asks.
        let deadline = Instant::now() + ENDING_PATIENCE;
        while self.port.is_some_and(listens) && Instant::now() < deadline {
            sleep(INTERVAL);
        }
    }
}

fn listens(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn one_file_twice(path: &Path) -> (Stdio, Stdio) {
    let output = file(path);
    let errors = output.try_clone().expect("a descriptor can be doubled");
    (Stdio::from(output), Stdio::from(errors))
}

fn file(path: &Path) -> File {
    File::create(path).expect("a file in a temporary folder can be made")
}
