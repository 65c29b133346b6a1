//! Making groups below the one that this process is in: which hierarchies allow it, and one group
//! for each tree in each of them.

use super::abandoned::{companion, new_lab, place_of, remove_abandoned};
use super::capability::{CONTROLLERS, Capabilities, Capability, CgroupVersion};
use super::discover::Hierarchies;
use super::group::{ControlGroup, LimitError, ResourceLimits, remove};
use super::version_one;
use super::version_two::Unified;
use crate::held_folder::HeldFolder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The place below which the groups of all trees of this lab are made.
#[derive(Debug, Default)]
pub struct ControlGroups {
    two: Option<Unified>,
    /// Usable controllers of version 1 and the folder of this process's group.
    one: Vec<(String, PathBuf)>,
    /// What the names of all groups begin with.
    lab: String,
    next: AtomicU64,
    /// One in each hierarchy; they go last.
    _companions: Vec<Companion>,
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
        let lab = new_lab();
        let mut companions: BTreeMap<PathBuf, Option<Companion>> = BTreeMap::new();
        let mut is_usable = |folder: &PathBuf| {
            let companion = companions.entry(folder.clone());
            companion.or_insert_with(|| usable(folder, &lab, &kill_members)).is_some()
        };
        // Controllers that are mounted together have one folder.
        let two = found.version_two.filter(&mut is_usable);
        let one = found.version_one.into_iter().filter(|(_, folder)| is_usable(folder)).collect();
        ControlGroups {
            two: two.map(|folder| Unified::prepare(&folder, &lab)),
            one,
            lab,
            next: AtomicU64::new(0),
            _companions: companions.into_values().flatten().collect(),
        }
    }

    /// Removes the groups of labs that have died, as [`ControlGroups::prepare`] does.
    pub fn remove_abandoned(kill_members: impl Fn(&Path)) {
        let found = Hierarchies::of_this_process();
        let of_one = found.version_one.into_iter().map(|(_, folder)| folder);
        let own: Vec<PathBuf> = found.version_two.into_iter().chain(of_one).collect();
        let folders: BTreeSet<&Path> =
            own.iter().flat_map(|folder| [folder, place_of(folder)]).collect();
        folders.iter().rev().for_each(|folder| remove_abandoned(folder, &kill_members));
    }

    /// Makes the groups of one tree: none where no hierarchy is usable.
    ///
    /// # Errors
    /// A limit cannot be set although the kernel said it could.
    pub fn create(&self, limits: &ResourceLimits) -> Result<ControlGroup, LimitError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}.{number}", self.lab);
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
        self.one
            .iter()
            .filter(move |(controller, _)| match controller.as_str() {
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

/// Makes the companion of the lab's groups below `folder`, if groups can be made there and
/// processes be moved into them.
fn usable(folder: &Path, lab: &str, kill_members: impl Fn(&Path)) -> Option<Companion> {
    remove_abandoned(folder, kill_members);
    let companion = Companion(companion(folder, lab)?);
    let mut options = std::fs::OpenOptions::new();
    let may_move = |folder: &Path| {
        let file = folder.join("cgroup.procs");
        options.write(true).open(file).is_ok()
    };
    // Moving needs the right to write at both ends.
    let usable = [folder, companion.0.path()].into_iter().all(may_move);
    usable.then_some(companion)
}

/// Says that this lab lives as long as it is locked.
#[derive(Debug)]
struct Companion(HeldFolder);

impl Drop for Companion {
    fn drop(&mut self) {
        remove(self.0.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
