//! What the kernel's control groups account for in a process tree: CPU time, memory, tasks.

use crate::key_values::number;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::PathBuf;

/// The files in which the kernel keeps the account of one tree. What is `None` is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// CPU time.
    pub cpu: Option<CpuFile>,
    /// The folder and the files of the memory controller.
    pub memory: Option<MemoryFiles>,
    /// `pids.current`: processes and threads.
    pub tasks: Option<PathBuf>,
}

/// Where CPU time stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuFile {
    /// `cpuacct.usage`, nanoseconds.
    One(PathBuf),
    /// `cpu.stat`, whose `usage_usec` is in microseconds.
    Two(PathBuf),
}

/// Where memory stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryFiles {
    /// What is charged now, bytes.
    pub usage: PathBuf,
    /// The largest charge; written to, it starts anew (version 2: since Linux 6.12).
    pub peak: PathBuf,
    /// Of what kind the charge is.
    pub stat: PathBuf,
    /// The field of `stat` with file pages that are not in use and can be freed at once.
    pub inactive_file: &'static str,
}

impl Account {
    /// CPU time of the tree since its start, ended threads included, nanoseconds.
    pub fn cpu_ns(&self) -> Option<u64> {
        match self.cpu.as_ref()? {
            CpuFile::One(file) => read_number(file),
            CpuFile::Two(file) => {
                let text = std::fs::read_to_string(file).ok()?;
                number(&text, "usage_usec").map(|microseconds| microseconds * 1000)
            }
        }
    }

    /// Processes and threads now.
    pub fn tasks(&self) -> Option<u32> {
        read_number(self.tasks.as_ref()?)?.try_into().ok()
    }

    /// Memory of the tree now, without idle file pages, bytes.
    pub fn memory_bytes(&self) -> Option<u64> {
        let files = self.memory.as_ref()?;
        Some(read_number(&files.usage)?.saturating_sub(files.inactive_file_bytes()))
    }

    /// Begins to keep the peak anew, where the kernel can.
    pub fn begin_peak(&self) -> Option<PeakCounter> {
        let files = self.memory.clone()?;
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).open(&files.peak).ok()?;
        file.write_all(b"0").ok()?;
        Some(PeakCounter { file, files })
    }
}

impl MemoryFiles {
    /// The files of version 1 in `folder`.
    pub fn version_one(folder: &std::path::Path) -> MemoryFiles {
        MemoryFiles {
            usage: folder.join("memory.usage_in_bytes"),
            peak: folder.join("memory.max_usage_in_bytes"),
            stat: folder.join("memory.stat"),
            inactive_file: "total_inactive_file",
        }
    }

    /// The files of version 2 in `folder`.
    pub fn version_two(folder: &std::path::Path) -> MemoryFiles {
        MemoryFiles {
            usage: folder.join("memory.current"),
            peak: folder.join("memory.peak"),
            stat: folder.join("memory.stat"),
            inactive_file: "inactive_file",
        }
    }

    fn inactive_file_bytes(&self) -> u64 {
        let text = std::fs::read_to_string(&self.stat).unwrap_or_default();
        number(&text, self.inactive_file).unwrap_or(0)
    }
}

/// The kernel's own record of the largest charge since a moment.
#[derive(Debug)]
pub struct PeakCounter {
    /// In version 2 the record belongs to the open file, so it stays open.
    file: File,
    files: MemoryFiles,
}

impl PeakCounter {
    /// The largest charge since the beginning without the file pages that are idle now, bytes.
    pub fn bytes(&mut self) -> Option<u64> {
        let mut text = String::new();
        self.file.rewind().ok()?;
        self.file.read_to_string(&mut text).ok()?;
        let peak: u64 = text.trim().parse().ok()?;
        Some(peak.saturating_sub(self.files.inactive_file_bytes()))
    }
}

fn read_number(file: &PathBuf) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU_STAT: &str = "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n";

    #[test]
    fn an_account_that_is_not_kept_tells_nothing() {
        let account = Account::default();
        assert_eq!(account.cpu_ns(), None);
        assert_eq!(account.memory_bytes(), None);
        assert_eq!(account.tasks(), None);
        assert!(account.begin_peak().is_none());
    }

    #[test]
    fn memory_is_told_without_idle_file_pages() {
        let folder = std::env::temp_dir().join(format!("bookend-account-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("memory.current", "1000\n");
        write("memory.peak", "5000\n");
        write("memory.stat", "anon 10\ninactive_file 300\n");
        write("cpu.stat", CPU_STAT);
        let account = Account {
            cpu: Some(CpuFile::Two(folder.join("cpu.stat"))),
            memory: Some(MemoryFiles::version_two(&folder)),
            tasks: None,
        };
        assert_eq!(account.memory_bytes(), Some(700));
        assert_eq!(account.cpu_ns(), Some(1_234_567_000));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
