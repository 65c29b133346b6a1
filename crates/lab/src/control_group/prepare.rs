//! Making groups below the one that this process is in: which hierarchies allow it, and one group
//! for each tree in each of them.

use super::capability::{CONTROLLERS, Capabilities, Capability, CgroupVersion};
use super::discover::Hierarchies;
use super::group::{ControlGroup, LimitError, ResourceLimits, remove};
use super::version_one;
use super::version_two::Unified;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Groups are called `bookend.PROCESS.NUMBER`, so that those of a lab that died can be recognised.
const PREFIX: &str = "bookend";

/// The place below which the groups of all trees of this lab are made.
#[derive(Debug, Default)]
pub struct ControlGroups {
    two: Option<Unified>,
    /// Usable controllers of version 1 and the folder of this process's group.
    one: Vec<(String, PathBuf)>,
}

impl ControlGroups {
    /// No groups at all: affinity alone.
    pub fn none() -> ControlGroups {
        ControlGroups::default()
    }

    /// Finds out what this process may do below its own groups, and does what must be done once.
    /// Groups that a lab left behind when it died are emptied with `kill_members` and removed.
    pub fn prepare(kill_members: impl Fn(&Path)) -> ControlGroups {
        let found = Hierarchies::of_this_process();
        let two = found.version_two;
        let two = two.filter(|folder| is_usable(folder, &kill_members));
        let home_name = format!("{}.home", next_name());
        let one = found.version_one.into_iter();
        ControlGroups {
            two: two.map(|folder| Unified::prepare(&folder, &home_name)),
            one: one.filter(|(_, folder)| is_usable(folder, &kill_members)).collect(),
        }
    }

    /// Makes the groups of one tree: none where no hierarchy is usable.
    ///
    /// # Errors
    /// A limit cannot be set although the kernel said it could.
    pub fn create(&self, limits: &ResourceLimits) -> Result<ControlGroup, LimitError> {
        let name = next_name();
        let mut group = ControlGroup::default();
        if let Some(two) = &self.two {
            let folder = group.add_folder(&two.folder, &name)?;
            two.limit(&folder, limits)?;
            group.account = two.account(&folder);
        }
        for (controller, parent) in self.controllers_of_one(limits) {
            let folder = group.add_folder(parent, &name)?;
            version_one::limit(controller, &folder, limits)?;
            version_one::add_account(controller, &folder, &mut group.account);
        }
        Ok(group)
    }

    /// What can be done, and by which version. Of two that can do the same, version 2 does it.
    pub fn capabilities(&self) -> Capabilities {
        let mut found = Capabilities::default();
        for capability in self.two.iter().flat_map(Unified::capabilities) {
            found.add(capability, CgroupVersion::Two);
        }
        let has_one = |name: &str| self.one.iter().any(|(controller, _)| controller == name);
        for (_, capability) in CONTROLLERS.iter().filter(|(name, _)| has_one(name)) {
            found.add(*capability, CgroupVersion::One);
        }
        if !self.one.is_empty() {
            found.add(Capability::Kill, CgroupVersion::One);
        }
        if self.two.is_some() {
            // Every group of version 2 counts its CPU time, with or without the controller.
            found.add(Capability::CpuTime, CgroupVersion::Two);
        }
        found
    }

    /// The controllers of version 1 that give what version 2 does not. CPU time is limited only
    /// where it is asked for: a group of its own in the scheduler changes what is measured.
    fn controllers_of_one(&self, limits: &ResourceLimits) -> impl Iterator<Item = (&str, &Path)> {
        let has_quota = limits.cpu_time.is_some() && !self.two_has("cpu");
        let has_kill = self.two.is_some();
        let all = self.one.iter();
        all.filter(move |(controller, _)| match controller.as_str() {
            "cpuset" => !limits.cpus.is_empty() && !self.two_has("cpuset"),
            "cpuacct" => !self.two_has("cpu"),
            "cpu" => has_quota,
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

/// Whether groups can be made below `folder` and processes moved into them.
fn is_usable(folder: &Path, kill_members: impl Fn(&Path)) -> bool {
    remove_abandoned(folder, kill_members);
    let trial = folder.join(next_name());
    if std::fs::create_dir(&trial).is_err() {
        return false;
    }
    let mut options = std::fs::OpenOptions::new();
    let may_move = |folder: &Path| {
        let file = folder.join("cgroup.procs");
        options.write(true).open(file).is_ok()
    };
    // Moving needs the right to write at both ends.
    let usable = [folder, &trial].into_iter().all(may_move);
    remove(&trial);
    usable
}

/// Removes the groups of labs that have died. Their processes are killed: nothing else would end
/// them.
fn remove_abandoned(folder: &Path, kill_members: impl Fn(&Path)) {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    for entry in entries.filter_map(Result::ok) {
        let lab = entry.file_name().to_str().and_then(lab_of_name);
        if lab.is_some_and(|lab| !Path::new("/proc").join(lab.to_string()).exists()) {
            kill_members(&entry.path());
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

fn lab_of_name(name: &str) -> Option<u32> {
    let (process, _) = name.strip_prefix(PREFIX)?.strip_prefix('.')?.split_once('.')?;
    process.parse().ok()
}

fn next_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}.{}.{number}", std::process::id())
}

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

    #[test]
    fn a_group_limits_what_it_can_and_is_gone_afterwards() {
        let groups = ControlGroups::prepare(|_| {});
        let limits = ResourceLimits {
            cpus: vec![],
            cpu_time: None,
            memory_bytes: Some(64 << 20),
            processes: Some(50),
        };
        let group = groups.create(&limits).unwrap();
        let folders = group.folders.clone();
        if folders.is_empty() {
            assert_eq!(groups.capabilities(), Capabilities::default());
            return;
        }
        assert!(folders.iter().all(|folder| folder.is_dir()));
        assert_eq!(group.account.cpu_ns(), Some(0));
        drop(group);
        assert!(folders.iter().all(|folder| !folder.exists()));
    }

    #[test]
    fn without_groups_nothing_is_made_and_the_report_says_affinity_alone() {
        let groups = ControlGroups::none();
        assert!(groups.create(&ResourceLimits::default()).unwrap().folders.is_empty());
        assert!(groups.capabilities().to_string().contains("affinity alone"));
    }
}
