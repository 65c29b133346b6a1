//! Version 2: one unified hierarchy, in which a group's controllers are switched on by its parent.

use super::abandoned::{HOME, note_of};
use super::account::{Account, CpuFile, MemoryFiles};
use super::capability::{CONTROLLERS, Capability};
use super::group::{CPU_PERIOD_US, LimitError, ResourceLimits, quota_us, remove, switch, write};
use crate::cpu::list;
use crate::process::stat::ProcessStat;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The group below which the lab makes groups of version 2.
#[derive(Debug)]
pub struct Unified {
    /// Its folder.
    pub folder: PathBuf,
    /// Controllers that groups below `folder` have.
    controllers: Vec<&'static str>,
    /// Controllers that were switched on here, to be switched off again, each with the group that
    /// says so should this process be killed.
    enabled: Vec<(&'static str, PathBuf)>,
    /// The group to which this very process had to move: one with controllers for its children may
    /// hold no process itself.
    home: Option<PathBuf>,
}

impl Unified {
    /// Switches on below `folder` what can be switched on. Should this process stand in the way, it
    /// moves into a group. The names of all groups begin with `lab`.
    pub fn prepare(folder: &Path, lab: &str) -> Unified {
        let mut unified = Unified {
            folder: folder.to_owned(),
            controllers: Vec::new(),
            enabled: Vec::new(),
            home: None,
        };
        let available = words_of(&folder.join("cgroup.controllers"));
        let enabled = words_of(&folder.join("cgroup.subtree_control"));
        for (controller, _) in CONTROLLERS {
            let is_in = |names: &[String]| names.iter().any(|name| name == controller);
            if is_in(&enabled) {
                unified.controllers.push(controller);
            } else if is_in(&available)
                && let Some(note) = unified.enable(controller, lab)
            {
                unified.controllers.push(controller);
                unified.enabled.push((controller, note));
            }
        }
        unified
    }

    /// Whether groups below have this controller.
    pub fn has(&self, controller: &str) -> bool {
        self.controllers.contains(&controller)
    }

    /// What groups below can do.
    pub fn capabilities(&self) -> impl Iterator<Item = Capability> {
        let given = CONTROLLERS
            .iter()
            .filter(|(name, _)| self.has(name))
            .map(|(_, capability)| *capability);
        let cpu_time = self.has("cpu").then_some(Capability::CpuTime);
        given.chain(cpu_time).chain([Capability::Kill])
    }

    /// Returns the group that says so.
    fn enable(&mut self, controller: &str, lab: &str) -> Option<PathBuf> {
        let note = note_of(&self.folder, lab, controller);
        std::fs::create_dir(&note).ok()?;
        let is_on = match switch(&self.folder, '+', controller) {
            Ok(()) => true,
            // There are processes in the group: at best only this one.
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                self.move_out(&format!("{lab}.{HOME}"))
                    && switch(&self.folder, '+', controller).is_ok()
            }
            Err(_) => false,
        };
        if !is_on {
            remove(&note);
        }
        is_on.then_some(note)
    }

    /// Moves this process into a group of its own, with its children such as the guardian, if no
    /// others stand in the way: other people's processes are not moved.
    fn move_out(&mut self, home_name: &str) -> bool {
        let members = words_of(&self.folder.join("cgroup.procs"));
        if self.home.is_some() || members.is_empty() || !members.iter().all(|pid| is_ours(pid)) {
            return false;
        }
        let home = self.folder.join(home_name);
        if std::fs::create_dir(&home).is_err() || !move_all(&self.folder, &home) {
            move_all(&home, &self.folder);
            let _ = std::fs::remove_dir(&home);
            return false;
        }
        self.home = Some(home);
        true
    }

    /// Sets what the controllers of the group at `folder` can limit.
    pub fn limit(&self, folder: &Path, limits: &ResourceLimits) -> Result<(), LimitError> {
        if self.has("cpuset") && !limits.cpus.is_empty() {
            write(folder, "cpuset.cpus", list(&limits.cpus))?;
        }
        if let Some(cpus) = limits.cpu_time.filter(|_| self.has("cpu")) {
            write(folder, "cpu.max", format!("{} {CPU_PERIOD_US}", quota_us(cpus)))?;
        }
        if let Some(bytes) = limits.memory_bytes.filter(|_| self.has("memory")) {
            write(folder, "memory.max", bytes)?;
            // Where there is no swap there is no such file, and nothing to be limited.
            let _ = write(folder, "memory.swap.max", 0);
        }
        if let Some(processes) = limits.processes.filter(|_| self.has("pids")) {
            write(folder, "pids.max", processes)?;
        }
        Ok(())
    }

    /// The files in which the kernel accounts for the group at `folder`.
    pub fn account(&self, folder: &Path) -> Account {
        let memory = self.has("memory").then(|| MemoryFiles::version_two(folder));
        Account {
            cpu: Some(CpuFile::Two(folder.join("cpu.stat"))),
            memory,
            tasks: self.has("pids").then(|| folder.join("pids.current")),
        }
    }
}

/// Leaves the group as it was found.
impl Drop for Unified {
    fn drop(&mut self) {
        for (controller, note) in &self.enabled {
            let _ = switch(&self.folder, '-', controller);
            remove(note);
        }
        if let Some(home) = &self.home {
            move_all(home, &self.folder);
            remove(home);
        }
    }
}

/// Whether the process is this one or was started by it.
fn is_ours(pid: &str) -> bool {
    let this = std::process::id();
    let stat = pid.parse().ok().and_then(ProcessStat::read);
    stat.is_some_and(|stat| [stat.pid, stat.parent].map(i64::from).contains(&i64::from(this)))
}

/// Moves the processes of one group into another, and says whether none is left: one may have ended
/// meanwhile.
fn move_all(from: &Path, to: &Path) -> bool {
    let members = || words_of(&from.join("cgroup.procs"));
    for pid in members() {
        let _ = std::fs::write(to.join("cgroup.procs"), pid);
    }
    members().is_empty()
}

fn words_of(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> ResourceLimits {
        ResourceLimits {
            cpus: vec![0, 2],
            cpu_time: Some(0.5),
            memory_bytes: Some(1 << 29),
            processes: Some(100),
        }
    }

    fn unified(folder: &Path, controllers: Vec<&'static str>) -> Unified {
        Unified { folder: folder.to_owned(), controllers, enabled: vec![], home: None }
    }

    #[test]
    fn only_this_process_and_its_children_are_moved() {
        let mut child = std::process::Command::new("cat");
        let mut child = child.stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert!(is_ours(&std::process::id().to_string()) && is_ours(&child.id().to_string()));
        assert!(!is_ours("1") && !is_ours("") && !is_ours(&i32::MAX.to_string()));
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn version_two_is_told_limits_in_its_own_words() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let unified = unified(folder, CONTROLLERS.map(|(name, _)| name).to_vec());
        unified.limit(folder, &limits()).unwrap();
        let written = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(written("cpuset.cpus"), "0,2");
        assert_eq!(written("cpu.max"), "50000 100000");
        assert_eq!(written("memory.max"), "536870912");
        assert_eq!(written("pids.max"), "100");
        let account = unified.account(folder);
        assert_eq!(account.cpu, Some(CpuFile::Two(folder.join("cpu.stat"))));
        assert!(account.memory.is_some() && account.tasks.is_some());
    }

    #[test]
    fn version_two_without_controllers_still_tells_cpu_time() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let unified = unified(folder, vec![]);
        unified.limit(folder, &limits()).unwrap();
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
        let account = unified.account(folder);
        assert!(account.cpu.is_some() && account.memory.is_none());
    }
}
