//! The folder of a run, removed after it: the request in the forms that instruments take, sockets,
//! and where a case is over TLS, certificates.

use crate::certificates::{CertificateError, Certificates};
use crate::held_folder::{HeldFolder, PREFIX};
use crate::invocation::RequestFiles;
use crate::transport_files::TransportFiles;
use bookend_contract::input;
use bookend_contract::transport::Transport;
use bookend_results::suite::{Plan, Request, RequestMessage, Suite};
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder of sockets within. A server of ours locks the folder of its socket to replace one
/// that was left behind, and the lab holds the lock of the folder above.
const SOCKETS: &str = "s";

/// The files of one run.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: HeldFolder,
    /// Where the request is.
    pub request: RequestFiles,
}

impl TemporaryFolder {
    /// Writes what can be written. `encoded` is the message's bytes where the suite gives only
    /// JSON and the caller could encode it.
    ///
    /// # Errors
    /// A file of the suite cannot be read, or the temporary folder not be written.
    pub fn write(suite: &Suite, request: &Request, encoded: Option<&[u8]>) -> Result<Self> {
        let folder = new_folder()?;
        let mut written = TemporaryFolder { folder, request: RequestFiles::default() };
        written.fill(suite, request, encoded)?;
        Ok(written)
    }

    /// What the transports of `plan` need, made now. A run has it once.
    ///
    /// # Errors
    /// The certificates cannot be made.
    pub fn transports(&self, plan: &Plan) -> std::result::Result<TransportFiles, CertificateError> {
        let is_secured = plan.cases.iter().any(|case| case.transport == Transport::Tls);
        let certificates = is_secured.then(|| Certificates::issue(self.folder.path()));
        Ok(TransportFiles {
            folder: self.folder.path().join(SOCKETS),
            certificates: certificates.transpose()?,
        })
    }

    fn fill(&mut self, suite: &Suite, request: &Request, encoded: Option<&[u8]>) -> Result<()> {
        self.request.proto = Some(suite.path(&request.proto).canonicalize()?);
        let bytes = match &request.message {
            RequestMessage::Json(file) => {
                self.request.json = Some(suite.path(file).canonicalize()?);
                encoded.map(<[u8]>::to_vec)
            }
            RequestMessage::Bytes(file) => {
                Some(input::bytes(fs::File::open(suite.path(file))?, input::MAX_BYTES)?)
            }
        };
        if let Some(bytes) = bytes {
            self.request.bytes = Some(put(self.folder.path(), "request.bin", &bytes)?);
            self.request.framed =
                Some(put(self.folder.path(), "request.framed", &framed(&bytes)?)?);
        }
        Ok(())
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.folder.path());
    }
}

/// Not compressed, then the length in four bytes, as gRPC frames every message.
fn framed(message: &[u8]) -> Result<Vec<u8>> {
    let length = u32::try_from(message.len()).map_err(std::io::Error::other)?;
    let mut framed = vec![0];
    framed.extend(length.to_be_bytes());
    framed.extend(message);
    Ok(framed)
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let file = folder.join(name);
    fs::write(&file, bytes)?;
    Ok(file)
}

/// A folder that was not there before, so that no other user has put anything into it, and that no
/// other user can read.
fn new_folder() -> Result<HeldFolder> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PREFIX}{}.{number}", std::process::id());
        match HeldFolder::create(&std::env::temp_dir().join(name)) {
            Ok(folder) => {
                fs::create_dir(folder.path().join(SOCKETS))?;
                return Ok(folder);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held_folder::remove_abandoned;

    #[test]
    fn a_framed_message_has_its_length_before_it() {
        assert_eq!(framed(b"abc").unwrap(), b"\0\0\0\0\x03abc");
        assert_eq!(framed(b"").unwrap(), b"\0\0\0\0\0");
    }

    #[test]
    fn only_folders_of_labs_that_have_ended_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = |name: &str| home.path().join(name);
        let living = HeldFolder::create(&folder("bookend-run.1.0")).unwrap();
        drop(HeldFolder::create(&folder("bookend-run.2.0")).unwrap());
        put(&folder("bookend-run.2.0"), "server.key", b"secret").unwrap();
        fs::create_dir(folder("bookend-runner")).unwrap();
        assert_eq!(remove_abandoned(home.path()), 1);
        let left = fs::read_dir(home.path()).unwrap().count();
        assert!(left == 2 && living.path().is_dir() && folder("bookend-runner").is_dir());
        drop(living);
        assert_eq!(remove_abandoned(home.path()), 1);
    }

    #[test]
    fn a_server_may_lock_the_folder_of_its_socket() {
        let folder = new_folder().unwrap();
        assert!(HeldFolder::claim(folder.path()).is_none());
        assert!(HeldFolder::claim(&folder.path().join(SOCKETS)).is_some());
        fs::remove_dir_all(folder.path()).unwrap();
    }

    #[test]
    fn two_folders_are_never_the_same() {
        let (first, second) = (new_folder().unwrap(), new_folder().unwrap());
        assert_ne!(first.path(), second.path());
        fs::remove_dir_all(first.path()).unwrap();
        fs::remove_dir_all(second.path()).unwrap();
    }
}
