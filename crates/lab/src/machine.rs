//! Reads the facts about this machine that a reader needs to judge a figure.

mod hardware;

use crate::key_values::{kilobytes, value};
use bookend_contract::machine::MachineFacts;
use std::path::Path;

/// Stands in for what the system does not say.
const UNKNOWN: &str = "unknown";

/// Asks the running system. What it does not say is `unknown`, 0 or `None`: a report with
/// gaps is better than none.
pub fn this_machine() -> MachineFacts {
    read(Path::new("/"))
}

/// The same from a tree of files under `root`.
pub fn read(root: &Path) -> MachineFacts {
    let text = |file: &str| std::fs::read_to_string(root.join(file)).unwrap_or_default();
    let processors = text("proc/cpuinfo");
    let governor = text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    MachineFacts {
        os: os_name(&text("etc/os-release")),
        kernel: kernel_name(&text("proc/sys/kernel/ostype"), &text("proc/sys/kernel/osrelease")),
        cpu_model: cpu_model(&processors),
        cpus: cpu_count(&text("sys/devices/system/cpu/online"))
            .unwrap_or_else(|| listed_processors(&processors)),
        memory_bytes: kilobytes(&text("proc/meminfo"), "MemTotal"),
        governor: Some(governor.trim().to_owned()).filter(|name| !name.is_empty()),
        virtual_machine: has_hypervisor(&processors),
        hardware: Some(hardware::read(root, &processors)),
    }
}

fn os_name(os_release: &str) -> String {
    let name = |key| value(os_release, key, '=');
    let name = name("PRETTY_NAME").or_else(|| name("NAME"));
    known(name.map(|name| name.trim_matches('"').to_owned()))
}

fn kernel_name(kind: &str, release: &str) -> String {
    match (kind.trim(), release.trim()) {
        ("", _) | (_, "") => UNKNOWN.to_owned(),
        (kind, release) => format!("{kind} {release}"),
    }
}

fn cpu_model(processors: &str) -> String {
    known(value(processors, "model name", ':').map(str::to_owned))
}

/// Counts a list such as `0-3,6`.
fn cpu_count(online: &str) -> Option<u32> {
    let mut count = 0;
    for part in online.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count += last.checked_sub(first)?.checked_add(1)?;
    }
    Some(count)
}

fn listed_processors(processors: &str) -> u32 {
    processors.lines().filter(|line| line.starts_with("processor")).count() as u32
}

fn has_hypervisor(processors: &str) -> bool {
    let flags = value(processors, "flags", ':').unwrap_or_default();
    flags.split_whitespace().any(|flag| flag == "hypervisor")
}

fn known(value: Option<String>) -> String {
    value.filter(|value| !value.is_empty()).unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn lay_out(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            std::fs::write(file, text).expect("written");
        }
        root
    }

    #[test]
    fn the_facts_are_printed_as_reports_print_them() {
        let root = lay_out(&[
            ("etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.5 LTS\"\n"),
            ("proc/sys/kernel/ostype", "Linux\n"),
            ("proc/sys/kernel/osrelease", "5.15.0-125-generic\n"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: AMD EPYC 9754 128-Core Processor\n\
                 flags\t\t: fpu hypervisor lahf_lm\n",
            ),
            ("proc/meminfo", "MemTotal:       33554432 kB\nMemFree: 1 kB\n"),
            ("sys/devices/system/cpu/online", "0-14,16\n"),
        ]);
        assert_eq!(
            read(root.path()).to_string(),
            "OS: Ubuntu 22.04.5 LTS\nKernel: Linux 5.15.0-125-generic\n\
             CPU: AMD EPYC 9754 128-Core Processor, 16 CPUs (virtual machine)\nMemory: 32 GiB\n\
             CPU id: not shown\nSystem: not shown\nHypervisor: not shown\n\
             SMT: not shown, turbo: not shown\n"
        );
    }

    #[test]
    fn a_real_machine_shows_its_governor() {
        let root = lay_out(&[
            ("proc/cpuinfo", "processor : 0\nprocessor : 1\nflags : fpu nohypervisor\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ]);
        let facts = read(root.path());
        assert_eq!(facts.governor.as_deref(), Some("performance"));
        assert_eq!(facts.cpus, 2);
        assert!(!facts.virtual_machine);
    }

    #[test]
    fn what_the_system_does_not_say_is_unknown() {
        let root = lay_out(&[("sys/devices/system/cpu/online", "5-2,x")]);
        let facts = read(root.path());
        assert_eq!((facts.os.as_str(), facts.kernel.as_str()), (UNKNOWN, UNKNOWN));
        assert_eq!((facts.cpus, facts.memory_bytes), (0, 0));
    }
}
