//! Version 1: one hierarchy for each controller, mounted alone or with others.

use super::account::{Account, CpuFile, MemoryFiles};
use super::group::{CPU_PERIOD_US, LimitError, ResourceLimits, quota_us, write};
use crate::cpu::list;
use std::path::Path;

/// Sets what `controller` can limit of the group at `folder`.
pub fn limit(controller: &str, folder: &Path, limits: &ResourceLimits) -> Result<(), LimitError> {
    match controller {
        "cpuset" => limit_cpus(folder, &limits.cpus),
        "cpu" => limit_cpu_time(folder, limits.cpu_time),
        "memory" => limits.memory_bytes.map_or(Ok(()), |bytes| limit_memory(folder, bytes)),
        "pids" => limits.processes.map_or(Ok(()), |most| write(folder, "pids.max", most)),
        _ => Ok(()),
    }
}

/// A group of version 1 takes no process before it has memory nodes and CPUs, so it gets the nodes
/// of its parent.
fn limit_cpus(folder: &Path, cpus: &[usize]) -> Result<(), LimitError> {
    let nodes = folder
        .parent()
        .map(|parent| parent.join("cpuset.mems"))
        .and_then(|file| std::fs::read_to_string(file).ok())
        .unwrap_or_default();
    write(folder, "cpuset.mems", nodes.trim())?;
    write(folder, "cpuset.cpus", list(cpus))
}

fn limit_cpu_time(folder: &Path, cpus: Option<f64>) -> Result<(), LimitError> {
    // -1 is "no limit".
    let quota = cpus.map_or(-1, |cpus| i64::from(quota_us(cpus)));
    write(folder, "cpu.cfs_period_us", CPU_PERIOD_US)?;
    write(folder, "cpu.cfs_quota_us", quota)
}

fn limit_memory(folder: &Path, bytes: u64) -> Result<(), LimitError> {
    write(folder, "memory.limit_in_bytes", bytes)?;
    // The file is not there where swap is not accounted for.
    let _ = write(folder, "memory.memsw.limit_in_bytes", bytes);
    Ok(())
}

/// Adds the files in which `controller` accounts for the group at `folder`.
pub fn add_account(controller: &str, folder: &Path, account: &mut Account) {
    match controller {
        "cpuacct" => account.cpu = Some(CpuFile::One(folder.join("cpuacct.usage"))),
        "memory" => account.memory = Some(MemoryFiles::version_one(folder)),
        "pids" => account.tasks = Some(folder.join("pids.current")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_one_is_told_limits_in_its_own_words() {
        let parent = tempfile::tempdir().unwrap();
        std::fs::write(parent.path().join("cpuset.mems"), "0-1\n").unwrap();
        let folder = parent.path().join("group");
        std::fs::create_dir(&folder).unwrap();
        let limits = ResourceLimits {
            cpus: vec![0, 2],
            cpu_time: Some(0.5),
            memory_bytes: Some(1 << 29),
            processes: Some(100),
        };
        let mut account = Account::default();
        for controller in ["cpuset", "cpu", "cpuacct", "memory", "pids"] {
            limit(controller, &folder, &limits).unwrap();
            add_account(controller, &folder, &mut account);
        }
        let written = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(written("cpuset.mems"), "0-1");
        assert_eq!(written("cpuset.cpus"), "0,2");
        assert_eq!(written("cpu.cfs_quota_us"), "50000");
        assert_eq!(written("memory.limit_in_bytes"), "536870912");
        assert_eq!(written("pids.max"), "100");
        assert_eq!(account.cpu, Some(CpuFile::One(folder.join("cpuacct.usage"))));
    }

    #[test]
    fn a_limit_that_cannot_be_set_names_its_file() {
        let limits = ResourceLimits { processes: Some(100), ..ResourceLimits::default() };
        let error = limit("pids", Path::new("/nowhere"), &limits).unwrap_err();
        assert!(error.to_string().contains("/nowhere/pids.max"), "{error}");
    }
}
