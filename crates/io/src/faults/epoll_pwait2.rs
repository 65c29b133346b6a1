//! A kernel that has no `epoll_pwait2`, or a container that does not permit it.

use rustix::io::Errno;
use std::ffi::{c_int, c_long};
use std::io;
use std::ptr;

/// Has the kernel answer every `epoll_pwait2` of this thread, and of all threads and processes that
/// it starts from now on, with `error`. By a seccomp filter, which nothing takes away again.
///
/// # Errors
/// The machine's, where it has no seccomp filters or does not permit them.
pub fn refuse_epoll_pwait2(error: Errno) -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    let load_number = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let jump_if_equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let answer = (libc::BPF_RET | libc::BPF_K) as u16;
    let instruction = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // The number of the call is the first field of `seccomp_data`. No process here makes calls of
    // another architecture, whose numbers would be others.
    let mut program = [
        instruction(load_number, 0, 0, 0),
        instruction(jump_if_equal, 0, 1, libc::SYS_epoll_pwait2 as u32),
        instruction(answer, 0, 0, libc::SECCOMP_RET_ERRNO | error.raw_os_error() as u32),
        instruction(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies as many instructions as `filter` names, from an array that lives
    // until after the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            c_long::from(libc::SECCOMP_SET_MODE_FILTER),
            0 as c_long,
            &raw const filter,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What the kernel says to an `epoll_pwait2` of no descriptor: `EBADF` if it is not refused.
pub fn ask_epoll_pwait2() -> io::Error {
    const NO_DESCRIPTOR: c_int = -1;
    // SAFETY: no descriptor has that number, so the kernel writes nothing; the other pointers are
    // null.
    let result = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            NO_DESCRIPTOR,
            ptr::null_mut::<libc::epoll_event>(),
            1 as c_int,
            ptr::null::<libc::timespec>(),
            ptr::null::<libc::sigset_t>(),
            0_usize,
        )
    };
    debug_assert_eq!(result, -1);
    io::Error::last_os_error()
}
