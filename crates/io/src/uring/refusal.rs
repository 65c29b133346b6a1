//! Machines on which io_uring cannot be used.

use crate::ring::Ring;
use rustix::io::Errno;
use std::io;

/// Why io_uring cannot be used on this machine, while epoll can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UringRefusal {
    /// It is not allowed: a seccomp filter (that of container runtimes, for example) or the sysctl
    /// `kernel.io_uring_disabled` is in the way.
    #[error(
        "io_uring cannot be used here: it is not permitted (a seccomp filter, or the sysctl \
         kernel.io_uring_disabled)"
    )]
    Forbidden,
    /// The kernel was built without it.
    #[error("io_uring cannot be used here: this kernel has none")]
    Missing,
    /// The kernel is older than Linux 6.1, whose io_uring was the first to run its work only when
    /// the thread asks for it (`IORING_SETUP_DEFER_TASKRUN`).
    #[error("io_uring cannot be used here: this kernel's is older than Linux 6.1")]
    TooOld,
}

impl UringRefusal {
    /// Asks the machine, by making a ring and dropping it. `None`: it can be used, or what is in
    /// the way (no descriptors, no memory) would be in anybody's.
    pub fn ask() -> Option<Self> {
        Self::of(&Ring::new().err()?.into())
    }

    /// What the error of [`crate::Uring::new`] says; `None`: it is not about io_uring.
    pub fn of(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            Errno::PERM | Errno::ACCESS => Some(Self::Forbidden),
            Errno::NOSYS => Some(Self::Missing),
            Errno::INVAL => Some(Self::TooOld),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_that_is_anybodys_is_no_refusal() {
        let refusal = |error: Errno| UringRefusal::of(&error.into());
        assert_eq!(refusal(Errno::MFILE), None);
        assert_eq!(refusal(Errno::NOMEM), None);
        let forbidden = refusal(Errno::PERM).unwrap();
        assert!(forbidden.to_string().contains("seccomp"));
        let too_old = refusal(Errno::INVAL).unwrap();
        assert!(too_old.to_string().contains("6.1"));
    }
}
