//! What a process may use of its machine: processors, descriptors, precise timers.

use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use std::io;
use std::num::NonZeroU64;

/// The processors that the calling thread may run on, ascending.
///
/// # Errors
/// The machine's, where it has more processors than can be asked about.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Lets the calling thread run on these processors only.
///
/// # Errors
/// `InvalidInput` where none of them exists or is allowed here.
pub fn pin_current_thread(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Raises the number of descriptors that the process may have to what it may raise it to, and says
/// how many that is. A connection is one descriptor; the customary limit is 1024.
///
/// # Errors
/// The machine's; the old limit then stands.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    Ok(limit.current.unwrap_or(u64::MAX))
}

/// Whether an error means that the process, or the machine, has no descriptor left.
pub fn is_out_of_descriptors(error: &io::Error) -> bool {
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    is(Errno::MFILE) || is(Errno::NFILE)
}

/// What an error says, without the number that the standard library adds to the system's words.
pub fn reason(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(number) = error.raw_os_error()
        && let Some(words) = text.strip_suffix(&format!(" (os error {number})"))
    {
        text.truncate(words.len());
    }
    text
}

/// Has timers fire when they are due: the kernel otherwise delays those of an ordinary thread by up
/// to 50 microseconds to save wake-ups.
pub(crate) fn sharpen_timers() {
    // Where it is refused, timers are late and everything else still works.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_the_words_of_the_system_and_no_number() {
        let refused = io::Error::from(Errno::CONNREFUSED);
        assert_eq!(reason(&refused), "Connection refused");
        let own = io::Error::other("a line of our own (os error 7)");
        assert_eq!(reason(&own), "a line of our own (os error 7)");
    }

    #[test]
    fn a_thread_runs_where_it_was_pinned() {
        let first = allowed_cpus().unwrap()[0];
        let seen = std::thread::spawn(move || {
            pin_current_thread(&[first]).unwrap();
            allowed_cpus().unwrap()
        });
        assert_eq!(seen.join().unwrap(), [first]);
    }

    #[test]
    fn no_processor_at_all_is_refused() {
        assert!(pin_current_thread(&[]).is_err());
        assert!(pin_current_thread(&[usize::MAX]).is_err());
    }

    #[test]
    fn the_descriptor_limit_becomes_the_hard_limit() {
        let limit = raise_descriptor_limit().unwrap();
        let now = getrlimit(Resource::Nofile);
        assert_eq!((now.current, limit), (now.maximum, now.maximum.unwrap_or(u64::MAX)));
    }
}
