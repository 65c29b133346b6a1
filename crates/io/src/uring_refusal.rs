//! Machines and builds in which io_uring cannot be used.

use crate::uring::Uring;
use rustix::io::Errno;
use std::io;

/// Why io_uring cannot be used, while epoll can.
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
    /// The feature `uring` of this library is off.
    #[error("io_uring cannot be used here: this program was built without it")]
    LeftOut,
}

impl UringRefusal {
    /// Asks the machine, by making a ring and dropping it. `None`: it can be used, or what is in
    /// the way (no descriptors, no memory) would be in anybody's.
    pub fn ask() -> Option<Self> {
        Self::of(&Uring::ask().err()?)
    }

    /// What the error of [`crate::Uring::new`] says; `None`: it is not about io_uring.
    pub fn of(error: &io::Error) -> Option<Self> {
        match Errno::from_io_error(error)? {
            Errno::PERM | Errno::ACCESS => Some(Self::Forbidden),
            Errno::NOSYS => Some(Self::Missing),
            Errno::INVAL => Some(Self::TooOld),
            // The answer of a build without the driver. The kernel has no such answer.
            Errno::OPNOTSUPP => Some(Self::LeftOut),
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
        assert_eq!(refusal(Errno::OPNOTSUPP), Some(UringRefusal::LeftOut));
        let too_old = refusal(Errno::INVAL).unwrap();
        assert!(too_old.to_string().contains("6.1"));
    }
}
