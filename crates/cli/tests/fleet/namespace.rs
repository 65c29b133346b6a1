//! A namespace that a process holds.
//!
//! No namespace has a name in a file system. A name would need a mount in /run, which many
//! containers do not allow, and it would stay after a test that is killed. The kernel removes a
//! namespace when the last process in it ends; the holder ends when the test does, because its
//! standard input ends then.

use crate::processes::MARK;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

/// A namespace, and the process that holds it. Dropping it ends that process.
#[derive(Debug)]
pub struct Namespace {
    holder: Child,
    /// The name of its kind in `/proc/ID/ns`.
    kind: &'static str,
    name: String,
}

impl Namespace {
    /// A new one, made by `unshare` with these options, inside others.
    ///
    /// # Errors
    /// What `unshare` has said.
    pub fn new(within: &Entrance, kind: &'static str, unshare: &[&str]) -> Result<Self, String> {
        let mut command = within.command("unshare");
        command.args(unshare).arg("cat").stdin(Stdio::piped()).stdout(Stdio::piped());
        let holder = command.stderr(Stdio::piped()).spawn();
        let holder = holder.map_err(|error| format!("unshare and nsenter: {error}"))?;
        let mut namespace = Self { holder, kind, name: String::new() };
        // `cat` answers once `unshare` has become it, and no earlier.
        if !namespace.is_answering() {
            return Err(namespace.complaint());
        }
        let name = fs::read_link(namespace.path()).map_err(|error| error.to_string())?;
        namespace.name = name.display().to_string();
        Ok(namespace)
    }

    /// The process that holds it.
    pub fn holder(&self) -> u32 {
        self.holder.id()
    }

    /// What the kernel calls it, such as `net:[4026532281]`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The option of `nsenter` that enters it.
    pub fn option(&self) -> String {
        format!("--{}={}", self.kind, self.path())
    }

    fn path(&self) -> String {
        // A process enters a time namespace that it has made only if it runs another program, and
        // before Linux 6.3 not even then. Its children are in it in any case.
        let kind = if self.kind == "time" { "time_for_children" } else { self.kind };
        format!("/proc/{}/ns/{kind}", self.holder.id())
    }

    fn is_answering(&mut self) -> bool {
        let input = self.holder.stdin.as_mut().expect("a pipe");
        let output = self.holder.stdout.as_mut().expect("a pipe");
        input.write_all(b"?").is_ok() && output.read_exact(&mut [0]).is_ok()
    }

    fn complaint(&mut self) -> String {
        let mut said = String::new();
        let errors = self.holder.stderr.as_mut().expect("a pipe");
        errors.read_to_string(&mut said).expect("what a program says is text");
        said.trim().to_owned()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // It has ended already if somebody has killed it.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// The way into namespaces of a network.
#[derive(Clone, Debug)]
pub struct Entrance {
    /// Options of `nsenter`.
    options: Vec<String>,
    /// The mark of the network's processes.
    mark: String,
}

impl Entrance {
    /// One that leads into no other namespace so far.
    pub fn new(mark: String) -> Self {
        Self { options: Vec::new(), mark }
    }

    /// One that leads into that namespace too.
    pub fn into(&self, namespace: &Namespace) -> Self {
        self.with(&namespace.option())
    }

    /// One that has another option of `nsenter`.
    pub fn with(&self, option: &str) -> Self {
        let mut longer = self.clone();
        longer.options.push(option.to_owned());
        longer
    }

    /// Its options of `nsenter`.
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// The mark of the network's processes.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// A command that runs a program inside. The program is the very process that it starts.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = if self.options.is_empty() {
            Command::new(program)
        } else {
            command_in(&self.options, program)
        };
        command.env(MARK, &self.mark);
        command
    }
}

/// A command that runs a program inside the namespaces that these options of `nsenter` name.
pub fn command_in(options: &[String], program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("nsenter");
    // With `--no-fork`, `nsenter` becomes the program instead of waiting for it.
    command.args(options).args(["--no-fork", "--"]).arg(program);
    command
}
