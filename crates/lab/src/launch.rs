//! The first step of every process that the lab starts: join the prepared control groups, take
//! the CPUs, lead a session of its own, promise to die with the lab, then become the program.
//!
//! It is a hidden sub-command of our own binary because these steps must happen between fork and
//! exec, where safe Rust can run only what is a program.

use crate::cpu::{list, parse_list};
use crate::guardian::{self, Guardian};
use bookend_contract::printable;
use rustix::process::Signal;
use rustix::thread::CpuSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use thiserror::Error;

/// Exit status of a launcher that could not become its program, as shells say "not found".
pub const NOT_LAUNCHED: i32 = 127;

/// The word after which a launcher becomes the guardian of the lab with this process id.
const GUARDIAN: &str = "--guardian";

/// The program that is the launcher: our own executable and the words that select [`main`].
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The executable.
    pub program: PathBuf,
    /// What comes before the launcher's own arguments, such as `launch`.
    pub arguments: Vec<OsString>,
    guardian: Guardian,
}

/// What a launcher does before it becomes the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchArguments {
    /// CPUs to be pinned to; empty: those of the lab.
    pub cpus: Vec<usize>,
    /// Folders of control groups to join.
    pub groups: Vec<PathBuf>,
    /// The lab's process; when it is gone, nothing is started.
    pub parent: Option<u32>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Why a launcher did not become its program.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// The lab gave arguments that make no sense: a defect of the lab.
    #[error("launch: {0}")]
    Usage(String),
    /// A system call was refused; the text says which step.
    #[error("launch: {0}: {1}")]
    Refused(&'static str, std::io::Error),
    /// The control group with this folder could not be joined.
    #[error("launch: cannot join {}: {}", .0.display(), .1)]
    Group(PathBuf, std::io::Error),
    /// The program could not be started.
    #[error("cannot start {}: {}", .0.display(), .1)]
    Program(OsString, std::io::Error),
    /// The lab ended while this process was being started.
    #[error("launch: the lab has ended")]
    LabIsGone,
}

/// Does what `arguments` say (without the program's name and the sub-command). Never
/// returns: it becomes the program, or says on standard error why not and exits with 127.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ! {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.first().is_some_and(|word| word == GUARDIAN) {
        guardian::main(arguments.get(1).map(OsString::as_os_str));
    }
    let error = match LaunchArguments::parse(arguments) {
        Ok(arguments) => arguments.become_program(),
        Err(error) => error,
    };
    eprintln!("{}", printable::line(&error.to_string()));
    std::process::exit(NOT_LAUNCHED)
}

impl Launcher {
    /// A launcher whose lab has started nothing yet.
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Launcher {
        Launcher { program, arguments, guardian: Guardian::default() }
    }

    /// The command that starts a launcher with these arguments.
    pub fn command(&self, arguments: &LaunchArguments) -> Command {
        self.command_with(arguments.to_arguments())
    }

    /// The guardian of all that is started with this launcher and its clones. It is started when it
    /// is first asked for.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn guardian(&self) -> std::io::Result<&Guardian> {
        let lab = std::process::id().to_string();
        self.guardian.start(|| self.command_with([GUARDIAN.into(), lab.into()]))?;
        Ok(&self.guardian)
    }

    /// Variables of the contract that the lab itself was started with are not for its processes.
    fn command_with(&self, arguments: impl IntoIterator<Item = OsString>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(arguments);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"BOOKEND_") {
                command.env_remove(name);
            }
        }
        command
    }
}

impl LaunchArguments {
    /// As words of a command line.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut option = |name: &str, value: OsString| {
            arguments.push(OsString::from(name));
            arguments.push(value);
        };
        if !self.cpus.is_empty() {
            option("--cpus", list(&self.cpus).into());
        }
        for group in &self.groups {
            option("--cgroup", group.into());
        }
        if let Some(parent) = self.parent {
            option("--parent", parent.to_string().into());
        }
        arguments.push("--".into());
        arguments.extend(self.command.iter().cloned());
        arguments
    }

    /// Reads what [`LaunchArguments::to_arguments`] wrote.
    ///
    /// # Errors
    /// [`LaunchError::Usage`] with the argument that makes no sense.
    pub fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<LaunchArguments, LaunchError> {
        let mut arguments = arguments.into_iter();
        let mut parsed = LaunchArguments::default();
        while let Some(option) = arguments.next() {
            if option == "--" {
                parsed.command = arguments.collect();
                break;
            }
            let value = arguments.next().ok_or_else(|| usage(&option))?;
            parsed.take(&option, &value)?;
        }
        if parsed.command.is_empty() {
            return Err(LaunchError::Usage("there is no command after --".into()));
        }
        Ok(parsed)
    }

    fn take(&mut self, option: &OsStr, value: &OsStr) -> Result<(), LaunchError> {
        let text = || value.to_str().ok_or_else(|| usage(value));
        match option.to_str() {
            Some("--cpus") => self.cpus = parse_list(text()?).ok_or_else(|| usage(value))?,
            Some("--cgroup") => self.groups.push(value.into()),
            Some("--parent") => self.parent = Some(text()?.parse().map_err(|_| usage(value))?),
            _ => return Err(usage(option)),
        }
        Ok(())
    }

    /// Returns only when it failed.
    fn become_program(&self) -> LaunchError {
        if let Err(error) = self.prepare() {
            return error;
        }
        let Some((program, arguments)) = self.command.split_first() else {
            return LaunchError::Usage("there is no command".into());
        };
        let error = Command::new(program).args(arguments).exec();
        LaunchError::Program(program.clone(), error)
    }

    fn prepare(&self) -> Result<(), LaunchError> {
        for group in &self.groups {
            // Both versions of control groups take 0 for the writing process itself.
            std::fs::write(group.join("cgroup.procs"), "0")
                .map_err(|error| LaunchError::Group(group.clone(), error))?;
        }
        pin(&self.cpus).map_err(|error| LaunchError::Refused("sched_setaffinity", error))?;
        rustix::process::setsid().map_err(|error| LaunchError::Refused("setsid", error.into()))?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| LaunchError::Refused("prctl(PR_SET_PDEATHSIG)", error.into()))?;
        // The lab may have died before the death signal was asked for; then it never comes.
        let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
        let is_there = |expected: u32| parent.map(i64::from) == Some(i64::from(expected));
        let is_there = self.parent.is_none_or(is_there);
        is_there.then_some(()).ok_or(LaunchError::LabIsGone)
    }
}

/// Pins the calling thread, and what it becomes or starts, to `cpus`. None leaves it as it is.
///
/// # Errors
/// The kernel refuses, for example because a CPU is not there or not allowed.
pub fn pin(cpus: &[usize]) -> std::io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        set.set(cpu);
    }
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

fn usage(argument: &OsStr) -> LaunchError {
    LaunchError::Usage(format!("{} makes no sense", argument.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn arguments_come_back_from_their_words() {
        let arguments = LaunchArguments {
            cpus: vec![0, 3],
            groups: vec!["/a b".into(), "/c".into()],
            parent: Some(17),
            command: words("server --cpus 9 -- x"),
        };
        assert_eq!(LaunchArguments::parse(arguments.to_arguments()).unwrap(), arguments);
        let bare = LaunchArguments { command: words("server"), ..LaunchArguments::default() };
        assert_eq!(LaunchArguments::parse(bare.to_arguments()).unwrap(), bare);
    }

    #[test]
    fn an_argument_that_makes_no_sense_is_named() {
        for (text, named) in [
            ("--cpus a -- x", "a makes no sense"),
            ("--cpus", "--cpus makes no sense"),
            ("--speed 9 -- x", "--speed makes no sense"),
            ("--parent -1 -- x", "-1 makes no sense"),
            ("--cpus 0 --", "no command"),
            ("", "no command"),
        ] {
            let error = LaunchArguments::parse(words(text)).unwrap_err().to_string();
            assert!(error.contains(named), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_cpu_beyond_the_kernels_set_is_refused_before_the_kernel_is_asked() {
        assert!(pin(&[CpuSet::MAX_CPU]).is_err());
        assert!(pin(&[]).is_ok());
    }
}
