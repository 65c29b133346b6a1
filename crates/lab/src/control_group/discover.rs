//! Where this process stands in the kernel's control group hierarchies, from
//! `/proc/self/cgroup` and `/proc/self/mountinfo`. Pure but for the two reads.

use std::path::{Path, PathBuf};

/// Where this process stands in every hierarchy that is mounted here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchies {
    /// The folder of this process's group in version 2, if it is mounted.
    pub version_two: Option<PathBuf>,
    /// The folder of this process's group for every controller of version 1 that is mounted.
    pub version_one: Vec<(String, PathBuf)>,
}

impl Hierarchies {
    /// Looks at this process. Nothing is found where `/proc` cannot be read.
    pub fn of_this_process() -> Hierarchies {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Hierarchies::parse(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
    }

    /// Reads the text of `/proc/self/cgroup` and of `/proc/self/mountinfo`.
    pub fn parse(cgroup: &str, mountinfo: &str) -> Hierarchies {
        let mounts: Vec<Mount> = mountinfo.lines().filter_map(Mount::parse).collect();
        let mut hierarchies = Hierarchies::default();
        // hierarchy-ID:controller-list:path; the path may hold colons, the rest does not.
        let fields = cgroup.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        for (controllers, path) in fields {
            hierarchies.place(controllers, path, &mounts);
        }
        hierarchies
    }

    fn place(&mut self, controllers: &str, path: &str, mounts: &[Mount]) {
        if controllers.is_empty() {
            let mount = mounts.iter().find(|mount| mount.controllers.is_none());
            self.version_two = mount.and_then(|mount| mount.folder(path));
            return;
        }
        for controller in controllers.split(',') {
            let mount = mounts.iter().find(|mount| mount.has(controller));
            if let Some(folder) = mount.and_then(|mount| mount.folder(path)) {
                self.version_one.push((controller.to_owned(), folder));
            }
        }
    }
}

/// One mounted hierarchy.
struct Mount {
    /// The group that is seen at `point`: not always the hierarchy's top, in containers.
    root: PathBuf,
    point: PathBuf,
    /// Of version 1; `None` in version 2.
    controllers: Option<Vec<String>>,
}

impl Mount {
    /// Fields as in proc_pid_mountinfo(5): the optional ones end with a lone hyphen.
    fn parse(line: &str) -> Option<Mount> {
        let (before, after) = line.split_once(" - ")?;
        let mut places = before.split(' ').skip(3);
        let mut filesystem = after.split(' ');
        let (root, point) = (places.next()?, places.next()?);
        let controllers = match filesystem.next()? {
            "cgroup2" => None,
            "cgroup" => {
                let options = filesystem.nth(1)?;
                Some(options.split(',').map(str::to_owned).collect())
            }
            _ => return None,
        };
        Some(Mount { root: unescape(root).into(), point: unescape(point).into(), controllers })
    }

    fn has(&self, controller: &str) -> bool {
        self.controllers.iter().flatten().any(|name| name == controller)
    }

    /// The folder in which the group `path` is seen; `None` when it lies outside the mount.
    fn folder(&self, path: &str) -> Option<PathBuf> {
        let below = Path::new(path).strip_prefix(&self.root).ok()?;
        Some(self.point.join(below))
    }
}

/// The kernel writes blanks, tabs, line feeds and backslashes of paths as octal numbers.
fn unescape(field: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(field.to_owned(), |text, (code, meaning)| text.replace(code, meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURE_TWO: &str = "\
24 1 0:22 / /proc rw,nosuid shared:5 - proc proc rw
31 23 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
";

    const PURE_ONE: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
33 31 0:30 / /sys/fs/cgroup/memory rw shared:3 master:1 - cgroup cgroup rw,memory
34 31 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
";

    #[test]
    fn pure_version_two_has_one_folder() {
        let found = Hierarchies::parse("0::/user.slice/run-7.scope\n", PURE_TWO);
        let expected = Hierarchies {
            version_two: Some("/sys/fs/cgroup/user.slice/run-7.scope".into()),
            version_one: vec![],
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn version_one_has_a_folder_for_each_controller() {
        let cgroup = "5:memory:/jobs/a:b\n3:cpu,cpuacct:/\n1:name=systemd:/user\n7:pids:/x\n";
        let found = Hierarchies::parse(cgroup, PURE_ONE);
        assert_eq!(found.version_two, None);
        let folder = |controller| {
            Some(found.version_one.iter().find(|(name, _)| name == controller)?.1.clone())
        };
        assert_eq!(folder("memory"), Some("/sys/fs/cgroup/memory/jobs/a:b".into()));
        assert_eq!(folder("cpuacct"), Some("/sys/fs/cgroup/cpu,cpuacct/".into()));
        assert_eq!(folder("cpu"), folder("cpuacct"));
        assert_eq!(folder("pids"), None, "it is not mounted");
    }

    #[test]
    fn both_versions_may_stand_side_by_side() {
        let mounts =
            format!("{PURE_ONE}40 31 0:40 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n");
        let found = Hierarchies::parse("5:memory:/m\n0::/u\n", &mounts);
        assert_eq!(found.version_two, Some("/sys/fs/cgroup/unified/u".into()));
        assert_eq!(found.version_one, [("memory".to_owned(), "/sys/fs/cgroup/memory/m".into())]);
    }

    #[test]
    fn a_container_sees_its_own_group_at_the_mount_point() {
        let mounts = "50 40 0:27 /docker/17 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let found = Hierarchies::parse("0::/docker/17/inner\n", mounts);
        assert_eq!(found.version_two, Some("/sys/fs/cgroup/inner".into()));
        let outside = Hierarchies::parse("0::/elsewhere\n", mounts);
        assert_eq!(outside.version_two, None);
    }

    #[test]
    fn a_mount_point_with_blanks_is_unescaped() {
        let mounts = "50 40 0:27 / /a\\040b rw - cgroup2 cgroup rw\n";
        let found = Hierarchies::parse("0::/\n", mounts);
        assert_eq!(found.version_two, Some("/a b/".into()));
    }

    #[test]
    fn text_that_makes_no_sense_finds_nothing() {
        for (cgroup, mounts) in [("", ""), ("junk\n1:2", "junk - cgroup\n- \n"), ("0::/", "")] {
            assert_eq!(Hierarchies::parse(cgroup, mounts), Hierarchies::default());
        }
    }
}
