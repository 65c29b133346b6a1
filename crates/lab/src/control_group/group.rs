//! The groups of one process tree and the limits on it, whichever version enforces them.

use super::account::Account;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long an emptied group may take to be removable: its last process may still be ending.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(1);

/// The period over which CPU time is limited, microseconds: the kernel's own default.
pub const CPU_PERIOD_US: u32 = 100_000;

/// What a process tree may use. `None` leaves it without a limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceLimits {
    /// CPUs that it may run on; empty: any.
    pub cpus: Vec<usize>,
    /// CPU time a second, in CPUs, where the CPUs themselves do not limit it enough.
    pub cpu_time: Option<f64>,
    /// Memory, bytes, page cache of its files included.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
}

/// The groups of one process tree, in every hierarchy that gives a capability. Dropping it removes
/// them, once the tree is gone.
#[derive(Debug, Default)]
pub struct ControlGroup {
    /// The folders that a process must join: one a hierarchy.
    pub folders: Vec<PathBuf>,
    /// Where the kernel keeps the accounting of this tree.
    pub account: Account,
}

/// The kernel refused a limit that control groups were found to support: its file, and why it could
/// not be written.
#[derive(Debug, thiserror::Error)]
#[error("the limit {} cannot be set: {}", .0.display(), .1)]
pub struct LimitError(PathBuf, Error);

impl ControlGroup {
    /// Makes the group `name` below `parent`. Controllers of version 1 that are mounted together
    /// share one folder, which is made once.
    pub(super) fn add_folder(&mut self, parent: &Path, name: &str) -> Result<PathBuf, LimitError> {
        let folder = parent.join(name);
        if !self.folders.contains(&folder) {
            std::fs::create_dir(&folder).map_err(|error| LimitError(folder.clone(), error))?;
            self.folders.push(folder.clone());
        }
        Ok(folder)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for folder in &self.folders {
            remove(folder);
        }
    }
}

/// Removes an empty group, waiting a little for its last process to be gone.
pub fn remove(folder: &Path) {
    let deadline = Instant::now() + REMOVE_TIMEOUT;
    while let Err(error) = std::fs::remove_dir(folder) {
        if error.kind() != ErrorKind::ResourceBusy || Instant::now() >= deadline {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Writes a limit into the kernel's file for it, in the folder of a group.
pub fn write(folder: &Path, file: &str, value: impl ToString) -> Result<(), LimitError> {
    let file = folder.join(file);
    std::fs::write(&file, value.to_string()).map_err(|error| LimitError(file, error))
}

/// Switches a controller of version 2 on (`+`) or off (`-`) for the groups below `folder`.
pub fn switch(folder: &Path, sign: char, controller: &str) -> std::io::Result<()> {
    std::fs::write(folder.join("cgroup.subtree_control"), format!("{sign}{controller}"))
}

/// CPU time a period, microseconds. At least a hundredth of a CPU: the kernel refuses less than a
/// millisecond a period.
pub fn quota_us(cpus: f64) -> u32 {
    let period = f64::from(CPU_PERIOD_US);
    (cpus * period).clamp(period / 100.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_rationed_within_what_the_kernel_takes() {
        assert_eq!(quota_us(1.5), 150_000);
        assert_eq!(quota_us(0.0), 1_000);
        assert_eq!(quota_us(f64::MAX), u32::MAX);
    }
}
