//! Waiting for an epoll: by the nanosecond where the kernel can do that, else by the millisecond.
//!
//! Not by rustix: with its feature `linux_5_11` it knows the first of the two calls alone, without
//! it the second alone, and any crate of a program can turn that feature on.

use rustix::event::Timespec;
use rustix::event::epoll::Event;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::cell::Cell;
use std::ffi::{c_int, c_long};
use std::io;
use std::ptr;

thread_local! {
    /// Whether `epoll_pwait2` was refused on this thread: by a kernel before Linux 5.11 (`ENOSYS`),
    /// by valgrind, or by the seccomp filter of a container (`EPERM` or `ENOSYS`). A filter belongs
    /// to a thread, so what it said is remembered by thread.
    static IS_REFUSED: Cell<bool> = const { Cell::new(false) };
}

const _: () = assert!(size_of::<Event>() == size_of::<libc::epoll_event>());

/// The kernel's `struct __kernel_timespec`, which is the same on every architecture.
#[repr(C)]
struct KernelTimespec {
    seconds: i64,
    nanoseconds: i64,
}

/// Waits until something has happened, the time is up, or a signal came. Returns how many
/// events there are.
#[inline(always)]
pub(super) fn wait(
    poll: &OwnedFd,
    events: &mut Vec<Event>,
    timeout: Option<&Timespec>,
) -> Result<usize, Errno> {
    if IS_REFUSED.get() {
        return wait_milliseconds(poll, events, timeout);
    }
    match wait_nanoseconds(poll, events, timeout) {
        Err(Errno::NOSYS | Errno::PERM) => {
            IS_REFUSED.set(true);
            wait_milliseconds(poll, events, timeout)
        }
        result => result,
    }
}

#[inline]
fn wait_nanoseconds(
    poll: &OwnedFd,
    events: &mut Vec<Event>,
    timeout: Option<&Timespec>,
) -> Result<usize, Errno> {
    let timeout =
        timeout.map(|time| KernelTimespec { seconds: time.tv_sec, nanoseconds: time.tv_nsec });
    events.clear();
    // SAFETY: the kernel writes no more events than the vector has room for, each of the size of an
    // `Event`. The time is null or lives until after the call, the signal mask is null, and the
    // descriptor is open as long as it is borrowed.
    let count = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            poll.as_raw_fd(),
            events.as_mut_ptr(),
            events.capacity() as c_int,
            timeout.as_ref().map_or(ptr::null(), ptr::from_ref),
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
    // SAFETY: that many events were written by the call just made.
    unsafe { take_written(events, count) }
}

#[cold]
fn wait_milliseconds(
    poll: &OwnedFd,
    events: &mut Vec<Event>,
    timeout: Option<&Timespec>,
) -> Result<usize, Errno> {
    events.clear();
    // SAFETY: the kernel writes no more events than the vector has room for, and `epoll_event` is
    // laid out as `Event` is; the descriptor is open as long as it is borrowed.
    let count = unsafe {
        libc::epoll_wait(
            poll.as_raw_fd(),
            events.as_mut_ptr().cast::<libc::epoll_event>(),
            events.capacity() as c_int,
            timeout.map_or(-1, whole_milliseconds),
        )
    };
    // SAFETY: that many events were written by the call just made.
    unsafe { take_written(events, c_long::from(count)) }
}

/// What a call has returned, which ended just now.
///
/// # Safety
/// Where `count` is not negative, as many events stand at the front of the vector's memory.
#[inline]
unsafe fn take_written(events: &mut Vec<Event>, count: c_long) -> Result<usize, Errno> {
    let Ok(count) = usize::try_from(count) else {
        let error = io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL));
    };
    // SAFETY: the caller's promise.
    unsafe { events.set_len(count) };
    Ok(count)
}

/// Rounded up, so that a timer is late rather than early. A wait longer than the kernel can express
/// (24 days) is woken too early, and is continued.
fn whole_milliseconds(time: &Timespec) -> c_int {
    const NS_PER_MS: i64 = 1_000_000;
    let rounded_up_ms = (time.tv_nsec + NS_PER_MS - 1) / NS_PER_MS;
    let ms = time.tv_sec.saturating_mul(1_000).saturating_add(rounded_up_ms);
    c_int::try_from(ms).unwrap_or(c_int::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{epoll_add, epoll_create, event, signal};
    use rustix::event::epoll::EventFlags;

    #[test]
    fn a_coarse_wait_is_rounded_up_and_never_too_long_for_the_kernel() {
        let coarse = |tv_sec, tv_nsec| whole_milliseconds(&Timespec { tv_sec, tv_nsec });
        assert_eq!(coarse(0, 0), 0);
        assert_eq!(coarse(0, 1), 1);
        assert_eq!(coarse(3, 5_000_000), 3_005);
        assert_eq!(coarse(3, 999_000_001), 4_000);
        assert_eq!(coarse(i64::MAX / 2, 7), i32::MAX);
    }

    #[test]
    fn a_coarse_wait_hears_what_a_fine_one_hears() {
        let poll = epoll_create().unwrap();
        let waker = event().unwrap();
        epoll_add(&poll, &waker, 7, EventFlags::IN).unwrap();
        let no_time = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut events = Vec::with_capacity(4);
        assert_eq!(wait_milliseconds(&poll, &mut events, Some(&no_time)), Ok(0));
        signal(&waker).unwrap();
        for wait in [wait_milliseconds, wait_nanoseconds] {
            assert_eq!(wait(&poll, &mut events, Some(&no_time)), Ok(1));
            assert_eq!((events.len(), events[0].data.u64()), (1, 7));
            events.clear();
        }
    }
}
