//! Groups of labs that have died, and how they are distinguished from those of labs that live.
//!
//! Every lab makes a group that it locks, the companion of all its others: `bookend.LAB.lab` next
//! to `bookend.LAB.NUMBER`. The lock says whether the lab lives, from whatever namespace of
//! processes one looks.

use super::group::{remove, switch};
use crate::held_folder::HeldFolder;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

const PREFIX: &str = "bookend.";

/// The end of the companion's name.
const COMPANION: &str = "lab";

/// The end of the name of the group into which a lab has moved itself.
pub const HOME: &str = "home";

/// What the name of an empty group says that a lab has switched on: it is switched off again.
const SWITCHED_ON: &str = "on-";

/// The beginning of the names of all groups of a lab that begins now.
pub fn new_lab() -> String {
    let number = RandomState::new().build_hasher().finish();
    format!("{PREFIX}{}-{number:x}", std::process::id())
}

/// Makes the companion of a lab's groups below `folder`.
pub fn companion(folder: &Path, lab: &str) -> Option<HeldFolder> {
    HeldFolder::create(&folder.join(format!("{lab}.{COMPANION}"))).ok()
}

/// The group that says that `lab` has switched on a controller below `folder`.
pub fn note_of(folder: &Path, lab: &str, controller: &str) -> PathBuf {
    folder.join(format!("{lab}.{SWITCHED_ON}{controller}"))
}

/// Where a lab makes its groups that has moved into the group at `folder`, or has not moved.
pub fn place_of(folder: &Path) -> &Path {
    let name = folder.file_name().and_then(|name| name.to_str());
    let is_home = name.and_then(parts).is_some_and(|(_, rest)| rest == HOME);
    folder.parent().filter(|_| is_home).unwrap_or(folder)
}

/// Removes the groups of labs that have died, and what they had switched on. Their processes are
/// killed with `kill_members`: nothing else would end them.
pub fn remove_abandoned(folder: &Path, kill_members: impl Fn(&Path)) {
    let mut labs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        if let Some((lab, rest)) = parts(&name) {
            labs.entry(lab.to_owned()).or_default().push(rest.to_owned());
        }
    }
    let (living, dead): (Vec<_>, Vec<_>) = labs
        .into_iter()
        .map(|(lab, groups)| {
            let state = Abandoned::find(folder, &lab, &groups);
            (state, lab, groups)
        })
        .partition(|(state, ..)| state.is_none());
    for (_lock, lab, groups) in dead {
        let path = |group: &String| folder.join(format!("{PREFIX}{lab}.{group}"));
        let is_note = |group: &&String| group.starts_with(SWITCHED_ON);
        // Another lab may rely on what this one had switched on: the note stays until it is gone.
        for note in groups.iter().filter(is_note).filter(|_| living.is_empty()) {
            let _ = switch(folder, '-', note.trim_start_matches(SWITCHED_ON));
            let _ = std::fs::remove_dir(path(note));
        }
        for group in groups.iter().filter(|group| !is_note(group) && *group != COMPANION) {
            remove_whole(&path(group), &kill_members);
        }
        let _ = std::fs::remove_dir(path(&COMPANION.to_owned()));
    }
}

/// Removes a group and those that were made below it, with their processes.
fn remove_whole(group: &Path, kill_members: &impl Fn(&Path)) {
    let entries = std::fs::read_dir(group).into_iter().flatten().filter_map(Result::ok);
    for below in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_whole(&below.path(), kill_members);
    }
    kill_members(group);
    remove(group);
}

/// A lab that has died; its companion is held, so that nobody else clears it away at once.
struct Abandoned {
    _companion: Option<HeldFolder>,
}

impl Abandoned {
    fn find(folder: &Path, lab: &str, groups: &[String]) -> Option<Abandoned> {
        if let Ok(process) = lab.parse::<u32>() {
            // Labs of before had no companion, only the number of a process.
            let lives = Path::new("/proc").join(process.to_string()).exists();
            return (!lives).then_some(Abandoned { _companion: None });
        }
        if !groups.iter().any(|group| group == COMPANION) {
            return Some(Abandoned { _companion: None });
        }
        let companion = folder.join(format!("{PREFIX}{lab}.{COMPANION}"));
        let held = HeldFolder::claim(&companion);
        held.map(|held| Abandoned { _companion: Some(held) })
    }
}

/// The lab and the rest of a group's name.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (lab, rest) = name.strip_prefix(PREFIX)?.split_once('.')?;
    let process = lab.split_once('-').map_or(lab, |(process, _)| process);
    process.parse::<u32>().is_ok().then_some((lab, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::fs;

    #[test]
    fn only_groups_of_a_lab_are_told_by_their_name() {
        assert_eq!(parts("bookend.17-ab.3"), Some(("17-ab", "3")));
        assert_eq!(parts("bookend.17.3.home"), Some(("17", "3.home")));
        for other in ["bookend", "bookend.x.3", "bookends.17.3", "bookend.17"] {
            assert_eq!(parts(other), None, "{other}");
        }
        assert!(parts(&format!("{}.0", new_lab())).is_some());
    }

    #[test]
    fn a_lab_that_has_moved_makes_its_groups_where_it_was() {
        let home = format!("/a/{}.{HOME}", new_lab());
        assert_eq!(place_of(Path::new(&home)), Path::new("/a"));
        for other in ["/a", "/a/home", "/a/bookend.1-b.0", "/"] {
            assert_eq!(place_of(Path::new(other)), Path::new(other));
        }
    }

    /// A folder that stands in for a group, with the groups of a lab.
    fn lab_below(folder: &Path, lab: &str) -> Option<HeldFolder> {
        let held = companion(folder, lab);
        fs::create_dir(folder.join(format!("{lab}.0"))).unwrap();
        fs::create_dir(note_of(folder, lab, "memory")).unwrap();
        held
    }

    fn clear(folder: &Path) -> Vec<PathBuf> {
        let killed = RefCell::new(Vec::new());
        remove_abandoned(folder, |group| killed.borrow_mut().push(group.to_owned()));
        killed.into_inner()
    }

    #[test]
    fn a_living_lab_keeps_its_groups_whoever_its_process_seems_to_be() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        // No process has this number here: as if the lab lived in another namespace.
        let held = lab_below(folder, "bookend.4294967295-a");
        assert_eq!(clear(folder), Vec::<PathBuf>::new());
        assert!(folder.join("bookend.4294967295-a.0").is_dir());
        drop(held);
        assert_eq!(clear(folder), [folder.join("bookend.4294967295-a.0")]);
        assert_eq!(fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap(), "-memory");
        let left = fs::read_dir(folder).unwrap().count();
        assert_eq!(left, 1, "only the file that stands in for the kernel's");
    }

    #[test]
    fn groups_below_that_of_a_dead_lab_go_with_it() {
        let home = tempfile::tempdir().unwrap();
        let group = home.path().join("bookend.1-dead.0");
        let below = group.join("of-a-container");
        fs::create_dir_all(below.join("and-below")).unwrap();
        assert_eq!(clear(home.path()), [below.join("and-below"), below, group]);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_living_lab_may_rely_on_stays_switched_on() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path();
        drop(lab_below(folder, "bookend.1-dead"));
        let living = lab_below(folder, "bookend.1-living");
        assert_eq!(clear(folder), [folder.join("bookend.1-dead.0")]);
        assert!(!folder.join("cgroup.subtree_control").exists());
        drop(living);
        clear(folder);
        assert!(folder.join("cgroup.subtree_control").exists());
        assert!(!note_of(folder, "bookend.1-dead", "memory").exists());
    }

    #[test]
    fn a_lab_of_before_is_known_by_its_process() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join(format!("bookend.{}.0", std::process::id()));
        let dead = home.path().join("bookend.4294967295.0");
        fs::create_dir(&own).unwrap();
        fs::create_dir(&dead).unwrap();
        assert_eq!(clear(home.path()), [dead]);
        assert!(own.is_dir());
    }
}
