//! Which calls are made to fail, in which ways, and what each may cost.

use crate::judge::Loss;
use bookend_io::faults::{InjectedFault, SystemCall};
use rustix::io::Errno;

/// One way in which the calls of a kind fail.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub call: SystemCall,
    pub fault: InjectedFault,
    pub loss: Loss,
}

/// Every way in which calls of that kind are known to fail (by their manual pages, of those that a
/// driver cannot cause by a mistake of its own).
pub fn failures(call: SystemCall) -> Vec<Failure> {
    let (harmless, costly): (&[Errno], &[Errno]) = match call {
        SystemCall::Receive | SystemCall::Send => {
            (&[Errno::INTR, Errno::AGAIN], &[Errno::CONNRESET, Errno::TIMEDOUT, Errno::NOBUFS])
        }
        SystemCall::Accept => (
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
        SystemCall::Socket => (&[], &[Errno::MFILE, Errno::NOMEM]),
        SystemCall::Bind => (&[], &[Errno::ADDRNOTAVAIL, Errno::ADDRINUSE]),
        SystemCall::Connect => (&[], &[Errno::ADDRNOTAVAIL, Errno::TIMEDOUT]),
        SystemCall::Option => (&[], &[Errno::INVAL]),
        SystemCall::PendingError => (&[], &[Errno::NOBUFS]),
        SystemCall::Shutdown => (&[Errno::NOTCONN], &[]),
        SystemCall::EpollCreate | SystemCall::Event => (&[], &[Errno::MFILE]),
        SystemCall::EpollAdd => (&[], &[Errno::NOMEM, Errno::NOSPC]),
        SystemCall::EpollModify => (&[], &[Errno::NOMEM]),
        SystemCall::EpollWait => (&[Errno::INTR], &[]),
        SystemCall::Poll => (&[Errno::INTR, Errno::AGAIN, Errno::NOMEM], &[]),
        SystemCall::RingSetup => (&[], &[Errno::MFILE, Errno::NOMEM]),
        SystemCall::RingRegister => (&[], &[Errno::NOMEM]),
        SystemCall::RingEnter => {
            (&[Errno::INTR, Errno::TIME, Errno::BUSY, Errno::AGAIN, Errno::NOMEM], &[])
        }
        SystemCall::Timer => (&[Errno::MFILE, Errno::NOMEM], &[]),
        SystemCall::SetTimer => (&[Errno::CANCELED], &[]),
        SystemCall::Signal | SystemCall::ClearSignal => (&[Errno::INTR], &[]),
        SystemCall::Spawn => (&[], &[Errno::AGAIN]),
        SystemCall::Reserve => (&[], &[Errno::NOMEM]),
    };
    let of = |fault, loss| Failure { call, fault, loss };
    let harmless = harmless.iter().map(|&errno| of(InjectedFault::Error(errno), Loss::Nothing));
    let costly = costly.iter().map(|&errno| of(InjectedFault::Error(errno), Loss::Connection));
    let has_length = matches!(call, SystemCall::Receive | SystemCall::Send);
    let short = has_length.then(|| of(InjectedFault::Short, Loss::Nothing));
    harmless.chain(costly).chain(short).collect()
}
