//! Where `epoll_pwait2` is refused, by a kernel before Linux 5.11 or by a container's seccomp
//! filter, epoll serves and measures all the same: only its timers count milliseconds.

#[path = "../../load/tests/support/plans.rs"]
mod plans;

use bookend_io::faults::{
    Armed, FailPoint, InjectedFault, SystemCall, ask_epoll_pwait2, refuse_epoll_pwait2,
};
use bookend_io::{
    Address, AfterRead, Closed, ConnectionId, Driver, Epoll, Io, IoContext, IoOptions, Opened,
    Received, Shard, Waker, clock_ns,
};
use bookend_load::plan::LoadPlan;
use bookend_server::{Context, HandlerKind, MethodDescriptor, Reply, Server, Service};
use rustix::io::Errno;
use std::net::SocketAddr;
use std::thread;

const REFUSALS: [Errno; 2] = [Errno::NOSYS, Errno::PERM];

const THREAD: &str = "without epoll_pwait2";

/// Runs a story where `epoll_pwait2` ends with that error: a filter belongs to a thread and to
/// those that it starts.
fn without_epoll_pwait2(error: Errno, story: fn()) {
    let thread = thread::Builder::new().name(THREAD.to_owned());
    let refused = thread.spawn(move || {
        refuse_epoll_pwait2(error).unwrap();
        let answer = ask_epoll_pwait2().raw_os_error();
        assert_eq!(answer, Some(error.raw_os_error()), "the filter refuses");
        story();
    });
    refused.unwrap().join().expect("the story ends well");
}

struct Echo;

impl Service for Echo {
    fn name(&self) -> &'static str {
        "test.Echo"
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        const METHODS: &[MethodDescriptor] =
            &[MethodDescriptor { name: "Say", kind: HandlerKind::Inline }];
        METHODS
    }

    fn call(&self, _: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        reply.message(|output| output.extend_from_slice(request));
    }
}

/// Every call of a generator on epoll is answered by a server on epoll.
fn serve_and_measure(threads: usize) {
    const CALLS: u64 = 500;
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::builder().add_service(Echo).bind(address).unwrap();
    let handle = server.io(Io::Epoll).threads(threads).spawn().unwrap();
    let Address::Tcp(target) = handle.local_address().clone() else {
        unreachable!("it was bound to TCP");
    };
    let outcome = plans::measure(LoadPlan {
        connections: 4,
        threads: 2,
        driver: Driver::Epoll,
        ..plans::plan("/test.Echo/Say", target, CALLS)
    });
    assert_eq!(outcome.ok, CALLS);
    handle.stop();
    assert_eq!(handle.join().unwrap().calls.answered_ok, CALLS);
}

#[test]
fn a_server_and_a_generator_on_epoll_do_without_it() {
    for error in REFUSALS {
        without_epoll_pwait2(error, || serve_and_measure(1));
        without_epoll_pwait2(error, || serve_and_measure(2));
    }
}

/// Stops the driver when its deadline has come.
struct Alarm {
    at_ns: u64,
}

impl Shard for Alarm {
    fn opened(&mut self, _: ConnectionId, _: Opened, _: &mut IoContext) {}
    fn received(&mut self, _: ConnectionId, _: &[u8], _: &mut IoContext) -> Received {
        Received { consumed: 0, after: AfterRead::Close }
    }
    fn writable(&mut self, _: ConnectionId, _: &mut IoContext) {}
    fn closed(&mut self, _: ConnectionId, _: Closed, _: &mut IoContext) {}
    fn woken(&mut self, io: &mut IoContext) {
        if io.now_ns() >= self.at_ns {
            io.stop();
        }
    }
    fn next_deadline(&self) -> Option<u64> {
        Some(self.at_ns)
    }
}

#[test]
fn a_deadline_is_met_late_rather_than_by_asking_again_and_again() {
    for error in REFUSALS {
        without_epoll_pwait2(error, || {
            let waits = Armed::new(&[FailPoint {
                threads: &[THREAD],
                call: SystemCall::EpollWait,
                first: 0,
                times: 0,
                fault: InjectedFault::Short,
            }]);
            let at_ns = clock_ns() + 5_300_000;
            let driver = Epoll::new(Waker::new().unwrap(), IoOptions::default()).unwrap();
            driver.run(Alarm { at_ns }).unwrap();
            assert!(clock_ns() >= at_ns);
            let waits = waits.calls(SystemCall::EpollWait);
            assert!(waits <= 2, "{waits} waits for one deadline");
        });
    }
}
