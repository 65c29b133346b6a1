//! The program `perf`: whether it is here and may be used, and what it prints of a recording.

use super::folded::Folded;
use crate::cell_error::CellError;
use crate::cpu::list;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use thiserror::Error;

/// Samples a second: not a round number, so that samples do not march in step with timers.
pub const FREQUENCY_HZ: u32 = 999;

/// What is printed of each sample. Without its period, so that every sample counts as one.
const SCRIPT_FIELDS: &str = "comm,tid,time,event,ip,sym,dso";

/// Where the kernel says what it allows to whom.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// A `perf` that can record here.
#[derive(Clone, Debug)]
pub struct Perf {
    program: PathBuf,
    sampling: Sampling,
}

/// What makes samples. In the order in which it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sampling {
    /// Cycles of the processes, where the machine counts them.
    Cycles,
    /// The clock of every CPU that they may run on. Virtual machines have it too. Samples of other
    /// processes are left out when the recording is read.
    ClockOfCpus,
    /// The clock of the processes' own CPU time, where other processes may not be looked at. It
    /// starts again whenever a thread is scheduled: threads that run briefly are seen too seldom.
    ClockOfProcesses,
}

/// What is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordTarget<'a> {
    /// Process ids.
    pub pids: &'a [i32],
    /// The CPUs that they may run on; none means all.
    pub cpus: &'a [usize],
}

/// Why nothing can be recorded on this machine, and what to do about it.
#[derive(Debug, Error)]
pub enum PerfUnavailable {
    /// The program is not installed.
    #[error(
        "no profile: `{}` is not here; install it with `apt-get install linux-perf`",
        .0.display()
    )]
    Missing(PathBuf),
    /// It is there and does not record.
    #[error("no profile: {}", refusal(said, paranoid.as_deref()))]
    Refused {
        /// The last line that it printed.
        said: String,
        /// The kernel's setting, where it can be read.
        paranoid: Option<String>,
    },
    /// A trial recording could not be written.
    #[error("no profile: its folder: {0}")]
    Folder(io::Error),
}

impl Sampling {
    const ALL: [Sampling; 3] =
        [Sampling::Cycles, Sampling::ClockOfCpus, Sampling::ClockOfProcesses];

    fn event(self) -> &'static str {
        match self {
            Sampling::Cycles => "cycles",
            Sampling::ClockOfCpus | Sampling::ClockOfProcesses => "cpu-clock",
        }
    }

    /// The options that say what to look at.
    fn target_options(self, target: &RecordTarget<'_>) -> Vec<String> {
        match self {
            Sampling::ClockOfCpus if target.cpus.is_empty() => vec!["-a".to_owned()],
            Sampling::ClockOfCpus => vec!["-C".to_owned(), list(target.cpus)],
            // A trial is of the command alone.
            _ if target.pids.is_empty() => vec![],
            _ => vec!["-p".to_owned(), list(target.pids)],
        }
    }
}

impl Perf {
    /// Makes a trial recording of nothing in `folder`.
    ///
    /// # Errors
    /// [`PerfUnavailable`] with what to do about it.
    pub fn find(program: &Path, folder: &Path) -> Result<Perf, PerfUnavailable> {
        let file = folder.join(".trial.perf.data");
        let mut refusal = String::new();
        for sampling in Sampling::ALL {
            let perf = Perf { program: program.to_owned(), sampling };
            let tried = perf.try_out(&file);
            // Asked for cycles that are not counted, `perf` takes something else.
            let is_it = perf.event_of(&file).is_ok_and(|event| event.starts_with(sampling.event()));
            let _ = std::fs::remove_file(&file);
            match tried {
                Ok(output) if output.status.success() && is_it => return Ok(perf),
                Ok(output) => refusal = last_line(&output.stderr),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(PerfUnavailable::Missing(program.to_owned()));
                }
                Err(error) => refusal = error.to_string(),
            }
        }
        Err(PerfUnavailable::Refused {
            said: refusal,
            paranoid: std::fs::read_to_string(PARANOID).ok(),
        })
    }

    fn try_out(&self, file: &Path) -> io::Result<Output> {
        let words = self.record(&RecordTarget::default(), file);
        let mut command = Command::new(&self.program);
        command.args(&words[1..]).arg("true");
        command.stdin(Stdio::null()).output()
    }

    /// The words that record into `file` as long as the command lasts that is put after them.
    pub fn record(&self, target: &RecordTarget<'_>, file: &Path) -> Vec<String> {
        let event = self.sampling.event();
        // Build ids are not collected: files are still there when their symbols are read.
        let options = format!("record -q -B -F {FREQUENCY_HZ} -e {event} --call-graph fp -o");
        let mut words = vec![self.program.display().to_string()];
        words.extend(options.split(' ').map(str::to_owned));
        words.push(file.display().to_string());
        words.extend(self.sampling.target_options(target));
        words.push("--".to_owned());
        words
    }

    /// The event that was counted: what was asked for can be more than the machine has.
    ///
    /// # Errors
    /// `perf` cannot read the recording.
    pub fn event_of(&self, file: &Path) -> Result<String, CellError> {
        let output = Command::new(&self.program)
            .args(["evlist", "-i"])
            .arg(file)
            .stdin(Stdio::null())
            .output()
            .map_err(CellError::failed)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let event = text.lines().find(|line| !line.starts_with('#'));
        let none = || CellError::failed(format!("perf evlist: {}", last_line(&output.stderr)));
        event.map(|event| event.trim().to_owned()).ok_or_else(none)
    }

    /// The samples of the processes `pids` in a recording.
    ///
    /// # Errors
    /// `perf` cannot read the recording.
    pub fn folded(&self, file: &Path, pids: &[i32]) -> Result<Folded, CellError> {
        match self.sampling {
            Sampling::ClockOfCpus => self.folded_of(file, pids),
            // No others were recorded, and new ones may have been.
            Sampling::Cycles | Sampling::ClockOfProcesses => self.folded_with(file, vec![]),
        }
    }

    /// The same of a recording of several programs: those of these processes alone.
    ///
    /// # Errors
    /// As [`Perf::folded`].
    pub fn folded_of(&self, file: &Path, pids: &[i32]) -> Result<Folded, CellError> {
        self.folded_with(file, vec!["--pid".to_owned(), list(pids)])
    }

    fn folded_with(&self, file: &Path, only: Vec<String>) -> Result<Folded, CellError> {
        let mut child = Command::new(&self.program)
            .args(["script", "--no-inline", "-F", SCRIPT_FIELDS, "-i"])
            .arg(file)
            .args(only)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // It complains about every file whose symbols it does not find; the names say so.
            .stderr(Stdio::null())
            .spawn()
            .map_err(CellError::failed)?;
        let folded = child.stdout.take().map(BufReader::new).map(Folded::of_script).transpose();
        let status = child.wait().map_err(CellError::failed)?;
        if !status.success() {
            return Err(CellError::failed(format!("perf script: {status}")));
        }
        Ok(folded.map_err(CellError::failed)?.unwrap_or_default())
    }
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("no reason given")
        .to_owned()
}

fn refusal(said: &str, paranoid: Option<&str>) -> String {
    let remedy = match paranoid {
        Some(level) => format!(
            "run as root, or with `sysctl kernel.perf_event_paranoid=1`, now {}",
            level.trim()
        ),
        None => "this kernel has no perf events".to_owned(),
    };
    format!("perf may not record here ({said}); {remedy}")
}
