//! The file of a unix socket: which listener owns it, and which removes it.

use crate::{address, kernel, socket};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// How often a folder's lock is tried while another process holds it, and the pause in between: a
/// second in all. Bookend holds it for a few system calls; other programs may hold it longer.
const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The file of a socket that listens. It is removed with this, unless it is another one by then.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// Makes `socket` listen at `path`, replacing the file of a server that is gone.
    pub fn listen(socket: &OwnedFd, path: &Path, backlog: i32) -> io::Result<Self> {
        let address = address::unix(path)?;
        let path = std::path::absolute(path)?;
        // Between its bind and its listen, a socket looks like one that was left behind.
        let _alone = lock_folder(&path)?;
        match kernel::bind(socket, &address) {
            Err(Errno::ADDRINUSE) => {
                make_way(&path, &address)?;
                kernel::bind(socket, &address)
            }
            result => result,
        }
        .map_err(|error| at(&path, error))?;
        rustix::net::listen(socket, backlog)?;
        let file = fs::symlink_metadata(&path)?;
        Ok(Self { path, device: file.dev(), inode: file.ino() })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_ours = |file: &fs::Metadata| (file.dev(), file.ino()) == (self.device, self.inode);
        if fs::symlink_metadata(&self.path).is_ok_and(|file| is_ours(&file)) {
            // A folder that has become read-only keeps it; the next server to come replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn at(path: &Path, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Keeps other listeners of ours from setting up a socket in that folder meanwhile. `None` where
/// the folder cannot be opened: the bind that follows reports why.
fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) else {
        return Ok(None);
    };
    for _ in 0..LOCK_TRIES {
        match flock(folder.as_fd(), FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => thread::sleep(LOCK_PAUSE),
            // Some file systems have no locks.
            Ok(()) | Err(_) => return Ok(Some(folder)),
        }
    }
    let text = format!("{}: its folder is locked by another process", path.display());
    Err(io::Error::new(ErrorKind::ResourceBusy, text))
}

/// Removes a socket that a server has left behind. Anything else stays, and is named.
fn make_way(path: &Path, address: &SocketAddrUnix) -> io::Result<()> {
    let file = fs::symlink_metadata(path).map_err(|error| at(path, error))?;
    if !file.file_type().is_socket() {
        let text = format!(
            "{} exists and is no socket: remove it, or choose another path",
            path.display()
        );
        return Err(io::Error::new(ErrorKind::AlreadyExists, text));
    }
    let visitor = kernel::socket(AddressFamily::UNIX)?;
    match kernel::connect(&visitor, address) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(|error| at(path, error)),
        Ok(()) | Err(Errno::AGAIN) => {
            let text = format!(
                "{} is taken: {} listens there",
                path.display(),
                socket::peer_process(&visitor)
            );
            Err(io::Error::new(ErrorKind::AddrInUse, text))
        }
        Err(error) => Err(at(path, error)),
    }
}
