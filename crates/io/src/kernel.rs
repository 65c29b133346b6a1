//! The system calls of the drivers, all of them, and the seam at which a test makes one fail.
//!
//! Without the feature `faults` each is the plain call: the check before it is a constant that the
//! compiler drops.

mod epoll_wait;

use crate::clock::timespec;
#[cfg(feature = "faults")]
use crate::faults::{fail_point, fail_point_bytes};
#[cfg(feature = "uring")]
use io_uring::types::SubmitArgs;
#[cfg(feature = "uring")]
use io_uring::{Builder, EnterFlags, IoUring};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{self, EventfdFlags, PollFd, Timespec};
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::sockopt::Timeout;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType};
use rustix::time::{self, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::num::NonZeroI32;
use std::time::Duration;

/// What a driver asks of the kernel, and memory of the allocator.
#[cfg_attr(not(feature = "uring"), allow(dead_code, reason = "a ring makes three of them"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SystemCall {
    /// `socket`.
    Socket,
    /// `bind`.
    Bind,
    /// `connect`.
    Connect,
    /// `getsockopt` of a pending error.
    PendingError,
    /// Any other option of a socket.
    Option,
    /// `accept4`.
    Accept,
    /// `recv`.
    Receive,
    /// `send`.
    Send,
    /// `shutdown`.
    Shutdown,
    /// `epoll_create1`.
    EpollCreate,
    /// `epoll_ctl`, a descriptor added.
    EpollAdd,
    /// `epoll_ctl`, what a descriptor is watched for.
    EpollModify,
    /// `epoll_pwait2`, or `epoll_wait` where that is refused.
    EpollWait,
    /// `ppoll`.
    Poll,
    /// `io_uring_setup`.
    RingSetup,
    /// `io_uring_register`.
    RingRegister,
    /// `io_uring_enter`. What a ring does besides counts as the call that it stands for: accepts,
    /// reads and writes by what has become of them.
    RingEnter,
    /// `eventfd2`.
    Event,
    /// `write` to an eventfd.
    Signal,
    /// `read` from an eventfd.
    ClearSignal,
    /// `timerfd_create`.
    Timer,
    /// `timerfd_settime`.
    SetTimer,
    /// A thread of a server.
    Spawn,
    /// Memory of which a peer decides when it is wanted, or how much.
    Reserve,
}

/// Nothing fails but what really does.
#[cfg(not(feature = "faults"))]
#[inline(always)]
fn fail_point(_: SystemCall) -> Result<(), Errno> {
    Ok(())
}

/// Nothing is cut short but by the kernel.
#[cfg(not(feature = "faults"))]
#[inline(always)]
fn fail_point_bytes(_: SystemCall, bytes: usize) -> Result<usize, Errno> {
    Ok(bytes)
}

/// A stream socket that never waits: TCP, or of this machine.
pub(crate) fn socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    fail_point(SystemCall::Socket)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    net::socket_with(family, SocketType::STREAM, flags, None)
}

pub(crate) fn bind(socket: &OwnedFd, address: &impl SocketAddrArg) -> Result<(), Errno> {
    fail_point(SystemCall::Bind)?;
    net::bind(socket, address)
}

pub(crate) fn connect(socket: &OwnedFd, target: &impl SocketAddrArg) -> Result<(), Errno> {
    fail_point(SystemCall::Connect)?;
    net::connect(socket, target)
}

/// The error that is pending on a socket.
pub(crate) fn pending_error(socket: impl AsFd) -> Result<Result<(), Errno>, Errno> {
    fail_point(SystemCall::PendingError)?;
    net::sockopt::socket_error(socket)
}

/// What kind of addresses a socket has.
pub(crate) fn family(socket: &OwnedFd) -> Result<AddressFamily, Errno> {
    fail_point(SystemCall::Option)?;
    net::sockopt::socket_domain(socket)
}

/// Has a socket send at once what it is given.
pub(crate) fn send_at_once(socket: &OwnedFd) -> Result<(), Errno> {
    fail_point(SystemCall::Option)?;
    net::sockopt::set_tcp_nodelay(socket, true)
}

/// Lets several sockets of this user listen on one port.
pub(crate) fn share_port(socket: &OwnedFd) -> Result<(), Errno> {
    fail_point(SystemCall::Option)?;
    net::sockopt::set_socket_reuseport(socket, true)
}

/// Has a socket that is bound to an address and port 0 get its port when it connects: ports are
/// then unique for each pair of addresses, instead of for the source alone (ip(7), Linux 4.2).
pub(crate) fn take_port_late(socket: &OwnedFd) -> Result<(), Errno> {
    fail_point(SystemCall::Option)?;
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads the one integer that the pointer and the length describe, from a
    // value that lives until after the call; the descriptor is open as long as it is borrowed.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(errno(io::Error::last_os_error())),
    }
}

/// The process at the other end of a unix socket. `None` where there is no other end, and where it
/// is out of sight, in another container.
pub(crate) fn peer_process(socket: &OwnedFd) -> Option<NonZeroI32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of_val(&peer) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `peer`, which has that size and for which
    // every pattern of bits is a value; the descriptor is open as long as it is borrowed. Not by
    // rustix, whose process numbers are never 0: the kernel's are.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    NonZeroI32::new(peer.pid).filter(|_| result == 0)
}

/// Has a socket wait, but in one read no longer than that.
pub(crate) fn wait_in_reads(socket: &OwnedFd, longest: Duration) -> Result<(), Errno> {
    fail_point(SystemCall::Option)?;
    rustix::io::ioctl_fionbio(socket, false)?;
    net::sockopt::set_socket_timeout(socket, Timeout::Recv, Some(longest))
}

/// Has the peer see a reset when the socket is closed.
pub(crate) fn reset_on_close(socket: impl AsFd) -> Result<(), Errno> {
    fail_point(SystemCall::Option)?;
    net::sockopt::set_socket_linger(socket, Some(Duration::ZERO))
}

pub(crate) fn accept(listener: &OwnedFd) -> Result<OwnedFd, Errno> {
    fail_point(SystemCall::Accept)?;
    net::accept_with(listener, SocketFlags::CLOEXEC)
}

/// Where a connection comes from; `None` for a unix socket.
pub(crate) fn peer_address(socket: &OwnedFd) -> Option<SocketAddr> {
    let address = SocketAddr::try_from(net::getpeername(socket).ok()??).ok()?;
    // A listener of IPv6 that takes IPv4 as well sees `::ffff:192.0.2.1`.
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

#[inline]
pub(crate) fn receive(socket: &OwnedFd, into: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
    let room = fail_point_bytes(SystemCall::Receive, into.len())?;
    net::recv(socket, &mut into[..room], flags).map(|(_, count)| count)
}

/// Whether bytes of the peer wait to be read.
pub(crate) fn has_unread_bytes(socket: &OwnedFd) -> bool {
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    matches!(receive(socket, &mut [0], flags), Ok(1..))
}

/// Writes once, without waiting and without a signal where the peer is gone.
#[inline]
pub(crate) fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    let length = fail_point_bytes(SystemCall::Send, bytes.len())?;
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    net::send(socket, &bytes[..length], flags)
}

/// Writes once what a close follows: the kernel waits for that, so that both go out together.
#[inline]
pub(crate) fn send_before_close(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    let length = fail_point_bytes(SystemCall::Send, bytes.len())?;
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT | SendFlags::MORE;
    net::send(socket, &bytes[..length], flags)
}

/// Closes the sending side.
pub(crate) fn shut_down(socket: &OwnedFd) -> Result<(), Errno> {
    fail_point(SystemCall::Shutdown)?;
    net::shutdown(socket, Shutdown::Write)
}

pub(crate) fn epoll_create() -> Result<OwnedFd, Errno> {
    fail_point(SystemCall::EpollCreate)?;
    epoll::create(CreateFlags::CLOEXEC)
}

pub(crate) fn epoll_add(
    poll: &OwnedFd,
    source: impl AsFd,
    key: u64,
    interest: EventFlags,
) -> Result<(), Errno> {
    fail_point(SystemCall::EpollAdd)?;
    epoll::add(poll, source, EventData::new_u64(key), interest)
}

pub(crate) fn epoll_modify(
    poll: &OwnedFd,
    source: impl AsFd,
    key: u64,
    interest: EventFlags,
) -> Result<(), Errno> {
    fail_point(SystemCall::EpollModify)?;
    epoll::modify(poll, source, EventData::new_u64(key), interest)
}

/// Waits until something has happened, the time is up, or a signal came. Returns how many
/// events there are.
#[inline]
pub(crate) fn epoll_wait(
    poll: &OwnedFd,
    events: &mut Vec<Event>,
    timeout: Option<&Timespec>,
) -> Result<usize, Errno> {
    events.clear();
    fail_point(SystemCall::EpollWait)?;
    epoll_wait::wait(poll, events, timeout)
}

#[inline]
pub(crate) fn poll(polled: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> Result<usize, Errno> {
    fail_point(SystemCall::Poll)?;
    event::poll(polled, timeout)
}

pub(crate) fn event() -> Result<OwnedFd, Errno> {
    fail_point(SystemCall::Event)?;
    event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
}

pub(crate) fn signal(event: &OwnedFd) -> Result<(), Errno> {
    fail_point(SystemCall::Signal)?;
    rustix::io::write(event, &1_u64.to_ne_bytes()).map(drop)
}

/// A timer of the clock that [`crate::clock_ns`] reads, which is not set.
pub(crate) fn timer() -> Result<OwnedFd, Errno> {
    fail_point(SystemCall::Timer)?;
    time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)
}

/// Has a timer ring once, at that time of the clock, or at once where that has passed.
pub(crate) fn set_timer(timer: &OwnedFd, at_ns: u64) -> Result<(), Errno> {
    fail_point(SystemCall::SetTimer)?;
    // Zero would switch it off.
    let once = Itimerspec { it_interval: timespec(0), it_value: timespec(at_ns.max(1)) };
    time::timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once).map(drop)
}

pub(crate) fn clear_signal(event: &OwnedFd) -> Result<(), Errno> {
    fail_point(SystemCall::ClearSignal)?;
    rustix::io::read(event, &mut [MaybeUninit::<u8>::uninit(); 8][..]).map(drop)
}

/// A ring that takes no submissions before it is enabled.
#[cfg(feature = "uring")]
pub(crate) fn ring_setup(builder: &Builder, entries: u32) -> Result<IoUring, Errno> {
    fail_point(SystemCall::RingSetup)?;
    builder.build(entries).map_err(errno)
}

/// Registers what `register` does.
#[cfg(feature = "uring")]
pub(crate) fn ring_register(register: impl FnOnce() -> io::Result<()>) -> Result<(), Errno> {
    fail_point(SystemCall::RingRegister)?;
    register().map_err(errno)
}

/// Hands over what has been put into the queue, does what has come up, and waits for one answer:
/// not at all, for `timeout_ns` nanoseconds, or for ever.
#[cfg(feature = "uring")]
#[inline]
pub(crate) fn ring_enter(ring: &mut IoUring, timeout_ns: Option<u64>) -> Result<(), Errno> {
    fail_point(SystemCall::RingEnter)?;
    ring_enter_at_the_end(ring, timeout_ns)
}

/// The same when a ring is taken apart: that must not fail, so no test may make it fail.
#[cfg(feature = "uring")]
#[inline]
pub(crate) fn ring_enter_at_the_end(
    ring: &mut IoUring,
    timeout_ns: Option<u64>,
) -> Result<(), Errno> {
    let submissions = ring.submission().len() as u32;
    let submitter = ring.submitter();
    let entered = match timeout_ns {
        None => submitter.submit_and_wait(1),
        Some(0) => {
            // The crate's own call leaves undone what comes up while it submits.
            let flags = EnterFlags::GETEVENTS.bits();
            // SAFETY: no argument is passed for the kernel to read. Entries in the queue were
            // pushed under the promise that `push` demands.
            unsafe { submitter.enter::<libc::sigset_t>(submissions, 0, flags, None) }
        }
        Some(timeout_ns) => {
            let timeout = Duration::from_nanos(timeout_ns).into();
            submitter.submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
        }
    };
    entered.map(drop).map_err(errno)
}

/// How an accept or a read ended that a ring has made.
#[cfg(all(feature = "faults", feature = "uring"))]
pub(crate) fn complete(call: SystemCall) -> Result<(), Errno> {
    fail_point(call)
}

/// With how many bytes a ring is to send.
#[cfg(feature = "uring")]
#[inline]
pub(crate) fn send_length(bytes: usize) -> Result<usize, Errno> {
    fail_point_bytes(SystemCall::Send, bytes)
}

/// An error of the kernel's is a number.
fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::INVAL)
}

/// Asked before a thread is started.
pub(crate) fn may_spawn() -> Result<(), Errno> {
    fail_point(SystemCall::Spawn)
}

/// Something that grows by peers' doing.
pub(crate) trait TryGrow {
    /// Makes room, or fails where there is no memory.
    fn try_grow(&mut self, additional: usize) -> Result<(), Errno>;
}

impl<T> TryGrow for Vec<T> {
    fn try_grow(&mut self, additional: usize) -> Result<(), Errno> {
        fail_point(SystemCall::Reserve)?;
        self.try_reserve(additional).map_err(|_| Errno::NOMEM)
    }
}

impl<T> TryGrow for VecDeque<T> {
    fn try_grow(&mut self, additional: usize) -> Result<(), Errno> {
        fail_point(SystemCall::Reserve)?;
        self.try_reserve(additional).map_err(|_| Errno::NOMEM)
    }
}
