//! A folder that the kernel locks for the lab that made it (`flock`): whoever finds it later knows
//! whether that lab still lives, from whatever namespace it looks.

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The beginning of the names of all temporary folders of labs.
pub const PREFIX: &str = "bookend-run.";

const LOCK: FlockOperation = FlockOperation::NonBlockingLockExclusive;

/// A folder that is locked until this is dropped. It is not removed by that.
#[derive(Debug)]
pub struct HeldFolder {
    path: PathBuf,
    _lock: File,
}

impl HeldFolder {
    /// Makes a folder that was not there, for this user alone, and locks it.
    ///
    /// # Errors
    /// It cannot be made. `AlreadyExists`: try another name.
    pub fn create(path: &Path) -> std::io::Result<HeldFolder> {
        DirBuilder::new().mode(0o700).create(path)?;
        let folder = open_folder(path)?;
        // Some file systems have no locks.
        let is_free = flock(&folder, LOCK) != Err(Errno::WOULDBLOCK);
        // Before it was locked, somebody who clears away may have taken it for one left behind.
        let held = HeldFolder { path: path.to_owned(), _lock: folder };
        (is_free && path.is_dir()).then_some(held).ok_or(Error::from(ErrorKind::AlreadyExists))
    }

    /// Locks a folder whose lab has ended. `None`: its lab lives, or there is no such folder.
    pub fn claim(path: &Path) -> Option<HeldFolder> {
        let folder = open_folder(path).ok()?;
        flock(&folder, LOCK).ok()?;
        Some(HeldFolder { path: path.to_owned(), _lock: folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the folders of this user's labs that were killed, keys among their files, and returns
/// how many there were. Those of labs that live are locked.
pub fn remove_abandoned(below: &Path) -> usize {
    let user = rustix::process::geteuid().as_raw();
    std::fs::read_dir(below)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()))
        .filter(|entry| entry.metadata().is_ok_and(|folder| folder.uid() == user))
        .filter_map(|entry| HeldFolder::claim(&entry.path()))
        .filter(|abandoned| std::fs::remove_dir_all(abandoned.path()).is_ok())
        .count()
}

fn open_folder(path: &Path) -> std::io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_can_be_claimed_only_when_nobody_holds_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        let held = HeldFolder::create(&path).unwrap();
        assert!(HeldFolder::claim(&path).is_none());
        drop(held);
        assert_eq!(HeldFolder::claim(&path).unwrap().path(), path);
        let again = HeldFolder::create(&path).unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        assert!(HeldFolder::claim(&home.path().join("b")).is_none());
    }
}
