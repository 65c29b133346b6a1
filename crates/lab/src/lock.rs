//! One lab at a time: a file that the kernel locks for a process (`flock`), and that says who holds
//! it. The kernel frees it when the process ends, however it ends.

use crate::process::interrupt::Interrupt;
use bookend_contract::timestamp::Timestamp;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Between two tries of a process that waits.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// A lock, held until this is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

/// What a lock is for: it decides what is said to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockTarget {
    /// Measuring on this machine: a second lab would take the CPUs of the first.
    Machine,
    /// Writing this store: a run that is being written must not be resumed.
    Store(PathBuf),
}

/// The holder of a lock, as the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockHolder(String);

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("{target}: {holder}; wait for it, or let this one wait with --wait-for-lock")]
    Held {
        /// What they do.
        target: LockTarget,
        /// The holder.
        holder: LockHolder,
    },
    /// The user wants the lab to end.
    #[error("interrupted while waiting")]
    Interrupted,
    /// The file cannot be made, opened or locked.
    #[error("cannot lock {}: {}", .0.display(), .1)]
    Unusable(PathBuf, std::io::Error),
}

impl LockTarget {
    /// The file of the lock. That of the machine lies in the folder of temporary files, which all
    /// users share.
    pub fn file(&self) -> PathBuf {
        match self {
            LockTarget::Machine => std::env::temp_dir().join("bookend-lab.lock"),
            LockTarget::Store(store) => {
                let mut name = OsString::from(store);
                name.push(".lock");
                name.into()
            }
        }
    }
}

impl fmt::Display for LockTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockTarget::Machine => f.write_str("another lab measures on this machine"),
            LockTarget::Store(store) => {
                write!(f, "another lab writes its results into {}", store.display())
            }
        }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.0.lines().collect();
        match lines.as_slice() {
            [process, since, command] => write!(f, "`{command}`, process {process} since {since}"),
            _ => f.write_str("it has not said who it is"),
        }
    }
}

impl Lock {
    /// Takes the lock for `command`, or says who has it.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn take(target: &LockTarget, command: &str) -> Result<Lock, LockError> {
        let path = target.file();
        match try_take(&path) {
            Ok(Some(lock)) => Ok(lock.signed(command)),
            Ok(None) => {
                let (target, holder) = (target.clone(), LockHolder::read(&path));
                Err(LockError::Held { target, holder })
            }
            Err(error) => Err(LockError::Unusable(path, error)),
        }
    }

    /// As above, but waits until it is free. It calls `on_wait` once with the reason.
    ///
    /// # Errors
    /// See [`LockError`]; except [`LockError::Held`].
    pub fn wait(
        target: &LockTarget,
        command: &str,
        interrupt: &Interrupt,
        on_wait: &mut dyn FnMut(&str),
    ) -> Result<Lock, LockError> {
        let mut has_told = false;
        loop {
            match Lock::take(target, command) {
                Err(LockError::Held { target, holder }) => {
                    if !std::mem::replace(&mut has_told, true) {
                        on_wait(&format!("waiting: {target}: {holder}"));
                    }
                }
                other => return other,
            }
            if interrupt.is_raised() {
                return Err(LockError::Interrupted);
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }

    /// Removes the file of a lock that nobody holds, for its lab was killed.
    pub fn remove_abandoned(target: &LockTarget) {
        drop(try_take(&target.file()));
    }

    /// Others may read who it is. A disk that is full does not make the lock weaker.
    fn signed(mut self, command: &str) -> Lock {
        let since = Timestamp::from(SystemTime::now());
        let command = command.replace('\n', " ");
        let _ = self.file.set_len(0);
        let _ = write!(self.file, "{}\n{since}\n{command}\n", std::process::id());
        self
    }
}

impl LockHolder {
    fn read(path: &Path) -> LockHolder {
        let mut text = String::new();
        let file = File::open(path).and_then(|file| file.take(4096).read_to_string(&mut text));
        LockHolder(file.map(|_| text).unwrap_or_default())
    }
}

impl Drop for Lock {
    /// Whoever has opened the file meanwhile finds out that it is not there any more.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// `None`: somebody has it. A lock on a file that was removed meanwhile keeps nobody out.
fn try_take(path: &Path) -> std::io::Result<Option<Lock>> {
    loop {
        let file = open_shared(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let own = file.metadata()?;
        let is_same =
            |there: std::fs::Metadata| (there.dev(), there.ino()) == (own.dev(), own.ino());
        if std::fs::symlink_metadata(path).is_ok_and(is_same) {
            return Ok(Some(Lock { file, path: path.to_owned() }));
        }
    }
}

/// In a folder that all users write, the kernel refuses to create a file that is another user's, so
/// one that exists is opened without that.
fn open_shared(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match open(path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            let file = File::from(open(path, flags | OFlags::CREATE, Mode::from_raw_mode(0o600))?);
            // Other users lock it, too, whatever this one's umask is.
            let _ = file.set_permissions(PermissionsExt::from_mode(0o666));
            Ok(file)
        }
        opened => Ok(opened?.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, LockTarget) {
        let home = tempfile::tempdir().unwrap();
        let target = LockTarget::Store(home.path().join("a.db"));
        (home, target)
    }

    #[test]
    fn who_comes_second_is_told_who_was_first() {
        let (_home, target) = store();
        let first = Lock::take(&target, "bookend run a").unwrap();
        let refused = Lock::take(&target, "bookend run b").unwrap_err().to_string();
        let process = format!("`bookend run a`, process {} since 2", std::process::id());
        assert!(refused.starts_with("another lab writes its results into "), "{refused}");
        assert!(refused.contains(&process) && refused.contains("--wait-for-lock"), "{refused}");
        drop(first);
        assert!(!target.file().exists());
        Lock::take(&target, "bookend run b").unwrap();
    }

    #[test]
    fn the_file_of_a_lab_that_was_killed_keeps_nobody_out() {
        let (_home, target) = store();
        std::fs::write(target.file(), "17\n2026-01-01T00:00:00Z\nbookend run a\n").unwrap();
        let lock = Lock::take(&target, "bookend run b").unwrap();
        let text = std::fs::read_to_string(target.file()).unwrap();
        assert!(text.ends_with("\nbookend run b\n"), "{text}");
        drop(lock);
    }

    #[test]
    fn who_waits_says_so_once_and_gets_it_when_it_is_free() {
        let (_home, target) = store();
        let first = Lock::take(&target, "bookend run a").unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        let waiting = std::thread::spawn({
            let target = target.clone();
            move || {
                let mut on_wait = |text: &str| told.send(text.to_owned()).unwrap();
                Lock::wait(&target, "bookend run b", &Interrupt::new(), &mut on_wait).is_ok()
            }
        });
        let said = heard.recv().unwrap();
        assert!(said.starts_with("waiting: ") && said.contains("`bookend run a`"), "{said}");
        drop(first);
        assert!(waiting.join().unwrap());
        assert!(heard.recv().is_err(), "it is said once");
    }

    #[test]
    fn an_interrupt_ends_the_waiting() {
        let (_home, target) = store();
        let _first = Lock::take(&target, "bookend run a").unwrap();
        let interrupt = Interrupt::new();
        interrupt.raise();
        let waited = Lock::wait(&target, "bookend run b", &interrupt, &mut |_| {});
        assert!(matches!(waited, Err(LockError::Interrupted)));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let target = LockTarget::Store("/nowhere/at/all.db".into());
        let error = Lock::take(&target, "x").unwrap_err().to_string();
        assert!(error.starts_with("cannot lock /nowhere/at/all.db.lock: "), "{error}");
    }
}
