//! What the kernel's control groups give this process: the CPU time that Docker and Kubernetes
//! ration.

use std::fs;
use std::path::Path;

/// CPUs that this process gets at most; `None` where nothing rations them.
pub fn of_this_process() -> Option<f64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    least(Path::new("/sys/fs/cgroup"), &groups)
}

/// The least that one of `groups`, the text of `/proc/self/cgroup`, gives.
fn least(mounts: &Path, groups: &str) -> Option<f64> {
    // hierarchy-ID:controller-list:path; the path may hold colons, the rest does not.
    let lines = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let quotas = lines.flat_map(|(controllers, path)| {
        let is_one = controllers.split(',').any(|controller| controller == "cpu");
        let mount = if is_one { mounts.join("cpu") } else { mounts.to_owned() };
        let is_rationed = is_one || controllers.is_empty();
        // In a container the group's path can be that of the host, of which nothing but the
        // container's own group is mounted: the last of the ancestors.
        Path::new(path).ancestors().filter(move |_| is_rationed).filter_map(move |group| {
            let folder = mount.join(group.strip_prefix("/").ok()?);
            if is_one { version_one(&folder) } else { version_two(&folder) }
        })
    });
    quotas.reduce(f64::min)
}

/// `50000 100000`, or `max 100000`.
fn version_two(folder: &Path) -> Option<f64> {
    let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
}

/// Microseconds, or -1 where there is no quota.
fn version_one(folder: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<f64>().ok();
    let quota = read("cpu.cfs_quota_us").filter(|quota| *quota > 0.0)?;
    Some(quota / read("cpu.cfs_period_us")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(files: &[(&str, &str)]) -> tempfile::TempDir {
        let mounts = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = mounts.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        mounts
    }

    #[test]
    fn the_least_of_all_groups_above_counts() {
        let files = [("a/cpu.max", "150000 100000\n"), ("a/b/cpu.max", "max 100000\n")];
        let mounts = mounted(&files);
        assert_eq!(least(mounts.path(), "0::/a/b/c\n"), Some(1.5));
        assert_eq!(least(mounts.path(), "0::/b\n"), None);
        fs::write(mounts.path().join("a/b/cpu.max"), "10000 100000\n").unwrap();
        assert_eq!(least(mounts.path(), "0::/a/b/c\n"), Some(0.1));
    }

    #[test]
    fn a_container_that_sees_its_own_group_alone_is_rationed_by_it() {
        let mounts = mounted(&[("cpu.max", "50000 100000\n")]);
        assert_eq!(least(mounts.path(), "0::/docker/8f2c\n"), Some(0.5));
    }

    #[test]
    fn groups_of_version_one_ration_by_their_own_files() {
        let files =
            |quota| [("cpu/a/cpu.cfs_quota_us", quota), ("cpu/a/cpu.cfs_period_us", "100000\n")];
        let groups = "9:name=systemd:/a\n2:cpu,cpuacct:/a\n0::/\n";
        assert_eq!(least(mounted(&files("25000\n")).path(), groups), Some(0.25));
        assert_eq!(least(mounted(&files("-1\n")).path(), groups), None);
        assert_eq!(least(mounted(&files("25000\n")).path(), "9:name=systemd:/a\n"), None);
    }
}
