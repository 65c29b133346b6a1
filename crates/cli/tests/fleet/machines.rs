//! A coordinator, agents and a server, each on a machine of its own.

use crate::network::{Network, Node};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
/// Where the coordinator awaits its agents.
pub const PORT: u16 = 7420;
/// Where the server listens.
pub const SERVER_PORT: u16 = 50_051;
/// Longer than anything here takes on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(60);
const HOUR_SECONDS: i64 = 3_600;

/// Five machines.
pub struct Machines {
    pub network: Network,
    pub folder: TempDir,
}

/// The names of the machines that make calls.
pub const AGENTS: [&str; 3] = ["one", "two", "three"];

impl Machines {
    pub fn new() -> Self {
        let names = ["coordinator", "server"].into_iter().chain(AGENTS).collect::<Vec<_>>();
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("temporary")).unwrap();
        fs::write(folder.path().join("token"), "a token of nobody but these tests").unwrap();
        Self { network: Network::new(&names), folder }
    }

    pub fn token(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    /// Where agents keep what they need in the course of a run.
    pub fn temporary(&self) -> PathBuf {
        self.folder.path().join("temporary")
    }

    pub fn node(&self, name: &str) -> &Node {
        self.network.node(name)
    }

    /// Where the coordinator awaits its agents.
    pub fn coordinator(&self) -> SocketAddrV4 {
        SocketAddrV4::new(self.node("coordinator").address(), PORT)
    }

    pub fn target(&self) -> String {
        format!("{}:{SERVER_PORT}", self.node("server").address())
    }

    /// A server that counts its calls.
    pub fn serve(&self) -> Server {
        let mut command = self.node("server").command(BOOKEND);
        command.args(["serve", "--host", "0.0.0.0", "--port", &SERVER_PORT.to_string()]);
        command.env("BOOKEND_CONTRACT", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().expect("nsenter is there");
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("the server says that it is ready");
        assert!(line.starts_with("ready "), "{line}");
        Server { process, input, output }
    }

    /// An agent on that machine, whose clock is as many hours ahead as its place in the list.
    pub fn agent(&self, name: &str) -> Agent {
        self.agent_at(name, self.coordinator(), &[])
    }

    /// The same, which dials in somewhere, with more words.
    pub fn agent_at(&self, name: &str, coordinator: SocketAddrV4, words: &[&str]) -> Agent {
        let place = AGENTS.iter().position(|agent| *agent == name).unwrap_or(0);
        let ahead_seconds = HOUR_SECONDS * (place as i64 + 1);
        let mut command = self.node(name).command_at(ahead_seconds, BOOKEND);
        command.args(["agent", "--name", name, "--join", &coordinator.to_string()]);
        command.arg("--token-file").arg(self.token()).arg("--keep").arg(self.folder.path());
        command.args(words).env("TMPDIR", self.temporary());
        Agent(Running::start(command))
    }

    /// All agents.
    pub fn agents(&self) -> Vec<Agent> {
        AGENTS.iter().map(|name| self.agent(name)).collect()
    }

    /// A load test with those agents; its result is JSON.
    pub fn load(&self, agents: usize, words: &[&str]) -> Running {
        Running::start(self.load_command(agents, words))
    }

    /// A race of two servers on the server's machine, where agents make the calls.
    pub fn race(&self, agents: usize, words: &[&str]) -> Running {
        let mut command = self.node("server").command(BOOKEND);
        command.args(["race", "--agents", &agents.to_string(), "--json", "--no-restart"]);
        command.arg("--wait-for-lock");
        command.arg("--token-file").arg(self.token());
        command.args(["--call", "helloworld.Greeter/SayHello", "-d", "{}", "-c", "6"]);
        command.args(["--connections", "2"]).args(words).current_dir(self.folder.path());
        for name in ["old", "new"] {
            command.arg(format!("{name}=exec {BOOKEND} serve --host 0.0.0.0 --port {{port}}"));
        }
        Running::start(command)
    }

    pub fn load_command(&self, agents: usize, words: &[&str]) -> Command {
        let mut command = self.node("coordinator").command(BOOKEND);
        command.args(["load", "--agents", &agents.to_string(), "-O", "json", "--live", "json"]);
        command.arg("--token-file").arg(self.token());
        command.args(["--insecure", "--call", "helloworld.Greeter/SayHello", "-d", "{}"]);
        command.args(words).arg(self.target());
        command
    }
}

/// A server that runs.
pub struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Ends it. Returns how many calls it has answered.
    pub fn end(mut self) -> u64 {
        drop(self.input.take());
        let mut said = String::new();
        self.output.read_to_string(&mut said).expect("its last words");
        self.process.wait().expect("it ends");
        let served = said.lines().find_map(|line| line.strip_prefix("served "));
        served.expect("it says how many").parse().expect("a number")
    }
}

/// A command that runs. Dropping it kills it.
pub struct Running {
    pub process: Child,
    errors: BufReader<ChildStderr>,
    /// What has been read of its errors.
    said: String,
}

pub struct Agent(pub Running);

/// How a command has ended.
pub struct Ended {
    pub status: Option<i32>,
    pub output: String,
    pub errors: String,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("nsenter is there");
        let errors = BufReader::new(process.stderr.take().expect("a pipe"));
        Self { process, errors, said: String::new() }
    }

    /// Returns when it has said a line with these words on standard error.
    pub fn await_line(&mut self, words: &str) -> &mut Self {
        loop {
            let mut line = String::new();
            let bytes = self.errors.read_line(&mut line).expect("a pipe");
            assert!(bytes > 0, "it has ended without {words:?}: {}", self.said);
            self.said += &line;
            if line.contains(words) {
                return self;
            }
        }
    }

    /// Returns when it has told of that number of seconds.
    pub fn await_seconds(&mut self, seconds: usize) -> &mut Self {
        for _ in 0..seconds {
            self.await_line("\"time_s\"");
        }
        self
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, signal).expect("it runs");
    }

    pub fn end(mut self) -> Ended {
        // Its output may be more than a pipe holds.
        let output = self.process.stdout.take().expect("a pipe");
        let reader = thread::spawn(move || {
            let mut text = String::new();
            BufReader::new(output).read_to_string(&mut text).expect("text");
            text
        });
        let mut errors = std::mem::take(&mut self.said);
        self.errors.read_to_string(&mut errors).expect("text");
        let status = self.process.wait().expect("it ends").code();
        Ended { status, output: reader.join().expect("no panic"), errors }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Ended {
    /// The result, which was printed.
    pub fn result(&self) -> Value {
        serde_json::from_str(&self.output)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.output, self.errors))
    }

    /// The one sentence that it has said besides its seconds.
    pub fn sentences(&self) -> String {
        let is_second = |line: &&str| line.contains("\"time_s\"");
        self.errors.lines().filter(|line| !is_second(line)).collect::<Vec<_>>().join("\n")
    }
}

/// The files that agents have kept.
pub fn kept(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let name = |file: &PathBuf| file.file_name().map(OsStr::to_os_string).unwrap_or_default();
    files.filter(|file| name(file).to_string_lossy().starts_with("bookend-agent-")).collect()
}

/// Returns once that is so.
pub fn await_that(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "it never is");
        thread::sleep(Duration::from_millis(10));
    }
}

pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}
