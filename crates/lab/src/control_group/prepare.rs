//! Making groups below the one that this process is in: which hierarchies allow it, and one group
//! a tree in each of them.

use super::account::{Account, CpuFile, MemoryFiles};
use super::discover::Hierarchies;
use super::{Capabilities, Capability, CgroupVersion, ControlGroup, ResourceLimits, remove};
use std::fmt;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The period over which CPU time is rationed, microseconds: the kernel's own default.
const CPU_PERIOD_US: u32 = 100_000;

/// Groups are called `bookend.PROCESS.NUMBER`, so that those of a lab that died can be told.
const PREFIX: &str = "bookend";

/// The controllers of version 2 that the lab has a use for.
const WANTED: [&str; 4] = ["cpuset", "cpu", "memory", "pids"];

/// The place below which the groups of all trees of this lab are made.
#[derive(Debug, Default)]
pub struct ControlGroups {
    two: Option<Unified>,
    /// Usable controllers of version 1 and the folder of this process's group.
    one: Vec<(String, PathBuf)>,
    capabilities: Capabilities,
}

/// Where groups of version 2 are made.
#[derive(Debug)]
struct Unified {
    folder: PathBuf,
    /// Controllers that groups below `folder` have.
    controllers: Vec<&'static str>,
    /// Controllers that were switched on here, to be switched off again.
    enabled: Vec<&'static str>,
    /// A group to which this very process had to move: one with controllers for its children may
    /// hold no process itself.
    home: Option<PathBuf>,
}

/// A limit that control groups were said to give could not be set.
#[derive(Debug)]
pub struct LimitError {
    /// The kernel's file.
    pub file: PathBuf,
    /// Why it could not be written.
    pub reason: Error,
}

impl ControlGroups {
    /// None at all: affinity alone.
    pub fn none() -> ControlGroups {
        ControlGroups::default()
    }

    /// Finds out what this process may do below its own groups, and does what must be done once.
    /// Groups that a lab which died has left behind are emptied and removed.
    pub fn prepare() -> ControlGroups {
        let found = Hierarchies::of_this_process();
        let two = found.version_two.as_deref().and_then(Unified::prepare);
        let one = found.version_one.into_iter();
        let one = one.filter(|(_, folder)| is_usable(folder)).collect();
        let mut groups = ControlGroups {
            two,
            one,
            capabilities: Capabilities::default(),
        };
        groups.capabilities = groups.find_capabilities();
        groups
    }

    /// What can be done, and by which version.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Makes the groups of one tree; `None` where nothing is to be had.
    ///
    /// # Errors
    /// A limit cannot be set although the kernel said it could.
    pub fn create(&self, limits: &ResourceLimits) -> Result<Option<ControlGroup>, LimitError> {
        let name = next_name();
        let mut group = ControlGroup {
            folders: Vec::new(),
            account: Account::default(),
        };
        if let Some(two) = &self.two {
            let folder = add_folder(&mut group, &two.folder, &name)?;
            two.limit(&folder, limits)?;
            group.account = two.account(&folder);
        }
        for (controller, parent) in self.controllers_of_one(limits) {
            let folder = add_folder(&mut group, parent, &name)?;
            limit_one(controller, &folder, limits)?;
            account_one(controller, &folder, &mut group.account);
        }
        Ok((!group.folders.is_empty()).then_some(group))
    }

    fn find_capabilities(&self) -> Capabilities {
        let mut found = Capabilities::default();
        if let Some(two) = &self.two {
            let kinds = [
                ("cpuset", Capability::CpuSet),
                ("cpu", Capability::CpuTime),
                ("cpu", Capability::CpuQuota),
                ("memory", Capability::Memory),
                ("pids", Capability::Processes),
            ];
            for (_, capability) in kinds.iter().filter(|(name, _)| two.has(name)) {
                found.add(*capability, CgroupVersion::Two);
            }
            found.add(Capability::Kill, CgroupVersion::Two);
        }
        for (controller, _) in &self.one {
            if let Some(capability) = capability_of_one(controller) {
                found.add(capability, CgroupVersion::One);
            }
        }
        if !self.one.is_empty() {
            found.add(Capability::Kill, CgroupVersion::One);
        }
        if self.two.is_some() {
            // Every group of version 2 tells its CPU time, with or without the controller.
            found.add(Capability::CpuTime, CgroupVersion::Two);
        }
        found
    }

    /// Those that give what version 2 does not. CPU time is limited only where it is asked for: a
    /// group of its own in the scheduler changes what is measured.
    fn controllers_of_one(&self, limits: &ResourceLimits) -> impl Iterator<Item = (&str, &Path)> {
        let rationed = limits.cpu_time.is_some() && !self.two_has("cpu");
        let has_kill = self.two.is_some();
        let all = self.one.iter();
        all.filter(move |(controller, _)| match controller.as_str() {
            "cpuset" => !limits.cpus.is_empty() && !self.two_has("cpuset"),
            "cpuacct" => !self.two_has("cpu"),
            "cpu" => rationed,
            "memory" => !self.two_has("memory"),
            "pids" => !self.two_has("pids") || !has_kill,
            _ => false,
        })
        .map(|(controller, folder)| (controller.as_str(), folder.as_path()))
    }

    fn two_has(&self, controller: &str) -> bool {
        self.two.as_ref().is_some_and(|two| two.has(controller))
    }
}

impl Unified {
    fn prepare(folder: &Path) -> Option<Unified> {
        if !is_usable(folder) {
            return None;
        }
        let mut unified = Unified {
            folder: folder.to_owned(),
            controllers: Vec::new(),
            enabled: Vec::new(),
            home: None,
        };
        unified.enable_controllers();
        Some(unified)
    }

    fn has(&self, controller: &str) -> bool {
        self.controllers.contains(&controller)
    }

    fn enable_controllers(&mut self) {
        let available = words_of(&self.folder.join("cgroup.controllers"));
        let enabled = words_of(&self.folder.join("cgroup.subtree_control"));
        for controller in WANTED {
            if enabled.iter().any(|name| name == controller) {
                self.controllers.push(controller);
            } else if available.iter().any(|name| name == controller) && self.enable(controller) {
                self.controllers.push(controller);
                self.enabled.push(controller);
            }
        }
    }

    fn enable(&mut self, controller: &str) -> bool {
        match self.switch('+', controller) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                self.move_out() && self.switch('+', controller).is_ok()
            }
            Err(_) => false,
        }
    }

    fn switch(&self, sign: char, controller: &str) -> std::io::Result<()> {
        let file = self.folder.join("cgroup.subtree_control");
        std::fs::write(file, format!("{sign}{controller}"))
    }

    /// Moves this process into a group of its own, if it is the only one that stands in the way:
    /// other people's processes are not moved.
    fn move_out(&mut self) -> bool {
        let this = std::process::id().to_string();
        if self.home.is_some() || words_of(&self.folder.join("cgroup.procs")) != [this] {
            return false;
        }
        let home = self.folder.join(format!("{}.home", next_name()));
        let moved = std::fs::create_dir(&home)
            .and_then(|()| std::fs::write(home.join("cgroup.procs"), "0"));
        if moved.is_err() {
            let _ = std::fs::remove_dir(&home);
            return false;
        }
        self.home = Some(home);
        true
    }

    fn limit(&self, folder: &Path, limits: &ResourceLimits) -> Result<(), LimitError> {
        if self.has("cpuset") && !limits.cpus.is_empty() {
            write(&folder.join("cpuset.cpus"), &list(&limits.cpus))?;
        }
        if let Some(cpus) = limits.cpu_time.filter(|_| self.has("cpu")) {
            let value = format!("{} {CPU_PERIOD_US}", quota_us(cpus));
            write(&folder.join("cpu.max"), &value)?;
        }
        if let Some(bytes) = limits.memory_bytes.filter(|_| self.has("memory")) {
            write(&folder.join("memory.max"), &bytes.to_string())?;
            // Where there is no swap there is no such file, and nothing to be limited.
            let _ = write(&folder.join("memory.swap.max"), "0");
        }
        if let Some(processes) = limits.processes.filter(|_| self.has("pids")) {
            write(&folder.join("pids.max"), &processes.to_string())?;
        }
        Ok(())
    }

    fn account(&self, folder: &Path) -> Account {
        let memory = self.has("memory").then(|| MemoryFiles::version_two(folder));
        Account {
            cpu: Some(CpuFile::Two(folder.join("cpu.stat"))),
            memory,
            tasks: self.has("pids").then(|| folder.join("pids.current")),
        }
    }
}

impl Drop for Unified {
    fn drop(&mut self) {
        for controller in self.enabled.clone() {
            let _ = self.switch('-', controller);
        }
        if let Some(home) = &self.home {
            let _ = std::fs::write(self.folder.join("cgroup.procs"), "0");
            remove(home);
        }
    }
}

fn capability_of_one(controller: &str) -> Option<Capability> {
    match controller {
        "cpuset" => Some(Capability::CpuSet),
        "cpuacct" => Some(Capability::CpuTime),
        "cpu" => Some(Capability::CpuQuota),
        "memory" => Some(Capability::Memory),
        "pids" => Some(Capability::Processes),
        _ => None,
    }
}

fn limit_one(controller: &str, folder: &Path, limits: &ResourceLimits) -> Result<(), LimitError> {
    match controller {
        "cpuset" => {
            // A group of version 1 takes no process before it has memory nodes and CPUs.
            let nodes = folder.parent().map(|parent| parent.join("cpuset.mems"));
            let nodes = nodes.and_then(|file| std::fs::read_to_string(file).ok());
            write(
                &folder.join("cpuset.mems"),
                nodes.unwrap_or_default().trim(),
            )?;
            write(&folder.join("cpuset.cpus"), &list(&limits.cpus))
        }
        "cpu" => {
            let quota = limits.cpu_time.map_or(-1, |cpus| i64::from(quota_us(cpus)));
            write(
                &folder.join("cpu.cfs_period_us"),
                &CPU_PERIOD_US.to_string(),
            )?;
            write(&folder.join("cpu.cfs_quota_us"), &quota.to_string())
        }
        "memory" => limits.memory_bytes.map_or(Ok(()), |bytes| {
            let bytes = bytes.to_string();
            write(&folder.join("memory.limit_in_bytes"), &bytes)?;
            // Not there where swap is not accounted for.
            let _ = write(&folder.join("memory.memsw.limit_in_bytes"), &bytes);
            Ok(())
        }),
        "pids" => limits.processes.map_or(Ok(()), |processes| {
            write(&folder.join("pids.max"), &processes.to_string())
        }),
        _ => Ok(()),
    }
}

fn account_one(controller: &str, folder: &Path, account: &mut Account) {
    match controller {
        "cpuacct" => account.cpu = Some(CpuFile::One(folder.join("cpuacct.usage"))),
        "memory" => account.memory = Some(MemoryFiles::version_one(folder)),
        "pids" => account.tasks = Some(folder.join("pids.current")),
        _ => {}
    }
}

/// Controllers of version 1 that are mounted together share one folder.
fn add_folder(group: &mut ControlGroup, parent: &Path, name: &str) -> Result<PathBuf, LimitError> {
    let folder = parent.join(name);
    if !group.folders.contains(&folder) {
        std::fs::create_dir(&folder).map_err(|reason| LimitError {
            file: folder.clone(),
            reason,
        })?;
        group.folders.push(folder.clone());
    }
    Ok(folder)
}

/// Whether groups can be made below `folder` and processes moved into them.
fn is_usable(folder: &Path) -> bool {
    remove_abandoned(folder);
    let trial = folder.join(next_name());
    if std::fs::create_dir(&trial).is_err() {
        return false;
    }
    let mut options = std::fs::OpenOptions::new();
    let may_move = |folder: &Path| {
        options
            .write(true)
            .open(folder.join("cgroup.procs"))
            .is_ok()
    };
    // Moving needs the right to write at both ends.
    let usable = [folder, &trial].into_iter().all(may_move);
    remove(&trial);
    usable
}

/// Groups of labs that are no more. Their processes are killed: nobody else will.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        let lab = entry.file_name().to_str().and_then(lab_of_name);
        if lab.is_some_and(|lab| !Path::new("/proc").join(lab.to_string()).exists()) {
            let group = entry.path();
            let tree = crate::process::tree::ProcessTree::of_group(group.clone());
            let _ = tree.kill();
            let _ = std::fs::remove_dir(group);
        }
    }
}

fn lab_of_name(name: &str) -> Option<u32> {
    let (process, _) = name
        .strip_prefix(PREFIX)?
        .strip_prefix('.')?
        .split_once('.')?;
    process.parse().ok()
}

fn next_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}.{}.{number}", std::process::id())
}

fn words_of(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn list(cpus: &[usize]) -> String {
    let words: Vec<String> = cpus.iter().map(usize::to_string).collect();
    words.join(",")
}

/// At least a hundredth of a CPU: the kernel refuses less than a millisecond a period.
fn quota_us(cpus: f64) -> u32 {
    let period = f64::from(CPU_PERIOD_US);
    (cpus * period).clamp(period / 100.0, f64::from(u32::MAX)) as u32
}

fn write(file: &Path, value: &str) -> Result<(), LimitError> {
    std::fs::write(file, value).map_err(|reason| LimitError {
        file: file.to_owned(),
        reason,
    })
}

impl fmt::Display for LimitError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LimitError { file, reason } = self;
        write!(out, "the limit {} cannot be set: {reason}", file.display())
    }
}

impl std::error::Error for LimitError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_a_lab_are_told_by_their_name() {
        assert_eq!(lab_of_name("bookend.17.3"), Some(17));
        assert_eq!(lab_of_name("bookend.17.3.home"), Some(17));
        assert_eq!(lab_of_name("bookend"), None);
        assert_eq!(lab_of_name("bookend.x.3"), None);
        assert_eq!(lab_of_name("bookends.17.3"), None);
        assert!(lab_of_name(&next_name()).is_some());
    }

    fn limits() -> ResourceLimits {
        ResourceLimits {
            cpus: vec![0, 2],
            cpu_time: Some(0.5),
            memory_bytes: Some(1 << 29),
            processes: Some(100),
        }
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn said(folder: &Path, file: &str) -> String {
        std::fs::read_to_string(folder.join(file)).unwrap()
    }

    #[test]
    fn version_two_is_told_limits_in_its_own_words() {
        let folder = folder();
        let unified = Unified {
            folder: folder.path().to_owned(),
            controllers: WANTED.to_vec(),
            enabled: vec![],
            home: None,
        };
        unified.limit(folder.path(), &limits()).unwrap();
        assert_eq!(said(folder.path(), "cpuset.cpus"), "0,2");
        assert_eq!(said(folder.path(), "cpu.max"), "50000 100000");
        assert_eq!(said(folder.path(), "memory.max"), "536870912");
        assert_eq!(said(folder.path(), "pids.max"), "100");
        let account = unified.account(folder.path());
        assert_eq!(
            account.cpu,
            Some(CpuFile::Two(folder.path().join("cpu.stat")))
        );
        assert!(account.memory.is_some() && account.tasks.is_some());
    }

    #[test]
    fn version_two_without_controllers_still_tells_cpu_time() {
        let folder = folder();
        let unified = Unified {
            folder: folder.path().to_owned(),
            controllers: vec![],
            enabled: vec![],
            home: None,
        };
        unified.limit(folder.path(), &limits()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let account = unified.account(folder.path());
        assert!(account.cpu.is_some() && account.memory.is_none());
    }

    #[test]
    fn version_one_is_told_limits_in_its_own_words() {
        let parent = folder();
        std::fs::write(parent.path().join("cpuset.mems"), "0-1\n").unwrap();
        let folder = parent.path().join("group");
        std::fs::create_dir(&folder).unwrap();
        let mut account = Account::default();
        for controller in ["cpuset", "cpu", "cpuacct", "memory", "pids"] {
            limit_one(controller, &folder, &limits()).unwrap();
            account_one(controller, &folder, &mut account);
        }
        assert_eq!(said(&folder, "cpuset.mems"), "0-1");
        assert_eq!(said(&folder, "cpuset.cpus"), "0,2");
        assert_eq!(said(&folder, "cpu.cfs_quota_us"), "50000");
        assert_eq!(said(&folder, "memory.limit_in_bytes"), "536870912");
        assert_eq!(said(&folder, "pids.max"), "100");
        assert_eq!(
            account.cpu,
            Some(CpuFile::One(folder.join("cpuacct.usage")))
        );
    }

    #[test]
    fn a_limit_that_cannot_be_set_names_its_file() {
        let error = limit_one("pids", Path::new("/nowhere"), &limits()).unwrap_err();
        assert!(error.to_string().contains("/nowhere/pids.max"), "{error}");
    }

    #[test]
    fn cpu_time_is_rationed_within_what_the_kernel_takes() {
        assert_eq!(quota_us(1.5), 150_000);
        assert_eq!(quota_us(0.0), 1_000);
        assert_eq!(quota_us(f64::MAX), u32::MAX);
    }

    #[test]
    fn a_group_limits_what_it_can_and_is_gone_afterwards() {
        let groups = ControlGroups::prepare();
        let limits = ResourceLimits {
            cpus: vec![],
            cpu_time: None,
            memory_bytes: Some(64 << 20),
            processes: Some(50),
        };
        let Some(group) = groups.create(&limits).unwrap() else {
            assert_eq!(groups.capabilities(), &Capabilities::default());
            return;
        };
        let folders = group.folders();
        assert!(folders.iter().all(|folder| folder.is_dir()));
        assert_eq!(group.account().cpu_ns(), Some(0));
        drop(group);
        assert!(folders.iter().all(|folder| !folder.exists()));
    }

    #[test]
    fn without_groups_nothing_is_made_and_the_report_says_affinity_alone() {
        let groups = ControlGroups::none();
        assert!(groups.create(&ResourceLimits::default()).unwrap().is_none());
        assert!(groups.capabilities().to_string().contains("affinity alone"));
    }
}
