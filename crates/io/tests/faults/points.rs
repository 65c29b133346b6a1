//! Which calls are made to fail, in which ways, and what each may cost.

use crate::judge::Loss;
use bookend_io::faults::{Call, InjectedFault};
use rustix::io::Errno;

/// One way in which the calls of a kind fail.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub call: Call,
    pub fault: InjectedFault,
    pub loss: Loss,
}

/// Every way in which calls of that kind are known to fail (by their manual pages, of those that a
/// driver cannot cause by a mistake of its own).
pub fn failures(call: Call) -> Vec<Failure> {
    let (harmless, costly): (&[Errno], &[Errno]) = match call {
        Call::Receive | Call::Send => (
            &[Errno::INTR, Errno::AGAIN],
            &[Errno::CONNRESET, Errno::TIMEDOUT, Errno::NOBUFS],
        ),
        Call::Accept => (
            &[
                Errno::AGAIN,
                Errno::INTR,
                Errno::CONNABORTED,
                Errno::MFILE,
                Errno::NOMEM,
                Errno::PERM,
            ],
            &[],
        ),
        Call::Socket => (&[], &[Errno::MFILE, Errno::NOMEM]),
        Call::Bind => (&[], &[Errno::ADDRNOTAVAIL, Errno::ADDRINUSE]),
        Call::Connect => (&[], &[Errno::ADDRNOTAVAIL, Errno::TIMEDOUT]),
        Call::Option => (&[], &[Errno::INVAL]),
        Call::PendingError => (&[], &[Errno::NOBUFS]),
        Call::Shutdown => (&[Errno::NOTCONN], &[]),
        Call::EpollCreate | Call::Event => (&[], &[Errno::MFILE]),
        Call::EpollAdd => (&[], &[Errno::NOMEM, Errno::NOSPC]),
        Call::EpollModify => (&[], &[Errno::NOMEM]),
        Call::EpollWait => (&[Errno::INTR], &[]),
        Call::Poll => (&[Errno::INTR, Errno::AGAIN, Errno::NOMEM], &[]),
        Call::RingSetup => (&[], &[Errno::MFILE, Errno::NOMEM]),
        Call::RingRegister => (&[], &[Errno::NOMEM]),
        Call::RingEnter => (
            &[
                Errno::INTR,
                Errno::TIME,
                Errno::BUSY,
                Errno::AGAIN,
                Errno::NOMEM,
            ],
            &[],
        ),
        Call::Signal | Call::ClearSignal => (&[Errno::INTR], &[]),
        Call::Spawn => (&[], &[Errno::AGAIN]),
        Call::Reserve => (&[], &[Errno::NOMEM]),
    };
    let of = |fault, loss| Failure { call, fault, loss };
    let harmless = harmless
        .iter()
        .map(|&errno| of(InjectedFault::Error(errno), Loss::Nothing));
    let costly = costly
        .iter()
        .map(|&errno| of(InjectedFault::Error(errno), Loss::Connection));
    let has_length = matches!(call, Call::Receive | Call::Send);
    let short = has_length.then(|| of(InjectedFault::Short, Loss::Nothing));
    harmless.chain(costly).chain(short).collect()
}
